import { expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { agent, keyOf, send } from "../../support/http/HttpClient.ts"
import { freePort } from "../../support/FreePort.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { hasPrograms, type PostgresPair, postgresPair } from "../../support/services/postgres/PostgresPair.ts"
import { dataFolder, start } from "../Program.ts"

const service = ({ primary, standby }: PostgresPair, STALE_REDIRECTS: string) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const connections = yield* agent(8)
    yield* start({
      DATABASE_URL: primary.url,
      DATA_DIR: yield* dataFolder,
      PORT: String(port),
      HOST: "127.0.0.1",
      DATABASE_REPLICA_URLS: standby.url,
      ANONYMOUS_CREATES: "true",
      STALE_REDIRECTS
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
    return { create, until, visit }
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
            const { create, until, visit } = yield* service(pair, "PT5M")
            const plain = yield* create({})
            const counted = yield* create({ maxVisits: 5 })
            const locked = yield* create({ password: "not to be guessed at all" })
            const keys = [plain, counted, locked]
            expect(yield* Effect.forEach(keys, visit)).toEqual([302, 302, 401])
            const forwarding = yield* create({ forwardPath: true })
            expect(yield* visit(`${forwarding}/on`)).toBe(302)
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

          const { create, until, visit } = yield* service(pair, "PT3S")
          const key = yield* create({})
          const since = performance.now()
          expect(yield* visit(key)).toBe(302)
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
