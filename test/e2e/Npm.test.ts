import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { agent, jsonOf, keyOf, send } from "../support/http/HttpClient.ts"
import { place, type Program, ready, run } from "./Program.ts"

const ADMIN_API_KEY = "lm_the-key-of-this-test"

/** Its output ends only when the program has ended, too. */
const stopped = (npm: Program) =>
  Effect.map(npm.ended, () => expect(npm.output()).toMatch(/^Linkmint has stopped\.$/m))

describe("npm start", () => {
  it.scopedLive(
    "builds and runs the program, which writes every visit after Ctrl-C, though npm tells it once more, and stops when npm is told to",
    () =>
      Effect.gen(function* () {
        const { port, settings } = yield* place
        const start = Effect.tap(run("npm", ["start"], { ...settings, ADMIN_API_KEY }), (npm) =>
          ready(npm, port)
        )
        const first = yield* start
        const connections = yield* agent(8)
        const headers = { "content-type": "application/json", "x-api-key": ADMIN_API_KEY }
        const body = JSON.stringify({ url: "https://example.com/" })
        const path = "/api/v1/links"
        const key = keyOf(yield* send(connections, port, { method: "POST", path, headers, body }))
        yield* Effect.replicateEffect(send(connections, port, { path: `/${key}` }), 80, { concurrency: 8 })
        process.kill(-first.pid, "SIGINT")
        yield* stopped(first)

        const second = yield* start
        const stats = yield* send(connections, port, { path: `${path}/${key}/stats`, headers })
        expect(jsonOf(stats)).toMatchObject({ total: 80 })
        second.signal("SIGTERM")
        yield* stopped(second)
        const gone = yield* Effect.flip(send(connections, port, { path: "/health/live" })).pipe(
          Effect.retry(Schedule.spaced("10 millis"))
        )
        expect(gone.code).toBe("ECONNREFUSED")
      }),
    120_000
  )
})
