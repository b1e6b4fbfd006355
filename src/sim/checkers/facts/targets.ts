import type { Link } from "../../../model/Link.ts"
import { holdsOf } from "../../clients/Choices.ts"
import type { Exchange } from "../../History.ts"

/** A redirect, as far as it matters where it leads. */
type Led = Pick<Exchange, "location" | "path" | "visitor">

/** Where a link leads a visitor, without what follows its key: to one of these. */
const targetsFor = ({ extras, url }: Link, visitor: Led["visitor"]): ReadonlyArray<string> => {
  if (extras === undefined) return [url]
  const rule = extras.rules?.find(({ when }) => holdsOf(when, visitor))
  return rule === undefined ? (extras.variants?.map((variant) => variant.url) ?? [url]) : [rule.url]
}

/** All targets of a link, whomever it leads there. */
const targetsOf = ({ extras, url }: Link): ReadonlyArray<string> => [
  url,
  ...(extras?.rules ?? []).map((rule) => rule.url),
  ...(extras?.variants ?? []).map((variant) => variant.url)
]

/** Whether a link appends what follows its key in a request to its targets. */
export const forwards = ({ extras }: Link): boolean => extras?.forwardPath === true

/** Whether a link led a request to its location, by what docs/api.md says of rules, variants and forwarded paths. */
export const leads = (link: Link, { location, path, visitor }: Led): boolean =>
  path === undefined
    ? targetsFor(link, visitor).includes(location!)
    : forwards(link) && targetsFor(link, visitor).some((target) => location === `${target}/${path}`)

/** Whether a location is a target, or that with a path that followed a key. */
const isAt = (location: string | undefined, target: string): boolean =>
  location === target || location?.startsWith(`${target}/`) === true

/** Whether a location is a target of a link, for any visitor. */
export const isTarget = (link: Link, location: string | undefined): boolean =>
  targetsOf(link).some((target) => isAt(location, target))

/** Which of a link's variants a location is of, if of any. */
export const variantOf = ({ extras }: Link, location: string | undefined): number | undefined => {
  const place = extras?.variants?.findIndex(({ url }) => isAt(location, url))
  return place === undefined || place === -1 ? undefined : place
}
