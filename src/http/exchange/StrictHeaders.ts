import { createHash } from "node:crypto"
import { HttpBody, HttpServerResponse } from "@effect/platform"
import type { Answer } from "./Answer.ts"

/** The policy of what has no scripts, styles, images or forms. */
export const plainPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * What every answer but a redirect carries, after OWASP's HTTP Headers Cheat Sheet: nothing of it is run, framed, kept, guessed at or loaded into other sites,
 * and no address of a link goes on to them. An answer that may be kept says so itself.
 */
const strict: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": plainPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const pairs = Object.entries(strict)

/** Adds the strict headers to an answer that has no scripts, unless it is a redirect. Headers that it has already stay as they are. */
export const complete = ({ headers, status }: Answer) => {
  if (status >= 300 && status < 400) return
  for (const [name, value] of pairs) if (!headers.includes(name)) headers.push(name, value)
}

/**
 * What all answers of a service carry whose address is https, redirects included: for a year browsers ask for it by https alone (RFC 6797). Nothing is said of other
 * names of the domain, which need not be this service's.
 */
export const transportOf = (baseUrl: URL): Readonly<Record<string, string>> =>
  baseUrl.protocol === "https:" ? { "strict-transport-security": "max-age=31536000" } : {}

/** The hashes by which a policy allows exactly the inline scripts of a page. */
const scriptHashes = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  )

/** The policy of a page of the service that has scripts: it runs those alone, and they speak to this service alone. */
const policyOf = (html: string): string =>
  [
    "default-src 'none'",
    ["script-src", ...scriptHashes(html)].join(" "),
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** Policies of pages by their bytes, which stay the same as long as the service runs. */
const policies = new WeakMap<Uint8Array, string>()

const policyOfBytes = (page: Uint8Array): string => {
  const known = policies.get(page)
  if (known !== undefined) return known
  const policy = policyOf(new TextDecoder().decode(page))
  policies.set(page, policy)
  return policy
}

const isRedirect = ({ headers, status }: HttpServerResponse.HttpServerResponse) =>
  status >= 300 && status < 400 && "location" in headers

/** Names the charset of text that names none, as routes of libraries do. */
const withCharset = (response: HttpServerResponse.HttpServerResponse) => {
  const { body } = response
  return body._tag === "Uint8Array" && /^text\/[a-z]+$/.test(body.contentType)
    ? HttpServerResponse.setBody(
        response,
        HttpBody.uint8Array(body.body, `${body.contentType}; charset=utf-8`)
      )
    : response
}

/**
 * Adds the strict headers to a response, unless it is a redirect, which shows nothing. Headers that it has already stay as they are. A page that
 * has no policy of its own gets one that allows its scripts.
 */
export const add = (
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  if (isRedirect(response)) return response
  const named = withCharset(response)
  const { body, headers } = named
  const allowing =
    !("content-security-policy" in headers) &&
    body._tag === "Uint8Array" &&
    body.contentType.startsWith("text/html")
      ? { "content-security-policy": policyOfBytes(body.body) }
      : {}
  return HttpServerResponse.setHeaders(named, { ...strict, ...allowing, ...headers })
}
