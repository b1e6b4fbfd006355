import type { ComponentChildren } from "preact"
import * as Links from "../api/Links.ts"
import { lastList, statsKeyOf } from "../app/Paths.ts"
import { here } from "../app/Router.ts"
import { me } from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { SignInFirst } from "../app/SignInFirst.tsx"
import { frameWords } from "../app/words.ts"
import { shownExtras } from "../extras/extras.ts"
import { fill } from "../language/fill.tsx"
import { RoutingSummary } from "../rules/RoutingSummary.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { words as common } from "../ui/words.ts"
import { StatsOf } from "./StatsOf.tsx"
import { words } from "./words.ts"

interface LinkStatsProps extends Pick<Parameters<typeof StatsOf>[0], "header" | "instead"> {
  readonly name: string | null
}

/** Of one link, or of all of them (`null`). */
const LinkStats = ({ name, ...more }: LinkStatsProps) => (
  <StatsOf
    {...more}
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

interface PublicStatsProps {
  readonly name: string
  /** What is shown where they are not public, or there is no link. */
  readonly orElse: ComponentChildren
}

/** What anybody sees of a link whose statistics are public. */
const PublicStats = ({ name, orElse }: PublicStatsProps) => {
  const [key = "", domain] = name.split("@")
  const header = (
    <header class="page-header">
      <div class="subject">
        <Rosette seed={key} size={64} />
        <div>
          <h1>
            <span class="key">{key}</span>{" "}
            <CopyButton
              text={`${location.protocol}//${domain ?? settings.shortHost}/${key}`}
              what={common().shortLink}
              isSmall
            />
          </h1>
          {domain !== undefined && <p class="soft">{domain}</p>}
        </div>
      </div>
    </header>
  )
  return (
    <LinkStats
      name={name}
      header={header}
      instead={({ kind }) => (kind === "unauthorized" || kind === "not-found" ? orElse : undefined)}
    />
  )
}

/** The visits of a link, and what the link is, for those who may manage it. */
const OwnStats = ({ name }: { readonly name: string }) => {
  const link = useLoaded((signal) => Links.get(name, signal), [name])
  if (link.state === "loading") return <Loading rows={5} />
  if (link.state === "failed") {
    const failure = <Failure error={link.error} retry={link.reload} />
    return link.error.kind === "not-found" ? <PublicStats name={name} orElse={failure} /> : failure
  }
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

/** The visits of one link. */
export const LinkStatsPage = () => {
  const name = statsKeyOf(here.value.pathname) ?? ""
  if (me.value === undefined) return <Loading rows={5} />
  if (me.value !== null) return <OwnStats name={name} />
  return <PublicStats name={name} orElse={<SignInFirst title={frameWords().statistics} />} />
}
