import { expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { agent, keyOf, send } from "../support/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { describePostgres } from "../support/services/Postgres.ts"
import { hasPrograms, postgresPair } from "../support/services/PostgresPair.ts"
import { dataFolder, start } from "./Program.ts"

const service = (STALE_REDIRECTS: string) =>
  Effect.gen(function* () {
    const { primary, standby } = yield* postgresPair
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
    return { create, primary, standby, until, visit }
  })

if (hasPrograms) {
  describePostgres("while PostgreSQL is away", () => {
    it.scopedLive(
      "links that are at hand lead on, others as a standby has them, and none whose redirects must be exact",
      () =>
        Effect.gen(function* () {
          const { create, primary, standby, until, visit } = yield* service("PT5M")
          const plain = yield* create({})
          const counted = yield* create({ maxVisits: 5 })
          const locked = yield* create({ password: "not to be guessed at all" })
          const keys = [plain, counted, locked]
          expect(yield* Effect.forEach(keys, visit)).toEqual([302, 302, 401])
          const cold = yield* create({})
          yield* Effect.repeat(standby.run(`SELECT 1 FROM links WHERE key = '${cold}'`), {
            until: (rows) => rows.length === 1,
            schedule: Schedule.spaced("50 millis")
          })
          yield* primary.kill
          // Each is answered right, from the first on: the database is known to be away, or the read fails.
          const statuses = yield* Effect.forEach(Array(200).keys(), () => visit(plain))
          expect(new Set(statuses)).toEqual(new Set([302]))
          expect(yield* Effect.forEach([cold, counted, locked, "neverseen"], visit)).toEqual([
            302, 503, 503, 503
          ])
          yield* primary.restart
          yield* until("neverseen", 404)
          expect(yield* Effect.forEach(keys, visit)).toEqual([302, 302, 401])
        }),
      90_000
    )

    it.scopedLive(
      "links lead on no longer than STALE_REDIRECTS says",
      () =>
        Effect.gen(function* () {
          const { create, primary, until, visit } = yield* service("PT3S")
          const key = yield* create({})
          expect(yield* visit(key)).toBe(302)
          yield* primary.kill
          expect(yield* visit(key)).toBe(302)
          yield* until(key, 503)
        }),
      90_000
    )
  })
}
