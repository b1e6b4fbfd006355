import { counted, fill } from "../language/fill.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatUrl } from "../ui/format.ts"
import { Rosette } from "../ui/Rosette.tsx"
import { words as common } from "../ui/words.ts"
import { forget, recent, type RecentLink } from "./recentLinks.ts"
import { useVisits } from "./useVisits.ts"
import { words } from "./words.ts"

const RecentRow = ({ link: { key, shortUrl, url } }: { readonly link: RecentLink }) => {
  const visits = useVisits(key, false)
  return (
    <li class="recent-row">
      <Rosette seed={key} size={36} />
      <div class="recent-text">
        <a class="key" href={shortUrl} target="_blank" rel="noopener">
          {key}
        </a>
        <span class="target">{formatUrl(url)}</span>
      </div>
      <span class="count">
        {visits === undefined
          ? ""
          : visits === "ended"
            ? words().endedRecent
            : counted(common().visits, visits)}
      </span>
      <CopyButton text={shortUrl} what={fill(common().shortLinkOf, { key })} isSmall />
    </li>
  )
}

/** What was made in this browser without an account. */
export const Recent = ({ except }: { readonly except: string | undefined }) => {
  const links = recent.value.filter(({ key }) => key !== except)
  if (links.length === 0) return null
  return (
    <section class="recent">
      <header class="section-header">
        <h2>{words().recent}</h2>
        <button type="button" class="quiet" onClick={forget}>
          {words().forget}
        </button>
      </header>
      <ul>
        {links.map((link) => (
          <RecentRow key={link.key} link={link} />
        ))}
      </ul>
    </section>
  )
}
