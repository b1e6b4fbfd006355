import type { IncomingHttpHeaders } from "node:http"

/** Bytes of a plain GET at most. */
export const plainMax = 4_096

/** Header fields of a plain GET at most. */
const fieldsMax = 32

/** The head of a plain GET. */
export interface PlainGet {
  /** The path: `/` and a short key or an alias. */
  readonly url: string
  /** By names in lower case, as `node:http` has them. */
  readonly headers: IncomingHttpHeaders & Readonly<Record<string, string | undefined>>
}

/**
 * Header fields that a plain GET may have, each once: those that say nothing of how the request or its connection is to be understood, but for `connection`, which must be `keep-alive`.
 */
const fields = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "cf-connecting-ip",
  "cf-ipcountry",
  "cf-ray",
  "connection",
  "cookie",
  "dnt",
  "host",
  "if-modified-since",
  "if-none-match",
  "pragma",
  "priority",
  "purpose",
  "referer",
  "save-data",
  "sec-ch-ua",
  "sec-ch-ua-mobile",
  "sec-ch-ua-platform",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "sec-fetch-user",
  "sec-gpc",
  "sec-purpose",
  "upgrade-insecure-requests",
  "user-agent",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id"
])

/** A path that is a key and nothing else. */
const keyPath = /^\/[A-Za-z0-9_-]{1,64}$/

/** A field with visible characters of ASCII and spaces between them. Anything looser is for `node:http`. */
const field = /^([A-Za-z0-9-]+): ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/

/** `Host` as `node:http` and our own check accept it, in its plainest form. */
const plainHost = /^[A-Za-z0-9.-]+(?::\d{1,5})?$/

/** Characters of fields that are remembered for the next request of a connection at most. */
const rememberedMax = 1_024

const version = " HTTP/1.1"

/** The fields behind the request line, each ending in CRLF, with an empty line behind; `undefined` where one is not plain. */
const headersOf = (text: string): PlainGet["headers"] | undefined => {
  const lines = text.split("\r\n")
  // The last two are what is behind the last field's end, and behind the empty line's.
  if (lines.length < 3 || lines.length > fieldsMax + 2 || lines.at(-1) !== "" || lines.at(-2) !== "") {
    return undefined
  }
  const headers: Record<string, string> = {}
  for (let at = 0; at < lines.length - 2; at++) {
    const found = field.exec(lines[at]!)
    if (found === null) return undefined
    const name = found[1]!.toLowerCase()
    if (!fields.has(name) || Object.hasOwn(headers, name)) return undefined
    headers[name] = found[2]!
  }
  const { connection, host } = headers
  if (host === undefined || !plainHost.test(host)) return undefined
  return connection === undefined || connection.toLowerCase() === "keep-alive" ? headers : undefined
}

/**
 * Reads what a connection sends, as far as it is plain GETs of short keys. One for each connection, whose requests mostly have the same fields: these are read once.
 */
export class PlainGets {
  #text = ""
  #headers: PlainGet["headers"] | undefined

  /**
   * The request that a chunk is, from its first byte to its last; `undefined` where it is anything else: less, more, or written in any way that two parsers might understand
   * differently.
   */
  read(chunk: Buffer): PlainGet | undefined {
    // "GET /": most other chunks are told by these bytes.
    if (chunk.length > plainMax || chunk[0] !== 0x47 || chunk[4] !== 0x2f) return undefined
    const text = chunk.toString("latin1")
    const end = text.indexOf("\r\n")
    if (end === -1 || !text.startsWith("GET /") || text.slice(end - version.length, end) !== version) {
      return undefined
    }
    const url = text.slice(4, end - version.length)
    if (!keyPath.test(url)) return undefined
    const rest = text.slice(end + 2)
    if (rest === this.#text) return { url, headers: this.#headers! }
    const headers = headersOf(rest)
    if (headers === undefined) return undefined
    if (rest.length <= rememberedMax) {
      this.#text = rest
      this.#headers = headers
    }
    return { url, headers }
  }
}
