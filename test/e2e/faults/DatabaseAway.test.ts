import { expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { agent, keyOf, send } from "../../support/http/HttpClient.ts"
import { makeCuttingProxy } from "../../support/CuttingProxy.ts"
import { freePort } from "../../support/FreePort.ts"
import { describePostgres, freshDatabase } from "../../support/services/postgres/Postgres.ts"
import { hasPrograms, type PostgresPair, postgresPair } from "../../support/services/postgres/PostgresPair.ts"
import { dataFolder, start } from "../Program.ts"

const metricsToken = "for-the-metrics-of-one-node-alone"

const service = (
  variables: Readonly<Record<"DATABASE_URL" | "DATABASE_REPLICA_URLS" | "STALE_REDIRECTS", string>>
) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const connections = yield* agent(64)
    yield* start({
      ...variables,
      DATA_DIR: yield* dataFolder,
      PORT: String(port),
      HOST: "127.0.0.1",
      ANONYMOUS_CREATES: "true",
      METRICS_TOKEN: metricsToken
    })
    const create = (fields: object) =>
      Effect.map(
        send(connections, port, {
          method: "POST",
          path: "/api/v1/links",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ url: "https://example.com/there", ...fields })
        }),
        (response) => {
          expect(response.status, response.text).toBe(201)
          return keyOf(response)
        }
      )
    const visit = (key: string) =>
      Effect.map(send(connections, port, { path: `/${key}` }), ({ status }) => status)
    const until = (key: string, wanted: number) =>
      Effect.repeat(visit(key), {
        until: (status) => status === wanted,
        schedule: Schedule.spaced("50 millis")
      })
    const hits = Effect.map(
      send(connections, port, { path: "/metrics", headers: { authorization: `Bearer ${metricsToken}` } }),
      ({ text }) => Number(/^linkmint_l1_lookups_total\{[^}]*outcome="hit"[^}]*\} (\d+)$/m.exec(text)?.[1])
    )
    /** Visits a link until the node has it at hand: a node that has just started has no news of changes yet, and keeps nothing. */
    const keep = (path: string) =>
      Effect.gen(function* () {
        const before = yield* hits
        expect(before).toBeGreaterThanOrEqual(0)
        yield* Effect.repeat(Effect.zipRight(visit(path), hits), {
          until: (after) => after > before,
          schedule: Schedule.spaced("50 millis")
        })
        expect(yield* visit(path)).toBe(302)
      })
    return { create, keep, until, visit }
  })

const serviceOf = ({ primary, standby }: PostgresPair, STALE_REDIRECTS: string) =>
  service({ DATABASE_URL: primary.url, DATABASE_REPLICA_URLS: standby.url, STALE_REDIRECTS })

describePostgres("while PostgreSQL does not answer", () => {
  it.scopedLive(
    "no redirect is refused once another one is given out of the cache, also not those that have waited since before",
    () =>
      Effect.gen(function* () {
        const way = yield* makeCuttingProxy(yield* freshDatabase)
        yield* Effect.gen(function* () {
          const { create, keep, visit } = yield* service({
            DATABASE_URL: way.url,
            DATABASE_REPLICA_URLS: "",
            STALE_REDIRECTS: "PT5M"
          })
          const key = yield* create({})
          yield* keep(key)
          const { release } = way.hold()
          yield* Effect.addFinalizer(() => Effect.sync(release))
          // The cache is no longer fresh then, and no two heartbeats have failed.
          yield* Effect.sleep("1 second")
          const answered: Array<number> = []
          yield* Effect.forEach(
            Array(30).keys(),
            (index) =>
              visit(key).pipe(
                Effect.map((status) => answered.push(status)),
                Effect.delay(index * 100)
              ),
            { concurrency: "unbounded" }
          )
          // On a busy machine it may be too late for the first ones already when it is known that the database is away.
          const since = answered.indexOf(302)
          expect(since).toBeGreaterThanOrEqual(0)
          expect(new Set(answered.slice(since))).toEqual(new Set([302]))
        }).pipe(Effect.scoped)
      }),
    60_000
  )
})

if (hasPrograms) {
  describePostgres("while PostgreSQL is away", () => {
    it.scopedLive(
      "links that are at hand lead on for as long as STALE_REDIRECTS says, others as a standby has them, and none whose redirects must be exact",
      () =>
        Effect.gen(function* () {
          const pair = yield* postgresPair
          const { primary, standby } = pair
          yield* Effect.gen(function* () {
            const { create, keep, until, visit } = yield* serviceOf(pair, "PT5M")
            const plain = yield* create({})
            const counted = yield* create({ maxVisits: 5 })
            const locked = yield* create({ password: "not to be guessed at all" })
            const keys = [plain, counted, locked]
            expect(yield* Effect.forEach(keys, visit)).toEqual([302, 302, 401])
            const forwarding = yield* create({ forwardPath: true })
            yield* Effect.forEach([plain, `${forwarding}/on`], keep)
            const cold = yield* create({})
            yield* Effect.repeat(standby.run(`SELECT 1 FROM links WHERE key = '${cold}'`), {
              until: (rows) => rows.length === 1,
              schedule: Schedule.spaced("50 millis")
            })
            yield* primary.kill
            // Each is answered right, from the first on: the database is known to be away, or the read fails.
            const statuses = yield* Effect.forEach(Array(200).keys(), () => visit(plain))
            expect(new Set(statuses)).toEqual(new Set([302]))
            // Nothing is connected to the standby yet, which a busy machine may not manage at the first try.
            yield* until(cold, 302)
            expect(yield* Effect.forEach([counted, locked, "neverseen"], visit)).toEqual([503, 503, 503])
            // What follows a key does so as well, although the node no longer knows whether there are aliases of several segments.
            yield* Effect.sleep("2 seconds")
            expect(yield* visit(`${forwarding}/on`)).toBe(302)
            yield* primary.restart
            yield* until("neverseen", 404)
            expect(yield* Effect.forEach(keys, visit)).toEqual([302, 302, 401])
          }).pipe(Effect.scoped)

          const { create, keep, until, visit } = yield* serviceOf(pair, "PT3S")
          const key = yield* create({})
          yield* keep(key)
          const since = performance.now()
          yield* primary.kill
          const status = yield* visit(key)
          // On a busy machine it may be too late already.
          if (performance.now() - since < 3_000) expect(status).toBe(302)
          yield* until(key, 503)
        }),
      120_000
    )
  })
}
