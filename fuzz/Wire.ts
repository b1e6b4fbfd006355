// What is written to a socket past any HTTP client: requests that are malformed, ambiguous, many at once, unread or never finished.

import { FastCheck as fc } from "effect"

/** A text that is written so many times. It is kept as a number, so that a failing case shrinks to a small one. */
export interface Part {
  readonly text: string
  readonly times: number
}

/** What one case writes, and what may come of it. */
export interface Wire {
  /** What kind of case it is. */
  readonly name: string
  /** In Latin-1. */
  readonly parts: ReadonlyArray<Part>
  /** More answers than these to one connection mean that a request was understood as several. */
  readonly answersMax: number
  /** Whether the server must answer or close. Where it need not, the client hangs up after a while. */
  readonly isWhole: boolean
  /** Whether the client reads; otherwise it hangs up after a while. */
  readonly isRead: boolean
  /** Whether answers have no bodies, as those to HEAD. */
  readonly isHead: boolean
  /** Connections that do the same at once. */
  readonly connections: number
}

const one = (text: string): Part => ({ text, times: 1 })

const host = "Host: localhost\r\n"

const get = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`

const wire = (name: string, parts: ReadonlyArray<Part>, more: Partial<Wire> = {}): Wire => ({
  name,
  parts,
  answersMax: 1,
  isWhole: true,
  isRead: true,
  isHead: false,
  connections: 1,
  ...more
})

/** Up to `max`, as many small ones as large ones. */
const times = (max: number): fc.Arbitrary<number> =>
  fc
    .integer({ min: 0, max: Math.floor(16 * Math.log2(max)) })
    .map((power) => Math.min(max, Math.round(2 ** (power / 16))))

const targets = (paths: ReadonlyArray<string>) =>
  fc.oneof(
    fc.constantFrom(
      "*",
      "",
      "//",
      "///x",
      "/..",
      "/../../etc/passwd",
      "/%2e%2e/",
      "/a\\b",
      "/%",
      "/%00",
      "/?",
      "?",
      "#",

      "http://localhost/",
      "http://example.com/x",
      "https://u:p@localhost/",
      "ftp://x/",
      "//example.com/",

      "/\x80",
      "/a b",
      "/a\tb",
      "/;a=b",
      "/METRICS",
      "//metrics",
      "/%6detrics",
      "/metrics/",
      "/api/v1/links/",

      "localhost:443",
      "/__proto__",
      "/constructor",
      "/favicon.ico",
      "/.well-known/x",
      "/docs",
      "/openapi.json"
    ),
    fc.constantFrom(...paths)
  )

const targetCases = (paths: ReadonlyArray<string>) =>
  fc.tuple(targets(paths), fc.constantFrom("GET", "POST", "HEAD")).map(([target, method]) =>
    wire("target", [one(`${method} ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)], {
      isHead: method === "HEAD"
    })
  )

const longTargets = fc
  .tuple(fc.constantFrom("a", "%41", "/", "?", "&a=b", "%"), times(20_000))
  .map(([text, count]) =>
    wire("long target", [one("GET /"), { text, times: count }, one(` HTTP/1.1\r\n${host}\r\n`)])
  )

const methodCases = (paths: ReadonlyArray<string>) =>
  fc
    .tuple(
      fc.constantFrom(
        "get",
        "PUT",
        "TRACE",
        "OPTIONS",
        "CONNECT",
        "PROPFIND",
        "PURGE",
        "M-SEARCH",
        "FOO",
        "G",
        "",
        "\x00",
        "DELETE",
        "PATCH",
        "QUERY",
        "PRI",
        "GET\t",
        " GET",
        "A".repeat(5_000)
      ),
      fc.constantFrom("*", "/", "/api/v1/links", "/health/live", "localhost:80", ...paths),
      fc.constantFrom(
        "HTTP/1.1",
        "HTTP/1.0",
        "HTTP/0.9",
        "HTTP/1.2",
        "HTTP/2.0",
        "HTTP/9.9",
        "http/1.1",
        "HTTP/1.1 x",
        ""
      )
    )
    .map(([method, target, version]) =>
      wire("method or version", [one(`${method} ${target} ${version}\r\n${host}Connection: close\r\n\r\n`)])
    )

const oddHeaders = fc.constantFrom(
  "Host: example.com",
  "Host: a, b",
  "Host:",
  "Host: \x00",
  "Host: [",
  "Host: localhost:99999",
  "host: localhost",

  "X-A : b",
  " X-A: b",
  "X A: b",
  "X-A",
  ":",
  ": b",
  "X-A: b\r\n c",
  "X-A: a\rb",
  "X-A: a\nb",
  "X-A: \x00",
  "X-A: \x7f",

  "X-A: \xff\xfe",
  "\xe4: b",
  "Content-Length: 5",
  "Content-Length: 0",
  "Transfer-Encoding: chunked",
  "Connection: x",
  "Cookie: linkmint_session=a; linkmint_session=b",
  "Authorization: Bearer a\r\nAuthorization: Bearer b",

  "X-Forwarded-For: ::ffff:1.2.3.4, x",
  "X-Forwarded-Host: evil.example",
  "Forwarded: for=x",
  "TE: trailers",

  "X-Request-Id: \x22<script>",
  "Accept: text/html",
  "Accept-Language: ,,,,;q=",
  "Range: bytes=-1",
  "Expect: x",

  "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
  "Upgrade: websocket\r\nConnection: Upgrade",

  "Connection: close, keep-alive",
  "Proxy-Connection: keep-alive",
  "If-None-Match: W/*",
  "X-HTTP-Method-Override: DELETE"
)

const headerCases = (paths: ReadonlyArray<string>) =>
  fc
    .tuple(targets(paths), fc.array(oddHeaders, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([target, headers, hasHost]) =>
      wire(
        "headers",
        [one(`GET ${target} HTTP/1.1\r\n${hasHost ? host : ""}${headers.join("\r\n")}\r\n\r\n`)],
        {
          // What says that a body follows may wait for it.
          isWhole: !headers.some((header) => /^(content-length: 5|transfer-encoding)/i.test(header))
        }
      )
    )

const manyHeaders = fc
  .tuple(
    fc.constantFrom("X-A: b\r\n", "Cookie: a=b\r\n", "Host: localhost\r\n", "Accept: a/b\r\n", "\r\n"),
    times(5_000)
  )
  .map(([text, count]) =>
    // Empty lines in front of a request are passed over.
    text === "\r\n"
      ? wire("empty lines", [{ text, times: count }, one(get("/health/live"))])
      : wire("many headers", [one(`GET / HTTP/1.1\r\n${host}`), { text, times: count }, one("\r\n")])
  )

const hugeHeaders = fc
  .tuple(
    fc.constantFrom(
      "Cookie",
      "Authorization",
      "User-Agent",
      "Referer",
      "Accept",
      "Accept-Language",
      "X-Api-Key",
      "X-Forwarded-For",
      "If-None-Match"
    ),
    fc.constantFrom("a", ",", "(", "a=b; ", '"a",', "1.1.1.1, ", "en;q=0.1,", "\xe4"),
    times(40_000),
    fc.constantFrom("/", "/health/live", "/api/v1/me", "/nothing-here")
  )
  .map(([name, text, count, path]) =>
    wire("huge header", [
      one(`GET ${path} HTTP/1.1\r\n${host}${name}: `),
      { text, times: count },
      one("\r\n\r\n")
    ])
  )

/** A second request in a body: it must stay a part of that. */
const smuggled = get("/robots.txt")

const framings = fc.constantFrom(
  "Content-Length: 0",
  "Content-Length: 5",
  "Content-Length: -1",
  "Content-Length: +5",
  "Content-Length: 0x5",
  "Content-Length: 5, 5",

  "Content-Length: 5, 6",
  "Content-Length: 1e1",
  "Content-Length: ",
  "Content-Length: 99999999999999999999",
  "Content-Length: 5\r\nContent-Length: 6",

  "Content-Length : 5",
  "Content-Length: 5\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nContent-Length: 5",

  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: gzip, chunked",

  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding : chunked",
  " Transfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",

  "transfer-encoding: CHUNKED",
  "Transfer-Encoding: \x0bchunked",
  "Transfer-Encoding:\r\n chunked",
  "X: y\nTransfer-Encoding: chunked"
)

const framingCases = fc
  .tuple(
    framings,
    fc.constantFrom("0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "hello", "", "5\r\nhello\r\n0\r\nX: y\r\n\r\n"),
    fc.constantFrom("/api/v1/links", "/api/v1/session", "/locked"),
    fc.boolean()
  )
  .map(([framing, body, path, isFollowed]) =>
    wire(
      "framing",
      [
        one(`POST ${path} HTTP/1.1\r\n${host}Content-Type: application/json\r\n${framing}\r\n\r\n${body}`),
        ...(isFollowed ? [one(smuggled)] : [])
      ],
      {
        // Both length and chunks: whatever is made of the first, nothing may be made of the second.
        answersMax: /content-length[^]*transfer-encoding|transfer-encoding[^]*content-length/i.test(framing)
          ? 1
          : 3,
        isWhole: false
      }
    )
  )

const smuggledWhole = fc
  .constantFrom("/api/v1/links", "/locked", "/health/live", "/docs")
  .map((path) =>
    wire("request within a body", [
      one(
        `POST ${path} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`
      )
    ])
  )

const chunkCases = fc
  .tuple(
    fc.constantFrom(
      "-1",
      "0x5",
      "5;a=b",
      "FFFFFFFFFFFFFFFF",
      "7FFFFFFF",
      "5 ",
      "",
      " 5",
      "g",
      "00000000000005",
      "5\n",
      "5\r",
      "5;"
    ),
    fc.constantFrom(
      "",
      "hello\r\n",
      "hello",
      "hello\r\n0\r\n\r\n",
      "hello\r\n0\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    )
  )
  .map(([size, rest]) =>
    wire(
      "chunks",
      [
        one(
          `POST /api/v1/links HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${rest}`
        )
      ],
      { answersMax: 2, isWhole: false }
    )
  )

const manyChunks = fc
  .tuple(
    fc.constantFrom("1\r\n \r\n", "1;a=b\r\n \r\n", `1;${"a".repeat(500)}\r\n \r\n`),
    times(20_000),
    fc.boolean()
  )
  .map(([text, count, hasTrailers]) =>
    wire("many chunks", [
      one(
        `POST /api/v1/links HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      ),
      { text, times: count },
      one("0\r\n"),
      ...(hasTrailers ? [{ text: "X-A: b\r\n", times: count }] : []),
      one("\r\n")
    ])
  )

const pipelines = (paths: ReadonlyArray<string>) =>
  fc
    .tuple(
      fc.constantFrom(
        "/docs",
        "/openapi.json",
        "/",
        "/robots.txt",
        "/health/live",
        "/nothing-here",
        ...paths
      ),
      times(1_000),
      fc.boolean(),
      fc.integer({ min: 1, max: 8 })
    )
    .map(([path, count, isRead, connections]) =>
      wire(isRead ? "pipeline" : "pipeline that is not read", [{ text: get(path), times: count }], {
        answersMax: count,
        isRead,
        connections
      })
    )

const whole = `POST /api/v1/links HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"url":"https://example.com/half","alias":"half-of-one"`

const halves = fc
  .tuple(fc.integer({ min: 1, max: whole.length }), fc.integer({ min: 1, max: 8 }))
  .map(([length, connections]) =>
    wire("half a request", [one(whole.slice(0, length))], { isWhole: false, connections })
  )

const strange = fc.oneof(
  fc
    .constantFrom(
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "\r\n\r\n",
      "SSH-2.0-x\r\n",
      "\x00",
      "*1\r\n$4\r\nPING\r\n"
    )
    .map((text) => wire("another protocol", [one(text)], { isWhole: false })),
  fc
    .uint8Array({ maxLength: 200 })
    .map((bytes) =>
      wire("any bytes", [one(Buffer.from(bytes).toString("latin1"))], { isWhole: false, answersMax: 3 })
    ),
  fc
    .constantFrom(10, 70_000, 2 ** 31)
    .map((length) =>
      wire(
        "waits for 100",
        [
          one(
            `POST /api/v1/links HTTP/1.1\r\n${host}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
          )
        ],
        { isWhole: false }
      )
    )
)

/** Cases of every kind alike; `paths` lead to links. */
export const wires = (paths: ReadonlyArray<string>): fc.Arbitrary<Wire> =>
  fc.oneof(
    targetCases(paths),
    longTargets,
    methodCases(paths),
    { weight: 2, arbitrary: headerCases(paths) },
    manyHeaders,
    hugeHeaders,
    { weight: 2, arbitrary: framingCases },
    smuggledWhole,
    chunkCases,
    manyChunks,
    pipelines(paths),
    halves,
    strange
  )
