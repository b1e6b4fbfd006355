import { Either } from "effect"
import type { Link } from "../../model/Link.ts"
import type { Answer } from "../exchange/Answer.ts"
import type { Problem } from "../exchange/Problem.ts"

/** Characters of a `Location` at most: what every part of the way can carry (RFC 9110, section 4.1). */
export const locationLengthMax = 8_000

/** What cannot stand in the query of a `Location`, so that a header stays one header and the query ends where the target's fragment begins. */
const encode = (query: string): string =>
  query.replace(/[^\x21-\x7e]|["<>#]/gu, (character) => encodeURIComponent(character.toWellFormed()))

/** The query string of a request's path, without its question mark and as it came. */
export const queryOf = (path: string): string => {
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

const tooLong: Problem = {
  kind: "uri-too-long",
  detail: `The target with this query string would have more than ${locationLengthMax} characters.`
}

/** Where a link leads a request with this query string. */
export const locationOf = (
  { forwardQuery, url }: Pick<Link, "forwardQuery" | "url">,
  query: string
): Either.Either<string, Problem> => {
  if (!forwardQuery || query === "") return Either.right(url)
  const location = withQuery(url, query)
  return location.length <= locationLengthMax ? Either.right(location) : Either.left(tooLong)
}

/**
 * A permanent redirect may be kept for ever, but for what it says of itself here (RFC 9111, section 4.2.2): a link can be changed, deleted or blocked, and
 * whoever follows it then must learn of it. It is permanent for search engines alone.
 */
const cacheControl = {
  301: "private, max-age=0, must-revalidate",
  302: "private, max-age=0",
  303: "no-store",
  307: "private, max-age=0",
  308: "private, max-age=0, must-revalidate"
} as const

const followed: ReadonlyArray<string> = []
const notIndexed: ReadonlyArray<string> = ["x-robots-tag", "noindex"]

/** The answer that leads to a target, with more headers if there are any. Written in one piece, since hot redirects cost little else. */
export const answer = (
  { crawlable }: Pick<Link, "crawlable">,
  status: keyof typeof cacheControl,
  location: string,
  ...more: ReadonlyArray<string>
): Answer => ({
  status,
  headers: [
    "location",
    location,
    "content-length",
    "0",
    "cache-control",
    cacheControl[status],
    "referrer-policy",
    "no-referrer-when-downgrade",
    ...(crawlable ? followed : notIndexed),
    ...more
  ],
  body: ""
})
