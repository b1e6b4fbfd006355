import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "./client.ts"
import { refuses } from "./problems.ts"
import * as RawConnection from "./RawConnection.ts"
import { create, get, TestService, withService } from "./TestService.ts"

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
