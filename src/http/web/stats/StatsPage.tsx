import * as Links from "../api/Links.ts"
import { lastList, statsKeyOf } from "../app/Paths.ts"
import { here } from "../app/Router.ts"
import { shownExtras } from "../extras/extras.ts"
import { fill } from "../language/fill.tsx"
import { RoutingSummary } from "../rules/RoutingSummary.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/useLoaded.ts"
import { words as common } from "../ui/words.ts"
import { StatsOf } from "./StatsOf.tsx"
import { words } from "./words.ts"

/** Of one link, or of all of them (`null`). */
const LinkStats = ({ name }: { readonly name: string | null }) => (
  <StatsOf
    subject={name ?? ""}
    pathOf={(asked) => Links.statsPath(name, asked)}
    file={name === null ? "visits.csv" : `visits-${name.replaceAll(/[^\w.-]/g, "-")}.csv`}
  />
)

/** The visits of all one's links. */
export const AllStatsPage = () => (
  <>
    <header class="page-header">
      <h1>{words().title}</h1>
    </header>
    <LinkStats name={null} />
  </>
)

/** The visits of one link. */
export const LinkStatsPage = () => {
  const name = statsKeyOf(here.value.pathname) ?? ""
  const link = useLoaded((signal) => Links.get(name, signal), [name])
  if (link.state === "loading") return <Loading rows={5} />
  if (link.state === "failed") return <Failure error={link.error} retry={link.reload} />
  const { domain, key, shortUrl, title, url } = link.value
  return (
    <>
      <header class="page-header">
        <div class="subject">
          <Rosette seed={key} size={64} />
          <div>
            <h1>
              <span class="key">{key}</span> <CopyButton text={shortUrl} what={common().shortLink} isSmall />
            </h1>
            <p class="soft">
              {domain !== undefined && <span>{domain} </span>}
              {title !== null && <strong>{title} </strong>}
              <a class="target" href={url} target="_blank" rel="noopener noreferrer">
                {formatUrl(url)}
              </a>
            </p>
            {shownExtras(link.value).map(([name, text]) => (
              <p key={name} class="soft extra">
                {fill(common().named, { name, text })}
              </p>
            ))}
          </div>
        </div>
        <a class="button plain" href={lastList.value}>
          <Icon name="back" /> {words().links}
        </a>
      </header>
      <RoutingSummary link={link.value} />
      <LinkStats name={name} />
    </>
  )
}
