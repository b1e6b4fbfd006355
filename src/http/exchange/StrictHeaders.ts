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

const notModified = 304

/** Adds the strict headers to an answer, unless it is a redirect, which shows nothing. Headers that it has already stay as they are. */
export const complete = ({ headers, status }: Answer) => {
  if (status >= 300 && status < 400 && status !== notModified) return
  for (const [name, value] of pairs) if (!headers.includes(name)) headers.push(name, value)
}

/**
 * What all answers of a service carry whose address is https, redirects included: for a year browsers ask for it by https alone (RFC 6797). Other
 * names of the domain, which need not be this service's, are not included.
 */
export const transportOf = (baseUrl: URL): Readonly<Record<string, string>> =>
  baseUrl.protocol === "https:" ? { "strict-transport-security": "max-age=31536000" } : {}
