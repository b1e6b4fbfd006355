import type { Link } from "../api/Types.ts"
import { formatMoment, formatUrl } from "../ui/format.ts"
import { draftOf, shareOf } from "./drafts.ts"
import { conditionLabels, devices, weekdays } from "./words.ts"
import "./rules.css"

type Conditions = NonNullable<Link["rules"]>[number]["when"]
type Hours = NonNullable<Conditions["hours"]>

const deviceNames = new Map<string, string>(devices)
const dayNames = new Map<string, string>(weekdays)

const hoursText = ({ days, from = "0:00", timeZone, until = "24:00" }: Hours) => {
  const named = (days ?? []).map((day) => dayNames.get(String(day)))
  return `${from}–${until}${named.length === 0 ? "" : `, ${named.join(", ")}`} (${timeZone})`
}

/** What a condition asks for, in words. */
const said: { readonly [Name in keyof Conditions]-?: (value: NonNullable<Conditions[Name]>) => string } = {
  devices: (names) => names.map((name) => deviceNames.get(name) ?? name).join(" or "),
  os: (names) => names.join(" or "),
  languages: (names) => names.join(" or "),
  countries: (names) => names.join(" or "),
  query: (all) =>
    all.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`)).join(" and "),
  from: formatMoment,
  until: formatMoment,
  hours: hoursText,
  networks: (names) => names.join(" or ")
}

const conditionsText = (when: Conditions) =>
  (Object.keys(said) as Array<keyof Conditions>)
    .filter((name) => when[name] !== undefined)
    .map((name) => `${conditionLabels[name]}: ${said[name](when[name] as never)}`)
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
    <ul class="routing" aria-label="Rules and variants">
      {rules.map(({ name, url, when }, index) => (
        <li key={index}>
          <strong>{name ?? `Rule ${index + 1}`}</strong> <span class="soft">{conditionsText(when)} →</span>{" "}
          <Target url={url} />
        </li>
      ))}
      {variants.map(({ name, url }, index) => (
        <li key={index}>
          <strong>{name ?? `Variant ${index + 1}`}</strong>{" "}
          <span class="soft">{shareOf(drafts, drafts[index]!)}% →</span> <Target url={url} />
        </li>
      ))}
    </ul>
  )
}
