import { unescape } from "node:querystring"
import type { Link } from "../../model/Link.ts"
import type { Problem } from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"

/** Characters of a `Location` at most: what every part of the way can carry (RFC 9110, section 4.1). */
export const lengthMax = 8_000

/** The problem of a location that would be too long. */
const tooLong = (what: "path" | "query string"): Problem => ({
  kind: "uri-too-long",
  detail: `The target with this ${what} would have more than ${lengthMax} characters.`
})

const encoded = (text: string, characters: RegExp): string =>
  text.replace(characters, (character) => encodeURIComponent(character.toWellFormed()))

/** Encodes what the query of a `Location` must not contain, so that a header stays one header and the query ends where the target's fragment begins. */
const encodeQuery = (query: string): string => encoded(query, /[^\x21-\x7e]|["<>#]/gu)

/** The same of a path, in which browsers take `\` for a slash. */
const encodePath = (path: string): string => encoded(path, /[^\x21-\x7e]|["<>#?\\^`{|}]/gu)

/** The query string of a request's path, without its question mark and as it came. */
const queryOf = (path: string): string => {
  const from = path.indexOf("?")
  return from === -1 ? "" : path.slice(from + 1)
}

/**
 * A segment `.` or `..` of a path, as a browser or a server may understand one: percent-encoded once or several times, between slashes or backslashes that may be encoded as well, and
 * with a parameter behind a semicolon.
 */
const dotSegment =
  /(?:^|[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:;|%(?:25)*3b|$|[/\\]|%(?:25)*(?:2f|5c))/i

/** Whether a path could lead out of the path that it is appended to. */
export const hasDotSegment = (path: string): boolean => dotSegment.test(path)

/** Appends a path to that of a target, with one slash between them. Slashes that follow each other count as one; one at the end stays. */
const withPath = (url: string, path: string): string => {
  const end = url.search(/[?#]/)
  const [base, rest] = end === -1 ? [url, ""] : [url.slice(0, end), url.slice(end)]
  const appended = encodePath(path)
    .replace(/\/{2,}/g, "/")
    .replace(/^\//, "")
  return appended === "" ? url : `${base}${base.endsWith("/") ? "" : "/"}${appended}${rest}`
}

/** The name of a parameter of a query string. */
const nameOf = (parameter: string): string => unescape(parameter.split("=", 1)[0]!.replaceAll("+", " "))

/** The parameters of a query string whose names another one does not have. */
const notIn = (query: string, other: string): string => {
  const names = new Set(other.split("&").map(nameOf))
  return query
    .split("&")
    .filter((parameter) => !names.has(nameOf(parameter)))
    .join("&")
}

/**
 * Puts a query string behind that of a target: both keep their parameters as they are, the target's own come first, and its fragment stays last. `precedence`: whose parameter holds where both have one
 * of a name; without it both do.
 */
const withQuery = (target: string, query: string, precedence: "request" | "target" | undefined): string => {
  const hash = target.indexOf("#")
  const [url, fragment] = hash === -1 ? [target, ""] : [target.slice(0, hash), target.slice(hash)]
  const start = url.indexOf("?")
  if (start === -1 || precedence === undefined) return joined(url, query, fragment)
  const own = url.slice(start + 1)
  if (precedence === "target") {
    const others = notIn(query, own)
    return others === "" ? target : joined(url, others, fragment)
  }
  const kept = notIn(own, query)
  return joined(kept === "" ? url.slice(0, start) : `${url.slice(0, start)}?${kept}`, query, fragment)
}

const joined = (url: string, query: string, fragment: string): string => {
  const separator = url.includes("?") ? (/[?&]$/.test(url) ? "" : "&") : "?"
  return `${url}${separator}${encodeQuery(query)}${fragment}`
}

/**
 * Where a link leads a request: to a target, with the path that follows the key where there is one, and the request's query string where the link forwards it. `path` has no dot segment, and
 * is that of a link that forwards it.
 */
export const locationOf = (
  url: string,
  { extras, forwardQuery }: Link,
  request: Pick<Request, "url">,
  path: string | undefined
): string | Problem => {
  const query = forwardQuery ? queryOf(request.url) : ""
  if (query === "" && path === undefined) return url
  const target = path === undefined ? url : withPath(url, path)
  const location = query === "" ? target : withQuery(target, query, extras?.queryPrecedence)
  return location.length <= lengthMax ? location : tooLong(path === undefined ? "query string" : "path")
}
