import { expect, it } from "@effect/vitest"
import { Clock, Effect, Schedule } from "effect"
import { agent, jsonOf, send } from "../../support/http/HttpClient.ts"
import { startAlone } from "../Program.ts"

/** More keys than the pool and the buffer hold: a recycled one is among them. */
const createsMax = 200

it.scopedLive(
  "ends a link that has expired, and gives its key to another one when its quarantine is over",
  () =>
    Effect.gen(function* () {
      const { port } = yield* startAlone({
        RECYCLE_QUARANTINE: "PT10S",
        POOL_LOW: "5",
        POOL_HIGH: "10",
        BUFFER_CAPACITY: "16"
      })
      const connections = yield* agent(1)
      const create = (url: string, more: object = {}) =>
        Effect.map(
          send(connections, port, {
            method: "POST",
            path: "/api/v1/links",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ url, ...more })
          }),
          (answer) => {
            expect(answer.status).toBe(201)
            return jsonOf(answer) as { readonly key: string; readonly expiresAt: string }
          }
        )
      const visit = (key: string) => send(connections, port, { path: `/${key}` })
      const { expiresAt, key } = yield* create("https://example.com/first", { expiresIn: "PT2S" })
      expect((yield* visit(key)).status).toBe(302)
      const statusOf = (wanted: number) =>
        Effect.map(visit(key), ({ status }) => status).pipe(
          Effect.repeat({ until: (status) => status === wanted, schedule: Schedule.spaced("100 millis") })
        )
      yield* statusOf(410)
      yield* statusOf(404)
      expect((yield* Clock.currentTimeMillis) - Date.parse(expiresAt)).toBeGreaterThan(10_000)

      let rebound = ""
      for (let tries = 0; tries < createsMax && rebound !== key; tries++) {
        rebound = (yield* create("https://example.com/second")).key
      }
      expect(rebound).toBe(key)
      const { headers, status } = yield* visit(key)
      expect([status, headers["location"]]).toEqual([302, "https://example.com/second"])
    }),
  120_000
)
