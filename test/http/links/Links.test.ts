import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { asAdmin, create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

withService("a link's own resource", {}, (it) => {
  it.effect("shows the link as its create did", () =>
    Effect.gen(function* () {
      const created = yield* create({ url, expiresIn: "P1D" })
      const shown = yield* asAdmin("GET", created.headers.location!)
      expect(shown.status).toBe(200)
      expect(shown.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" })
      expect(jsonOf(shown)).toEqual(jsonOf(created))
    })
  )

  it.effect("shows a link that has expired, and when", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* create({ url, alias: "expired", expiresIn: "PT1S" })
      clock.set(startOfTests_ms + 60_000)
      const shown = yield* asAdmin("GET", "/api/v1/links/expired")
      expect(shown.status).toBe(200)
      expect(jsonOf(shown)).toMatchObject({ key: "expired", expiresAt: "2026-11-21T10:00:01.000Z" })
      clock.set(startOfTests_ms)
    })
  )

  it.effect("shows how many redirects are left of its limit", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "limited", maxVisits: 3 })
      for (const [status, visitsLeft] of [
        [302, 2],
        [302, 1],
        [302, 0],
        [410, 0]
      ] as const) {
        expect((yield* get("/limited")).status).toBe(status)
        expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/limited"))).toMatchObject({ visitsLeft })
      }
    })
  )

  it.effect("is not shown any more as a node has cached it, when it was deleted by another one", () =>
    Effect.gen(function* () {
      const { links } = yield* TestService
      yield* create({ url, alias: "deleted-elsewhere", maxVisits: 3 })
      expect((yield* asAdmin("GET", "/api/v1/links/deleted-elsewhere")).status).toBe(200)
      yield* links.deleteMany([{ key: "deleted-elsewhere", at: startOfTests_ms }])
      expect((yield* asAdmin("GET", "/api/v1/links/deleted-elsewhere")).status).toBe(404)
    })
  )

  it.effect("is deleted once: 204 without a body, and 404 after that", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "deleted" })
      const deleted = yield* asAdmin("DELETE", "/api/v1/links/deleted")
      expect({ status: deleted.status, text: deleted.text }).toEqual({ status: 204, text: "" })
      expect(deleted.headers["content-type"]).toBeUndefined()
      expect(deleted.headers["x-request-id"]).toMatch(/^[0-9a-f]{16}$/)
      expectProblem(yield* asAdmin("DELETE", "/api/v1/links/deleted"), "not-found")
      expectProblem(yield* asAdmin("GET", "/api/v1/links/deleted"), "not-found")
    })
  )

  it.effect("is deleted by one of many who do so at once", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "contested" })
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => asAdmin("DELETE", "/api/v1/links/contested")),
        { concurrency: "unbounded" }
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array(7).fill(404)])
    })
  )

  it.effect("takes the redirect with it, also one that was followed just before", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "followed" })
      expect((yield* get("/followed")).status).toBe(302)
      yield* asAdmin("DELETE", "/api/v1/links/followed")
      expect((yield* get("/followed")).status).toBe(410)
    })
  )

  it.effect("is told from others by the case of its key", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "Mixed" })
      expect((yield* asAdmin("GET", "/api/v1/links/Mixed")).status).toBe(200)
      expectProblem(yield* asAdmin("GET", "/api/v1/links/mixed"), "not-found")
      expectProblem(yield* asAdmin("DELETE", "/api/v1/links/MIXED"), "not-found")
      expect((yield* get("/Mixed")).status).toBe(302)
    })
  )

  for (const key of ["unknown", "a%20b", "%00", "a".repeat(65), "a'--"]) {
    it.effect(`is 404 for ${key.slice(0, 20)}, to show and to delete`, () =>
      Effect.gen(function* () {
        expectProblem(yield* asAdmin("GET", `/api/v1/links/${key}`), "not-found")
        expectProblem(yield* asAdmin("DELETE", `/api/v1/links/${key}`), "not-found")
      })
    )
  }
})
