import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import { ask, asAdmin, newKey, newSession, post } from "../../support/samples/Account.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem, type ExpectedFault } from "../../support/http/Problems.ts"
import { create, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"
const own = { name: "a key", scopes: ["links:read"] }

const listed = (headers: object) =>
  Effect.map(ask("GET", "/api/v1/api-keys", { ...headers }), (answer) => {
    expect(answer.status).toBe(200)
    return (jsonOf(answer) as { readonly data: ReadonlyArray<Record<string, unknown>> }).data
  })

withService("an API key", { anonymousCreates: false }, (it) => {
  it.effect("is made with its secret, which is not shown again", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const body = {
        name: "Łukasz's key",
        scopes: ["links:read", "links:write", "links:read"],
        createsPerMinute: 5,
        redirectsPerDay: 1_000_000_000_000,
        expiresAt: "2026-11-22T11:00:00+01:00"
      }
      const answer = yield* post("/api/v1/api-keys", body, headers)
      expect(answer.status).toBe(201)
      expect(answer.headers["cache-control"]).toBe("no-store")
      const { secret, ...shown } = jsonOf(answer) as { readonly secret: string }
      expect(secret).toMatch(/^lm_[A-Za-z0-9_-]{32}$/)
      expect(shown).toEqual({
        id: expect.stringMatching(/^key_[A-Za-z0-9_-]{16}$/),
        name: "Łukasz's key",
        scopes: ["links:read", "links:write"],
        createsPerMinute: 5,
        redirectsPerDay: 1_000_000_000_000,
        createdAt: "2026-11-21T10:00:00.000Z",
        expiresAt: "2026-11-22T10:00:00.000Z"
      })
      const other = yield* newKey(own, headers)
      const data = yield* listed(headers)
      expect(data.map(({ id }) => id).toSorted()).toEqual([other.id, (shown as { id: string }).id].toSorted())
      expect(data).toContainEqual(shown)
      expect(JSON.stringify(data)).not.toContain(secret)
    })
  )

  it.effect("does what its scopes say, and nothing else", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const reader = yield* newKey({ scopes: ["links:read"] }, headers)
      const writer = yield* newKey({ scopes: ["links:write"] }, headers)
      const stats = yield* newKey({ scopes: ["stats:read"] }, headers)
      const created = yield* create({ url }, writer.headers)
      expect(created.status).toBe(201)
      const { key } = jsonOf(created) as { readonly key: string }
      for (const other of [reader, stats]) expectProblem(yield* create({ url }, other.headers), "forbidden")
      expect((yield* ask("GET", `/api/v1/links/${key}`, reader.headers)).status).toBe(200)
      for (const other of [writer, stats]) {
        expectProblem(yield* ask("GET", `/api/v1/links/${key}`, other.headers), "forbidden")
      }
      for (const other of [reader, stats]) {
        expectProblem(yield* ask("DELETE", `/api/v1/links/${key}`, other.headers), "forbidden")
      }
      const bearer = { authorization: `Bearer ${writer.secret}` }
      expect((yield* ask("DELETE", `/api/v1/links/${key}`, bearer)).status).toBe(204)
    })
  )

  it.effect("with the scope admin does everything", () =>
    Effect.gen(function* () {
      const admin = yield* newKey({ scopes: ["admin"] })
      expect((yield* create({ url }, admin.headers)).status).toBe(201)
      expect(yield* listed(admin.headers)).toContainEqual(expect.objectContaining({ id: admin.id }))
      const { headers } = yield* newSession
      const others = yield* newKey(own, headers)
      expect((yield* ask("DELETE", `/api/v1/api-keys/${others.id}`, admin.headers)).status).toBe(204)
    })
  )

  it.effect("cannot allow what its maker may not", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const answer = yield* post("/api/v1/api-keys", { name: "x", scopes: ["links:read", "admin"] }, headers)
      expectProblem(answer, "forbidden")
      expect(yield* listed(headers)).toEqual([])
    })
  )

  it.effect("manages no keys without the scope admin", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const key = yield* newKey({ scopes: ["links:read", "links:write", "stats:read"] }, headers)
      expectProblem(yield* post("/api/v1/api-keys", own, key.headers), "forbidden")
      expectProblem(yield* ask("GET", "/api/v1/api-keys", key.headers), "forbidden")
      expectProblem(yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, key.headers), "forbidden")
      expect(yield* listed(headers)).toHaveLength(1)
    })
  )

  it.effect("is not for the anonymous to make, to see and to revoke", () =>
    Effect.gen(function* () {
      expectProblem(yield* post("/api/v1/api-keys", own), "unauthorized")
      expectProblem(yield* ask("GET", "/api/v1/api-keys"), "unauthorized")
      expectProblem(yield* ask("DELETE", "/api/v1/api-keys/key_x"), "unauthorized")
    })
  )

  it.effect("is nobody's after it was revoked, within a second", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const { headers } = yield* newSession
      const key = yield* newKey({ scopes: ["links:write"] }, headers)
      expect((yield* create({ url }, key.headers)).status).toBe(201)
      expect((yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, headers)).status).toBe(204)
      clock.set((yield* clock.currentTimeMillis) + 1_000)
      expectProblem(yield* create({ url }, key.headers), "unauthorized")
      expectProblem(yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, headers), "not-found")
      expect(yield* listed(headers)).toEqual([])
    })
  )

  it.effect("is its user's: another one neither sees nor revokes it", () =>
    Effect.gen(function* () {
      const one = yield* newSession
      const other = yield* newSession
      const key = yield* newKey(own, one.headers)
      expect(yield* listed(other.headers)).toEqual([])
      expectProblem(yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, other.headers), "not-found")
      expectProblem(yield* ask("DELETE", "/api/v1/api-keys/nothing", asAdmin), "not-found")
      expect((yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, asAdmin)).status).toBe(204)
    })
  )

  it.effect("expires at its moment", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const now = yield* clock.currentTimeMillis
      const expiresAt = formatMoment(now + 60_000)
      const key = yield* newKey({ scopes: ["links:write"], expiresAt })
      clock.set(now + 59_999)
      expect((yield* create({ url }, key.headers)).status).toBe(201)
      clock.set(now + 60_000)
      expectProblem(yield* create({ url }, key.headers), "unauthorized")
    })
  )

  it.effect("is one of a hundred at most", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      yield* Effect.forEach(Array.from({ length: 100 }), () => newKey(own, headers))
      expectProblem(yield* post("/api/v1/api-keys", own, headers), "too-many-keys")
      const [first] = yield* listed(headers)
      yield* ask("DELETE", `/api/v1/api-keys/${String(first!["id"])}`, headers)
      yield* newKey(own, headers)
    })
  )

  it.effect("is not accepted, nor refused, while the store is away; the administrator's is", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      const key = yield* newKey({ scopes: ["admin"] })
      yield* setFault("accounts", "fails")
      const answers = [
        yield* create({ url }, key.headers),
        yield* post("/api/v1/api-keys", own, asAdmin),
        yield* ask("GET", "/api/v1/api-keys", asAdmin),
        yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, asAdmin)
      ]
      const administrators = yield* create({ url }, asAdmin)
      yield* setFault("accounts", "none")
      answers.forEach((answer) => expectProblem(answer, "unavailable"))
      expect(administrators.status).toBe(201)
      expect((yield* create({ url }, key.headers)).status).toBe(201)
    })
  )

  const scopeFault = "must be one of links:read, links:write, stats:read, admin"
  const future = "must be an RFC 3339 date-time in the future"
  const refused: ReadonlyArray<readonly [string, object, ...ReadonlyArray<ExpectedFault>]> = [
    ["no name", { scopes: ["admin"] }, ["name", "is required"]],
    ["an empty name", { ...own, name: "" }, ["name", "must have 1 to 100 characters"]],
    ["a name with a control character", { ...own, name: "a\u0000b" }, ["name", /control/]],
    ["no scopes", { name: "a" }, ["scopes", "is required"]],
    ["an empty list of scopes", { ...own, scopes: [] }, ["scopes", "must name a scope"]],
    ["scopes that are no list", { ...own, scopes: "admin" }, ["scopes", "must be a list of scopes"]],
    ["a scope that there is not", { ...own, scopes: ["links:delete"] }, ["scopes.0", scopeFault]],
    ["a scope that is no text", { ...own, scopes: ["admin", 7] }, ["scopes.1", scopeFault]],
    ["a limit of 0", { ...own, createsPerMinute: 0 }, ["createsPerMinute", /whole number from 1/]],
    ["half a limit", { ...own, redirectsPerDay: 1.5 }, ["redirectsPerDay", /whole number from 1/]],
    ["a limit as text", { ...own, redirectsPerDay: "5" }, ["redirectsPerDay", /whole number from 1/]],
    ["a limit too large", { ...own, createsPerMinute: 1e9 + 1 }, ["createsPerMinute", /whole number from 1/]],
    ["no limit but null", { ...own, createsPerMinute: null }, ["createsPerMinute", /whole number from 1/]],
    ["an end that is none", { ...own, expiresAt: "tomorrow" }, ["expiresAt", future]],
    ["an end in the past", { ...own, expiresAt: "2026-11-21T09:59:59Z" }, ["expiresAt", future]],
    ["an unknown field", { ...own, userId: "admin" }, ["userId", "is not a known field"]]
  ]
  for (const [what, body, ...faults] of refused) {
    it.effect(`is not made with ${what}`, () =>
      Effect.gen(function* () {
        const { headers } = yield* newSession
        expectProblem(yield* post("/api/v1/api-keys", body, headers), "invalid-request", faults)
        expect(yield* listed(headers)).toEqual([])
      })
    )
  }
})
