import { domainKeyOf, plainKeyOf, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { isAlias, segmentsMax } from "../../model/Alias.ts"
import { type Link, type LinkCard, stateAt } from "../../model/Link.ts"
import type { OrphanReason } from "../../model/Visit.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Problem } from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import type { TargetPolicyService } from "../links/TargetPolicy.ts"
import { noRoute } from "../pages/VisitorPages.ts"
import { hasDotSegment, locationOf } from "./Location.ts"
import { isPreviewCrawler } from "./PreviewCrawlers.ts"
import { routeOf } from "./rules/Routing.ts"
import type { FactsOf } from "./rules/VisitorFacts.ts"

const notFound = { kind: "not-found", detail: "There is no link with this key." } as const
const gone = {
  kind: "gone",
  detail: "This link has expired, was used up or deleted, or is blocked."
} as const

/** Why no link redirects a visitor. */
export interface Refused extends Problem {
  /** Which target of its domain they are sent to, and as what they are counted. */
  readonly reason?: OrphanReason
  /** Where the link itself sends them, which takes precedence. */
  readonly elsewhere?: string
}

const problems = {
  "not-found": { ...notFound, reason: "unknown" },
  pending: { ...notFound, reason: "pending" },
  gone,
  expired: { ...gone, reason: "expired" },
  "used-up": { ...gone, reason: "usedUp" }
} as const satisfies Record<string, Refused>

/** A path of several segments that no link redirects. */
export const noPath: Refused = { ...noRoute, reason: "unknown" }

/** What is looked at of a request. */
type Source = Pick<Request, "headers" | "method" | "remoteAddress" | "url">

/** A short URL as it was asked for. */
export interface ShortPath {
  readonly key: string
  /** What follows the key and a slash, as it came. */
  readonly rest?: string | undefined
}

/** What a short URL with several segments may mean. */
export interface LongPath {
  /** The texts of the links that it may lead to, the longest alias first: that of `path.key` is the last. */
  readonly texts: readonly [string, ...ReadonlyArray<string>]
  /** The key, and what follows it. */
  readonly whole: string
}

/** The path whose preview a path asks for, by a `+` behind its last segment and maybe a slash; `undefined` where it asks for none. */
export const previewedBy = (whole: string): string | undefined => {
  const end = whole.endsWith("/") ? -2 : -1
  return whole.at(end) === "+" ? whole.slice(0, end) : undefined
}

/**
 * What a short URL with several segments may mean: the longest alias that has a row. Only segments that are written as they are in aliases count, so that an empty or an encoded one, or one of dots, ends the
 * alias before it. A `+` behind the last one asks for the preview.
 */
export const longPathOf = ({ key: text, rest = "" }: ShortPath): LongPath => {
  const { domain, key } = domainKeyOf(text)
  const whole = `${key}/${rest}`
  const previewed = previewedBy(whole)
  const texts = [text]
  let alias = key
  // An alias has so many segments at most, and may be followed by a path.
  for (const part of rest.split("/", segmentsMax - 1)) {
    alias += `/${part}`
    const asked = alias === `${previewed}+` ? previewed! : alias
    if (!isAlias(asked)) break
    texts.unshift(qualifiedKey({ domain, key: asked }))
  }
  return { texts: texts as unknown as LongPath["texts"], whole }
}

/** What follows the key of a row in a path, and whether that asks for the row's preview. */
export const behindKey = (
  whole: string,
  { key }: Pick<Link, "key">
): { readonly rest: string | undefined; readonly isPreview: boolean } => {
  const behind = whole.slice(plainKeyOf(key).length)
  // A slash may follow any key.
  const isPreview = previewedBy(behind) === ""
  const rest = behind === "" || behind === "/" || isPreview ? undefined : behind.slice(1)
  return { rest, isPreview }
}

/** Whether a tombstone is of a link that had expired, rather than of one that was deleted. */
const hadExpired = ({ deletedAt, expiresAt }: Link): boolean =>
  deletedAt !== null && expiresAt !== null && expiresAt <= deletedAt

/** The problem of a link that redirects nobody any more. Its own target for that must be allowed still. */
const endedOf = (
  problem: Refused,
  { extras }: Pick<Link, "extras">,
  targets: TargetPolicyService
): Refused => {
  const elsewhere = extras?.expiredUrl
  return elsewhere === undefined || targets.faultOf(elsewhere) !== undefined
    ? problem
    : { ...problem, elsewhere }
}

/** The problem of a link that has no visit left. */
export const usedUpOf = (link: Link, targets: TargetPolicyService): Refused =>
  endedOf(problems["used-up"], link, targets)

/** The row of a key as a visitor may know it at `now` (milliseconds since the Unix epoch): the link, or why it leads nowhere. A key that does not lead anywhere yet looks like one without a link. */
export const findLive = (link: Link | null, now: number, targets: TargetPolicyService): Link | Refused => {
  if (link === null) return problems["not-found"]
  const state = stateAt(link, now)
  if (state === "live") return targets.faultOf(link.url) === undefined ? link : problems.gone
  if (state === "pending") return problems.pending
  if (state === "used-up") return usedUpOf(link, targets)
  return state === "expired" || hadExpired(link) ? endedOf(problems.expired, link, targets) : problems.gone
}

/** What decides where links lead. */
export interface Leading {
  /** Where they may lead. */
  readonly targets: TargetPolicyService
  /** What their rules and variants look at of a request. */
  readonly factsOf: FactsOf
}

/** Where a live link leads a request at `now` (milliseconds since the Unix epoch), if that is not blocked. */
export const targetOf = (
  link: Link,
  request: Source,
  now: number,
  { factsOf, targets }: Leading
): string | Problem => {
  const routed = routeOf(link, request, now, factsOf)
  if (routed === undefined) return link.url
  return targets.faultOf(routed.url) === undefined ? routed.url : problems.gone
}

/** Tells a problem from a link, or from a location. */
export const isProblem = <Found extends Problem>(found: Link | Found | string): found is Found =>
  typeof found !== "string" && "kind" in found

/** The headers by which caches tell the answers of a link apart: crawlers may be shown a card, and visitors be led (`led`) by some. */
const varyOf = ({ extras }: Pick<Link, "extras">, led: string | undefined): string | undefined => {
  if (extras?.card === undefined || led?.startsWith("user-agent") === true) return led
  return led === undefined ? "user-agent" : `user-agent, ${led}`
}

/** What a request for a short URL gets. */
export type Decision =
  | { readonly kind: "refuse"; readonly problem: Refused }
  | { readonly kind: "ask-password" }
  | {
      readonly kind: "redirect"
      readonly link: Link
      /** The target; or the problem of a location that is too long, which still counts against the owner's quota. */
      readonly location: string | Problem
      /** The rule or variant that led there, by name; `undefined` for a link that has neither. */
      readonly target: string | undefined
      /** The headers of the request by which another one may be led elsewhere, for `Vary`. */
      readonly vary: string | undefined
      /** Whether this request is a visit, and whether the link has to grant it first. */
      readonly visit: "counted" | "granted" | "none"
    }

/**
 * Decides what a request for a short URL gets at `now` (milliseconds since the Unix epoch), wherever the link was found. The caller takes quotas and visits. `isUnlocked`:
 * whether the visitor has given the link's password. `path`: what follows the key and a slash, where something does.
 */
export const decideRedirect = (
  row: Link | null,
  request: Source,
  now: number,
  { factsOf, targets }: Leading,
  isUnlocked = false,
  path?: string
): Decision => {
  if (path !== undefined && (row?.extras?.forwardPath !== true || hasDotSegment(path))) {
    return { kind: "refuse", problem: noPath }
  }
  const link = findLive(row, now, targets)
  if (isProblem(link)) return { kind: "refuse", problem: link }
  if (link.passwordHash !== null && !isUnlocked) return { kind: "ask-password" }
  const visit = request.method === "HEAD" ? "none" : link.maxVisits === null ? "counted" : "granted"
  const routed = routeOf(link, request, now, factsOf)
  if (routed === undefined) {
    const location = locationOf(link.url, link, request, path)
    return { kind: "redirect", link, location, target: undefined, vary: varyOf(link, undefined), visit }
  }
  const { name: target, url } = routed
  if (targets.faultOf(url) !== undefined) return { kind: "refuse", problem: problems.gone }
  const location = locationOf(url, link, request, path)
  return { kind: "redirect", link, location, target, vary: varyOf(link, routed.vary), visit }
}

/**
 * Caches may keep a permanent redirect for ever unless it says otherwise (RFC 9111, section 4.2.2). A link can be changed, deleted or blocked, and a browser that
 * follows it again must notice. It is permanent for search engines only.
 */
const cacheControl = {
  301: "private, max-age=0, must-revalidate",
  302: "private, max-age=0",
  303: "no-store",
  307: "private, max-age=0",
  308: "private, max-age=0, must-revalidate"
} as const

const fixedOf = (status: keyof typeof cacheControl, more: ReadonlyArray<string>): ReadonlyArray<string> => [
  "content-length",
  "0",
  "cache-control",
  cacheControl[status],
  "referrer-policy",
  "no-referrer-when-downgrade",
  ...more
]

/** The headers of all redirects of a status. */
const fixedBy = (more: ReadonlyArray<string>) => ({
  301: fixedOf(301, more),
  302: fixedOf(302, more),
  303: fixedOf(303, more),
  307: fixedOf(307, more),
  308: fixedOf(308, more)
})

const indexed = fixedBy([])
const notIndexed = fixedBy(["x-robots-tag", "noindex"])

/** The card that a request is shown instead of a redirect. It is neither a visit nor counted in a quota, and takes none of `maxVisits`. */
export const cardFor = (
  { extras }: Pick<Link, "extras">,
  { headers }: Pick<Request, "headers">
): LinkCard | undefined =>
  extras?.card !== undefined && isPreviewCrawler(headers["user-agent"]) ? extras.card : undefined

/** The answer that leads to a target, with more headers if there are any. */
export const answer = (
  { crawlable }: Pick<Link, "crawlable">,
  status: keyof typeof cacheControl,
  location: string,
  ...more: ReadonlyArray<string>
): Answer<string> => ({
  status,
  fixed: (crawlable ? indexed : notIndexed)[status],
  headers: ["location", location, ...more],
  body: ""
})

/** The answer that leads where it was decided, which depends on some headers of the request. */
export const answerLed = (
  { link, vary }: Pick<Extract<Decision, { readonly kind: "redirect" }>, "link" | "vary">,
  status: keyof typeof cacheControl,
  location: string,
  ...more: ReadonlyArray<string>
): Answer<string> =>
  vary === undefined
    ? answer(link, status, location, ...more)
    : answer(link, status, location, "vary", vary, ...more)

/** The answer that sends a visitor to a target of their domain instead. */
export const answerElsewhere = (status: 302 | 303, location: string): Answer<string> =>
  answer({ crawlable: false }, status, location, "vary", "accept")
