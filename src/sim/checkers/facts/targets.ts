import type { Link } from "../../../model/Link.ts"
import { queryOf } from "../../clients/Visitors.ts"
import { blockedFrom_us, blockedUrls } from "../../deployment/Visitors.ts"
import type { Exchange } from "../../History.ts"
import type { Version } from "./lives.ts"
import { holds, type Moments, parametersOf, whenever } from "./conditions.ts"

/** A redirect, as far as it matters where it leads. */
type Led = Pick<Exchange, "from" | "location" | "path" | "query" | "visitor">

/** Where a link leads a visitor, without what follows its key: to one of these. */
const targetsFor = ({ extras, url }: Link, asked: Led, moments: Moments): ReadonlyArray<string> => {
  if (extras === undefined) return [url]
  const targets: Array<string> = []
  for (const rule of extras.rules ?? []) {
    const isHeld = holds(rule.when, asked, moments)
    if (isHeld === false) continue
    targets.push(rule.url)
    if (isHeld === true) return targets
  }
  return [...targets, ...(extras.variants?.map((variant) => variant.url) ?? [url])]
}

/** All targets of a link, whomever it leads there. */
const targetsOf = ({ extras, url }: Link): ReadonlyArray<string> => [
  url,
  ...(extras?.rules ?? []).map((rule) => rule.url),
  ...(extras?.variants ?? []).map((variant) => variant.url)
]

/** Whether a path has a segment `.` or `..`, in the ways in which clients write one. */
const hasDots = (path: string): boolean => path.split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part))

/** Whether a link appends what follows its key in a request to its targets. */
export const forwards = ({ extras }: Link, path: string): boolean =>
  extras?.forwardPath === true && !hasDots(path)

/** A target with a path behind its own: one slash between them, and no more in it. */
const withPath = (base: string, path: string): string => {
  const parts = path.split("/").filter((part) => part !== "")
  return parts.length === 0 ? base : `${base}/${parts.join("/")}${path.endsWith("/") ? "/" : ""}`
}

const namesOf = (query: string) => new Set(parametersOf(query).map(({ name }) => name))

/** The parameters of one query string whose names another one does not have. Both have question marks. */
const besides = (query: string, other: string): ReadonlyArray<string> => {
  const names = namesOf(other)
  return query
    .slice(1)
    .split("&")
    .filter((parameter) => parameter !== "" && !names.has(parameter.split("=")[0]!))
}

const allOf = (query: string): ReadonlyArray<string> => besides(query, "")

/** A target, with what a link forwards to it. */
const locationOf = (
  { extras, forwardQuery }: Link,
  target: string,
  { path, query, visitor }: Led
): string => {
  const [, base = "", own = "", fragment = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(target)!
  const sent = forwardQuery ? queryOf(visitor, query) : ""
  const precedence = extras?.queryPrecedence
  const parameters = [
    ...(precedence === "request" ? besides(own, sent) : allOf(own)),
    ...(precedence === "target" ? besides(sent, own) : allOf(sent))
  ]
  const whole = path === undefined ? base : withPath(base, path)
  return `${whole}${parameters.length === 0 ? "" : `?${parameters.join("&")}`}${fragment}`
}

/** Where a link leads a request that it redirects, by what docs/api.md says of rules, variants, forwarded paths and forwarded query strings: to one of these. `moments`: when it was answered. */
export const locationsFor = (link: Link, asked: Led, moments: Moments = whenever): ReadonlyArray<string> =>
  asked.path !== undefined && !forwards(link, asked.path)
    ? []
    : targetsFor(link, asked, moments).map((target) => locationOf(link, target, asked))

/** Whether a link led a request to its location; see {@link locationsFor}. */
export const leads = (link: Link, led: Led, moments: Moments = whenever): boolean =>
  locationsFor(link, led, moments).includes(led.location!)

/** The path of a URL, and what is before it. */
const baseOf = (url: string): string => url.replace(/[?#].*$/, "")

/** Whether a location is a target, or that with a path that followed a key, or other parameters. */
const isAt = (location: string | undefined, target: string): boolean => {
  if (location === undefined) return false
  if (location === target || location.startsWith(`${target}/`)) return true
  const [is, wanted] = [baseOf(location), baseOf(target)]
  return is === wanted || is.startsWith(`${wanted}/`)
}

/** Whether a location is a target of a link, for any visitor. */
export const isTarget = (link: Link, location: string | undefined): boolean =>
  targetsOf(link).some((target) => isAt(location, target))

/** Which of a link's variants a location is of, if of any. */
export const variantOf = ({ extras }: Link, location: string | undefined): number | undefined => {
  const place = extras?.variants?.findIndex(({ url }) => isAt(location, url))
  return place === undefined || place === -1 ? undefined : place
}

/** Whether a rule or a variant of some of these versions may have been blocked by then. */
export const mayBeBlocked = (versions: ReadonlyArray<Version>, answered_us: number): boolean =>
  answered_us >= blockedFrom_us &&
  versions.some(({ link }) => targetsOf(link).some((target) => target.startsWith(blockedUrls)))
