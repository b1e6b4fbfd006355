import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { valueOf } from "../../support/http/MetricsText.ts"
import { asAdmin, get, TestService, withService } from "../../support/TestService.ts"

const ready = get("/health/ready")

/** Questions to owners of key ranges and of pool shards. */
const asked = Effect.map(asAdmin("GET", "/metrics"), ({ text }) => {
  const of = (actor: string) => valueOf(text, "linkmint_actor_messages_total", { actor, message: "Status" })
  return of("KeyRange") + of("PoolShard")
})

withService("readiness", {}, (it) => {
  it.effect("asks the owner of each partition until it has answered once", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const resolved = Effect.map(asAdmin("GET", "/metrics"), ({ text }) =>
        valueOf(text, "linkmint_actor_messages_total", { actor: "UrlMapping", message: "ResolveMany" })
      )
      // Metrics count for the process, which may have had other services before.
      clock.set(Date.parse("2026-11-22T08:00:00.000Z"))
      const before = yield* resolved
      expect((yield* ready).status).toBe(200)
      expect((yield* ready).status).toBe(200)
      clock.set(Date.parse("2026-11-22T09:00:00.000Z"))
      expect((yield* resolved) - before).toBe(32)
    })
  )

  it.effect("asks the owners again when 2 s have passed, and believes them until then", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      let now = Date.parse("2026-11-22T10:00:00.000Z")
      const later = (ms: number) => clock.set((now += ms))
      later(0)
      expect((yield* ready).status).toBe(200)
      // A second for the metrics, which are kept for one.
      later(1_000)
      const before = yield* asked
      expect((yield* ready).status).toBe(200)
      later(999)
      expect((yield* ready).status).toBe(200)
      expect((yield* asked) - before).toBe(0)
      later(1)
      const again = Effect.gen(function* () {
        expect((yield* ready).status).toBe(200)
        later(1_000)
        return (yield* asked) - before
      })
      expect(yield* Effect.repeat(again, { until: (count) => count > 0 })).toBe(2)
    })
  )

  it.effect("asks the database each time, and says so at the check after the one that found it failing", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      expect((yield* ready).status).toBe(200)
      yield* setFault("ranges", "fails")
      const answer = yield* Effect.repeat(ready, { until: ({ status }) => status !== 200 })
      expect(answer.status).toBe(503)
      expect(jsonOf(answer)).toMatchObject({ database: { ok: false }, ranges: { ok: true } })
      yield* setFault("ranges", "none")
      expect((yield* ready).status).toBe(200)
    })
  )

  it.effect("answers at once by what the database said last, until that is 2 s old", () =>
    Effect.gen(function* () {
      const { clock, setFault } = yield* TestService
      const now = Date.parse("2026-11-22T12:00:00.000Z")
      clock.set(now)
      expect((yield* ready).status).toBe(200)
      // Nothing that waits for the database is answered from here on.
      yield* setFault("ranges", "silent")
      clock.set(now + 1_999)
      for (const _ of [1, 2, 3]) expect((yield* ready).status).toBe(200)
      clock.set(now + 2_000)
      const answer = yield* ready
      expect(answer.status).toBe(503)
      expect(jsonOf(answer)).toMatchObject({ database: { ok: false }, ranges: { ok: true } })
      yield* setFault("ranges", "none")
      yield* Effect.repeat(ready, { until: ({ status }) => status === 200 })
    })
  )
})

withService("readiness of a node whose pool does not answer", {}, (it) => {
  it.effect("asks the owners anew each time", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* setFault("stock", "fails")
      expect(jsonOf(yield* ready)).toMatchObject({ pools: [{ ok: false }], ranges: { ok: true } })
      yield* setFault("stock", "none")
      yield* Effect.repeat(ready, { until: ({ status }) => status === 200 })
    })
  )
})
