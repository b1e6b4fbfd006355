import type { Link } from "../../../model/Link.ts"
import { type Compiled, compile, decide, type Target } from "./Decision.ts"
import type { FactsOf, Source } from "./VisitorFacts.ts"

/** What was compiled of links that are still in memory. */
const compiledLinks = new WeakMap<Link, Compiled>()

const compiledOf = (link: Link, extras: NonNullable<Link["extras"]>): Compiled => {
  const known = compiledLinks.get(link)
  if (known !== undefined) return known
  const compiled = compile(extras, link.url)
  compiledLinks.set(link, compiled)
  return compiled
}

/** Whether a link leads visitors by rules or variants. */
export const hasRouting = ({ extras }: Link): boolean =>
  extras !== undefined && (extras.rules !== undefined || extras.variants !== undefined)

/** Where a link's rules and variants lead a visitor. */
export interface Routed extends Target {
  /** See `Compiled`. */
  readonly vary: string | undefined
}

/** Where a link's rules and variants lead a request at `now` (milliseconds since the Unix epoch); `undefined` for a link that has neither. */
export const routeOf = (link: Link, request: Source, now: number, factsOf: FactsOf): Routed | undefined => {
  const { extras } = link
  if (extras === undefined || !hasRouting(link)) return undefined
  const compiled = compiledOf(link, extras)
  const { name, url } = decide(compiled, factsOf(request, link.key, now))
  return { name, url, vary: compiled.vary }
}
