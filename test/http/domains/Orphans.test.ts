import { expect } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { StatsBody } from "../../../src/http/contract/StatsSchemas.ts"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import { noTargets } from "../../../src/model/Domain.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const host = "one.example"
const url = "https://example.com/"

const domains = [
  {
    number: 1,
    host,
    token: "token",
    verifiedAt: 1,
    owners: null,
    targets: { ...noTargets, home: `${url}home`, expired: `${url}expired` },
    ignoresCase: false,
    createdAt: 1,
    updatedAt: 1
  }
]

const statsAt = (name: string, reason?: string) =>
  Effect.map(
    asAdmin("GET", `/api/v1/domains/${name}/stats${reason === undefined ? "" : `?reason=${reason}`}`),
    (answer) => jsonOf(answer) as StatsBody
  )

/** The orphan visits of a domain as soon as there are so many. */
const countedAt = (name: string, total: number, reason?: string) =>
  statsAt(name, reason).pipe(
    Effect.repeat({ until: (stats) => stats.total >= total, schedule: Schedule.spaced("20 millis") }),
    Effect.zipRight(statsAt(name, reason))
  )

withService("visits that no link redirects", { domains }, (it) => {
  it.effect("are counted for their domain, by reason, whatever they are answered", () =>
    Effect.gen(function* () {
      const { clock, send } = yield* TestService
      const inOne = (alias: string, more: object) => create({ url, alias, domain: host, ...more })
      const after = (days: number) => Iso8601.formatMoment(startOfTests_ms + days * 86_400_000)
      yield* inOne("once", { maxVisits: 1 })
      yield* inOne("later", { validSince: after(5) })
      yield* inOne("short", { expiresAt: after(1) })
      yield* inOne("own", { expiresAt: after(1), expiredUrl: `${url}own` })
      clock.set(startOfTests_ms + 2 * 86_400_000)
      const browser = { host, accept: "text/html" }
      expect((yield* get("/", browser)).headers.location).toBe(`${url}home`)
      expect((yield* get("/short", browser)).headers.location).toBe(`${url}expired`)
      expect((yield* get("/short", { host, accept: "application/json" })).status).toBe(410)
      expect((yield* get("/own", browser)).headers.location).toBe(`${url}own`)
      expect((yield* get("/nothing", browser)).status).toBe(404)
      expect((yield* get("/no/such/path", browser)).status).toBe(404)
      expect((yield* get("/short.d/path", browser)).status).toBe(404)
      expect((yield* get("/later", browser)).status).toBe(404)
      expect((yield* get("/once", browser)).status).toBe(302)
      expect((yield* get("/once", browser)).status).toBe(410)
      // Those who look, and do not visit.
      yield* get("/nothing+", browser)
      const preview = yield* get("/short+", browser)
      expect([preview.status, preview.headers.location]).toEqual([410, undefined])
      yield* send({ method: "HEAD", path: "/nothing", headers: browser })
      yield* send({ method: "HEAD", path: "/short.d/path", headers: browser })
      yield* send({ method: "GET", path: "/api/v1/links", headers: browser })
      yield* get("/nothing", { accept: "text/html" })
      expect(yield* countedAt(host, 9)).toMatchObject({ total: 9 })
      for (const [reason, total] of [
        ["home", 1],
        ["unknown", 3],
        ["expired", 3],
        ["usedUp", 1],
        ["pending", 1]
      ] as const) {
        expect([reason, (yield* countedAt(host, total, reason)).total]).toEqual([reason, total])
      }
      expect((yield* countedAt("localhost", 1)).total).toBe(1)
      expect((yield* countedAt("localhost", 1, "unknown")).referrers).toEqual([
        { value: "direct", visits: 1 }
      ])
    })
  )

  it.effect("are shown to administrators alone", () =>
    Effect.gen(function* () {
      expectProblem(yield* withKey(userKeys.one, "GET", `/api/v1/domains/${host}/stats`), "forbidden")
      expectProblem(yield* asAdmin("GET", "/api/v1/domains/nobody.example/stats"), "not-found")
      expectProblem(yield* asAdmin("GET", `/api/v1/domains/${host}/stats?reason=rain`), "invalid-request", [
        ["reason", "must be one of home, unknown, expired, usedUp, pending"]
      ])
    })
  )
})
