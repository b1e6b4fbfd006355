import { type Link, stateAt } from "../../model/Link.ts"
import type { OrphanReason } from "../../model/Visit.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Problem } from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import type { TargetPolicyService } from "../links/TargetPolicy.ts"

/** Characters of a `Location` at most: what every part of the way can carry (RFC 9110, section 4.1). */
export const locationLengthMax = 8_000

/** Encodes what the query of a `Location` must not contain, so that a header stays one header and the query ends where the target's fragment begins. */
const encode = (query: string): string =>
  query.replace(/[^\x21-\x7e]|["<>#]/gu, (character) => encodeURIComponent(character.toWellFormed()))

/** The query string of a request's path, without its question mark and as it came. */
const queryOf = (path: string): string => {
  const from = path.indexOf("?")
  return from === -1 ? "" : path.slice(from + 1)
}

/** Puts a query string behind that of a target: both keep their parameters as they are, the target's own come first, and its fragment stays last. */
const withQuery = (target: string, query: string): string => {
  const hash = target.indexOf("#")
  const [url, fragment] = hash === -1 ? [target, ""] : [target.slice(0, hash), target.slice(hash)]
  const separator = url.includes("?") ? (/[?&]$/.test(url) ? "" : "&") : "?"
  return `${url}${separator}${encode(query)}${fragment}`
}

const notFound = { kind: "not-found", detail: "There is no link with this key." } as const
const gone = {
  kind: "gone",
  detail: "This link has expired, was used up or deleted, or is blocked."
} as const

/** Those of a kind say the same, and are told apart by which object they are ({@link targetNames}). */
const problems = {
  "not-found": notFound,
  pending: { ...notFound },
  gone,
  expired: { ...gone },
  "used-up": { ...gone },
  "uri-too-long": {
    kind: "uri-too-long",
    detail: `The target with this query string would have more than ${locationLengthMax} characters.`
  }
} as const satisfies Record<string, Problem>

/** The problem of a link that has no visit left. */
export const usedUp: Problem = problems["used-up"]

/** Which target of its domain a visitor is sent to who is refused for a problem of this module. */
export const targetNames: ReadonlyMap<Problem, OrphanReason> = new Map<Problem, OrphanReason>([
  [problems["not-found"], "unknown"],
  [problems.pending, "pending"],
  [problems.expired, "expired"],
  [problems["used-up"], "usedUp"]
])

/** What is looked at of a request. */
type Source = Pick<Request, "method" | "url">

/** Where a link leads a request: its target, with the request's query string where the link forwards it. */
const locationOf = ({ forwardQuery, url }: Link, request: Source): string | Problem => {
  const query = forwardQuery ? queryOf(request.url) : ""
  if (query === "") return url
  const location = withQuery(url, query)
  return location.length <= locationLengthMax ? location : problems["uri-too-long"]
}

/** The row of a key as a visitor may know it at `now` (milliseconds since the Unix epoch): the link, or why it leads nowhere. A key that does not lead anywhere yet looks like one without a link. */
export const findLive = (link: Link | null, now: number, targets: TargetPolicyService): Link | Problem => {
  if (link === null) return problems["not-found"]
  const state = stateAt(link, now)
  if (state === "pending" || state === "expired" || state === "used-up") return problems[state]
  return state !== "live" || targets.faultOf(link.url) !== undefined ? problems.gone : link
}

/** Tells a problem from a link, or from a location. */
export const isProblem = (found: Link | Problem | string): found is Problem =>
  typeof found !== "string" && "kind" in found

/** What a request for a short URL gets. */
export type Decision =
  | { readonly kind: "refuse"; readonly problem: Problem }
  | { readonly kind: "ask-password" }
  | {
      readonly kind: "redirect"
      readonly link: Link
      /** The target; or the problem of a location that is too long, which still counts against the owner's quota. */
      readonly location: string | Problem
      /** Whether this request is a visit, and whether the link has to grant it first. */
      readonly visit: "counted" | "granted" | "none"
    }

/**
 * Decides what a request for a short URL gets at `now` (milliseconds since the Unix epoch), wherever the link was found. The caller takes quotas and visits. `isUnlocked`:
 * whether the visitor has given the link's password.
 */
export const decideRedirect = (
  row: Link | null,
  request: Source,
  now: number,
  targets: TargetPolicyService,
  isUnlocked = false
): Decision => {
  const link = findLive(row, now, targets)
  if (isProblem(link)) return { kind: "refuse", problem: link }
  if (link.passwordHash !== null && !isUnlocked) return { kind: "ask-password" }
  const visit = request.method === "HEAD" ? "none" : link.maxVisits === null ? "counted" : "granted"
  return { kind: "redirect", link, location: locationOf(link, request), visit }
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

/** The answer that sends a visitor to a target of their domain instead. */
export const answerElsewhere = (status: 302 | 303, location: string): Answer<string> =>
  answer({ crawlable: false }, status, location, "vary", "accept")
