import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem, kindOf, refuses } from "../../support/http/Problems.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { asAdmin, create, get, TestService, withService } from "../../support/TestService.ts"

const drawn = /^[0-9a-f]{16}$/

withService("X-Request-Id", {}, (it) => {
  const sane = ["a", "0f9b-77", "01J9Z3NDEKTSV4RRFFQ69G5FAV", "a.b_c:d/e+f=", "a".repeat(128)]
  for (const id of sane) {
    it.effect(`is given back when it is sane: ${id.slice(0, 30)}`, () =>
      Effect.map(get("/health/live", { "x-request-id": id }), ({ headers }) =>
        expect(headers["x-request-id"]).toBe(id)
      )
    )
  }

  const insane = [
    "",
    " ",
    "a b",
    "a,b",
    "a;b",
    "<script>",
    '"a"',
    "a\\b",
    "%0d%0a",
    "a\u00e4",
    "a".repeat(129)
  ]
  for (const id of insane) {
    it.effect(`is replaced when it is not sane: ${JSON.stringify(id.slice(0, 30))}`, () =>
      Effect.map(get("/health/live", { "x-request-id": id }), ({ headers }) =>
        expect(headers["x-request-id"]).toMatch(drawn)
      )
    )
  }

  it.effect("is replaced when there are two", () =>
    Effect.map(get("/health/live", { "x-request-id": ["a", "b"] }), ({ headers }) =>
      expect(headers["x-request-id"]).toMatch(drawn)
    )
  )

  // What Node's parser takes for part of a value: a lone CR, a folded line, a tab.
  for (const id of ["a\rSet-Cookie: b=c", "a\r\n Set-Cookie: b=c", "a\tSet-Cookie: b=c", "a\u0000b"]) {
    it.effect(`does not bring a header into the response: ${JSON.stringify(id)}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { port } = yield* TestService
          const connection = yield* RawConnection.open(port)
          yield* connection.write(
            `GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: ${id}\r\n\r\n`
          )
          const answer = yield* connection.ended
          expect(answer).toMatch(/^HTTP\/1.1 (200|400) /)
          expect(answer).not.toContain("Set-Cookie")
        })
      )
    )
  }

  it.effect("is another one for each request", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.all(Array.from({ length: 50 }, () => get("/health/live")))
      expect(new Set(answers.map(({ headers }) => headers["x-request-id"])).size).toBe(50)
    })
  )
})

withService("a request to nothing", {}, (it) => {
  const nothing: ReadonlyArray<readonly [method: string, path: string]> = [
    ["GET", "/"],
    ["GET", "/api"],
    ["GET", "/api/v1"],
    ["GET", "/api/v1/links/a/b"],
    ["GET", "/api/v2/links/abc"],
    ["GET", "/abc/def"],
    ["GET", "//abc"],
    ["GET", "/../etc/passwd"],
    ["GET", "/%2e%2e/etc/passwd"],
    ["GET", "/%"],
    ["GET", "/%ff"],
    ["GET", "/health/nothing"],
    ["PUT", "/api/v1/links"],
    ["POST", "/api/v1/links/abc"],
    ["PATCH", "/api/v1/links"],
    ["POST", "/abc"],
    ["PUT", "/abc"],
    ["DELETE", "/abc"],
    ["DELETE", "/api/v1/links"],
    ["OPTIONS", "/abc"],
    ["TRACE", "/abc"],
    ["POST", "/health/live"],
    ["DELETE", "/openapi.json"],
    ["PROPFIND", "/abc"]
  ]
  for (const [method, path] of nothing) {
    it.effect(`is 404 as a problem: ${method} ${path}`, () =>
      refuses(
        Effect.flatMap(TestService, (service) =>
          service.send({ method, path, headers: { accept: "application/json" } })
        ),
        "not-found"
      )
    )
  }
})

withService("the service", {}, (it) => {
  it.effect("says that it lives", () =>
    Effect.map(get("/health/live"), (answer) => {
      expect(answer.status).toBe(200)
      expect(jsonOf(answer)).toEqual({ status: "live" })
    })
  )

  it.effect("says that it is ready, part by part", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/" })
      const answer = yield* get("/health/ready")
      expect(answer.status).toBe(200)
      expect(answer.headers["cache-control"]).toBe("no-store")
      expect(jsonOf(answer)).toEqual({
        status: "ready",
        database: { ok: true, detail: expect.stringMatching(/^\d+ keys minted$/) },
        pools: [{ shard: 0, ok: true, depth: expect.any(Number) }],
        keys: { ok: true, detail: expect.stringMatching(/^\d+ keys held$/) },
        runner: { ok: true, detail: "running" },
        ranges: { ok: true, detail: expect.any(String) }
      })
    })
  )

  it.effect("answers a request in absolute form as one in origin form", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* TestService
        yield* create({ url: "https://example.com/absolute", alias: "absolute" })
        const connection = yield* RawConnection.open(port)
        yield* connection.write(
          `GET http://localhost:${port}/absolute HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
        )
        expect(yield* connection.ended).toMatch(
          /^HTTP\/1.1 302 [^]*location: https:\/\/example.com\/absolute\r\n/
        )
        const other = yield* RawConnection.open(port)
        // Its path is empty: what follows is a query, as a proxy before this service has it.
        yield* other.write("GET http://localhost?a/absolute HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        expect(yield* other.ended).toMatch(/^HTTP\/1.1 404 /)
      })
    )
  )

  it.effect("answers requests that come one behind the other on a connection, in their order", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* TestService
        const connection = yield* RawConnection.open(port)
        const ask = (id: number) => `GET /health/live HTTP/1.1\r\nHost: a\r\nX-Request-Id: n${id}\r\n\r\n`
        yield* connection.write([0, 1, 2, 3].map(ask).join(""))
        const answers = yield* connection.heard(/n3\r\n[^]*\r\n\r\n.*\}$/)
        expect([...answers.matchAll(/x-request-id: n(\d)/g)].map(([, id]) => id)).toEqual([
          "0",
          "1",
          "2",
          "3"
        ])
      })
    )
  )
})

withService("a path is only what is written in full:", {}, (it) => {
  const others: Readonly<Record<string, ReadonlyArray<string>>> = {
    "/metrics": [
      "/METRICS",
      "//metrics",
      "/%6detrics",
      "/metrics/",
      "/./metrics",
      "/metrics;a",
      "/metrics%3f",
      "/%2fmetrics"
    ],
    "/health/live": [
      "/Health/live",
      "//health/live",
      "/health//live",
      "/health/%6cive",
      "/health/live/",
      "/health/live;a"
    ],
    "/health/ready": ["/health/READY", "/health//ready", "/health/r%65ady", "/health/ready/"],
    "/openapi.json": ["/OpenAPI.json", "//openapi.json", "/openapi%2Ejson", "/openapi.json/"],
    "/docs": ["/Docs", "//docs", "/%64ocs", "/docs/"],
    "/robots.txt": ["/Robots.txt", "//robots.txt", "/robots%2etxt"],
    "/api/v1/links": [
      "/API/v1/links",
      "/api//v1/links",
      "//api/v1/links",
      "/api/v1/%6cinks",
      "/api/v1/links;a"
    ],
    "/api/v1/cluster": ["/api/v1/Cluster", "/api/v1//cluster", "/api/%761/cluster"]
  }
  for (const [path, ways] of Object.entries(others)) {
    it.effect(`${path}, and none of the other ways to write it`, () =>
      Effect.gen(function* () {
        expect((yield* get(path)).status).not.toBe(404)
        for (const way of ways) expect([way, (yield* get(way)).status]).toEqual([way, 404])
      })
    )
  }

  it.effect("a key or an id, with nothing behind it", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url: "https://example.com/", alias: "alone" })
      for (const path of ["/alone;a", "/alone;", "/alone+;a", "/alone/;a", "/alone;a?b", "/alone//"]) {
        expect([path, (yield* get(path)).status]).toEqual([path, 404])
      }
      for (const path of ["/api/v1/links/alone;a", "/api/v1/links/alone;/stats", "/api/v1/users/usr_a;b"]) {
        expect([path, (yield* asAdmin("GET", path)).status]).toEqual([path, 404])
        expect([path, (yield* asAdmin("DELETE", path)).status]).toEqual([path, 404])
      }
      const connection = yield* RawConnection.open(port)
      yield* connection.write("GET /alone#a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      expect(yield* connection.ended).toMatch(/^HTTP\/1.1 40[04] /)
      expect((yield* get("/alone?a;b#c")).status).toBe(302)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "a short key and what lies below the API may end in a slash, and have letters percent-encoded in a key",
    () =>
      Effect.gen(function* () {
        yield* create({ url: "https://example.com/", alias: "written" })
        for (const path of ["/written", "/written/", "/%77ritten", "/written%2B"]) {
          expect([path, (yield* get(path)).status]).toEqual([path, path.endsWith("B") ? 200 : 302])
        }
        expectProblem(yield* get("/api/v1/links/"), "unauthorized")
        expectProblem(yield* get("/api/v1/links/%77ritten/"), "unauthorized")
      })
  )

  it.effect("also in absolute form", () =>
    Effect.gen(function* () {
      expect((yield* get("http://a/health/live")).status).toBe(200)
      for (const path of ["/METRICS", "//metrics", "/%6detrics"]) {
        expect((yield* get(`http://a${path}`)).status).toBe(404)
      }
    })
  )
})

withService("a request names one host", {}, (it) => {
  /** All that a request is answered with on a connection of its own. */
  const ask = (head: string) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* TestService
        const connection = yield* RawConnection.open(port)
        yield* connection.write(`${head}\r\n\r\n`)
        return yield* connection.heard(/\r\n\r\n[^]*\}$/)
      })
    )

  const wrong: Readonly<Record<string, string>> = {
    two: "Host: a\r\nHost: b",
    "the same twice": "Host: a\r\nHost: a",
    "two, in other letters": "Host: a\r\nHOST: b",
    "two, of which one is empty": "Host: a\r\nhost:",
    "a list": "Host: a, b",
    "white space": "Host: a b",
    "a path": "Host: a/b",
    "a user": "Host: a@b",
    "a port that is none": "Host: a:b",
    "half an address": "Host: [::1"
  }
  for (const [what, hosts] of Object.entries(wrong)) {
    it.effect(`and not ${what}`, () =>
      Effect.gen(function* () {
        for (const path of ["/health/live", "/abcdefg"]) {
          const answer = yield* ask(`GET ${path} HTTP/1.1\r\n${hosts}`)
          expect(answer).toMatch(/^HTTP\/1.1 400 [^]*content-type: application\/problem\+json\r\n/)
          expect(answer).toMatch(/connection: close\r\n/)
          expect(answer).toContain(`"errors":[{"path":"Host","message":"must name one host"}]`)
        }
      })
    )
  }

  for (const host of [
    "a",
    "sho.rt:8080",
    "127.0.0.1",
    "[::1]:8080",
    "xn--bcher-kva.example",
    "a_b.example.",
    ""
  ]) {
    it.effect(`such as "${host}"`, () =>
      Effect.map(ask(`GET /health/live HTTP/1.1\r\nHost: ${host}`), (answer) =>
        expect(answer).toMatch(/^HTTP\/1.1 200 /)
      )
    )
  }

  it.effect("or none, in HTTP/1.0", () =>
    Effect.map(ask("GET /health/live HTTP/1.0"), (answer) => expect(answer).toMatch(/^HTTP\/1.1 200 /))
  )
})

withService("what cannot be read as a request", {}, (it) => {
  const ask = (text: string) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* TestService
        const connection = yield* RawConnection.open(port)
        yield* connection.write(text)
        const answer = yield* connection.ended
        const [head, body] = answer.split("\r\n\r\n") as [string, string]
        const headers = Object.fromEntries(
          head
            .split("\r\n")
            .slice(1)
            .map((line) => line.split(": ") as [string, string])
        )
        return { status: Number(head.split(" ")[1]), headers, rawHeaders: [], text: body }
      })
    )

  const cases: ReadonlyArray<readonly [what: string, text: string, status: number, kind: string]> = [
    ["nonsense", "nonsense\r\n\r\n", 400, "invalid-request"],
    ["a version that is none", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", 400, "invalid-request"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
      "invalid-request"
    ],
    [
      "headers of 20 KB",
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`,
      431,
      "headers-too-large"
    ],
    [
      "chunks with more beside them than in them",
      `POST /api/v1/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;${"a".repeat(20_000)}\r\n{}\r\n`,
      413,
      "payload-too-large"
    ]
  ]
  for (const [what, text, status, kind] of cases) {
    it.effect(`is answered with a problem, and nothing more is read: ${what}`, () =>
      Effect.gen(function* () {
        const answer = yield* ask(text)
        expect([answer.status, kindOf(answer)]).toEqual([status, kind])
        expect(answer.headers).toMatchObject({
          "content-type": "application/problem+json",
          "cache-control": "no-store",
          connection: "close"
        })
      })
    )
  }
})
