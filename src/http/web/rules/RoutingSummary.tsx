import type { Link } from "../api/Types.ts"
import { allOf, anyOf, fill } from "../language/fill.tsx"
import { formatMoment, formatPercent, formatUrl, formatWeekday } from "../ui/format.ts"
import { draftOf, shareOf } from "./drafts.ts"
import { words } from "./words.ts"
import "./rules.css"

type Conditions = NonNullable<Link["rules"]>[number]["when"]
type Hours = NonNullable<Conditions["hours"]>

const hoursText = ({ days, from = "0:00", timeZone, until = "24:00" }: Hours) => {
  const t = words()
  const named = (days ?? []).map(formatWeekday)
  return named.length === 0
    ? fill(t.hours, { from, until, timeZone })
    : fill(t.hoursOfDays, { from, until, timeZone, days: named.join(", ") })
}

/** What a condition asks for, in words. */
const said: { readonly [Name in keyof Conditions]-?: (value: NonNullable<Conditions[Name]>) => string } = {
  devices: (names) => anyOf(names.map((name) => words().device[name])),
  os: anyOf,
  languages: anyOf,
  countries: anyOf,
  query: (all) => allOf(all.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`))),
  from: formatMoment,
  until: formatMoment,
  hours: hoursText,
  networks: anyOf
}

const conditionsText = (when: Conditions) =>
  (Object.keys(said) as Array<keyof Conditions>)
    .filter((name) => when[name] !== undefined)
    .map((name) =>
      fill(words().conditionIs, {
        condition: words().condition[name],
        value: said[name](when[name] as never)
      })
    )
    .join("; ")

const Target = ({ url }: { readonly url: string }) => (
  <a class="target" href={url} target="_blank" rel="noopener noreferrer">
    {formatUrl(url)}
  </a>
)

/** Where a link leads whom, if it has rules or variants. */
export const RoutingSummary = ({ link }: { readonly link: Link }) => {
  const { rules = [], variants = [] } = link
  if (rules.length + variants.length === 0) return null
  const drafts = draftOf(link).variants
  return (
    <ul class="routing" aria-label={words().list}>
      {rules.map(({ name, url, when }, index) => (
        <li key={index}>
          <strong>{name ?? fill(words().rule, { number: index + 1 })}</strong>{" "}
          <span class="soft">{conditionsText(when)} →</span> <Target url={url} />
        </li>
      ))}
      {variants.map(({ name, url }, index) => (
        <li key={index}>
          <strong>{name ?? fill(words().variant, { number: index + 1 })}</strong>{" "}
          <span class="soft">{formatPercent(shareOf(drafts, drafts[index]!)! / 100)} →</span>{" "}
          <Target url={url} />
        </li>
      ))}
    </ul>
  )
}
