import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { agent, send } from "../http/client.ts"
import { place, ready, run } from "./Program.ts"

describe("npm start", () => {
  it.scopedLive(
    "builds and runs the program, and SIGTERM to it stops the program in order",
    () =>
      Effect.gen(function* () {
        const { port, settings } = yield* place
        const npm = yield* run("npm", ["start"], settings)
        yield* ready(npm, port)
        const connections = yield* agent(1)
        expect((yield* send(connections, port, { path: "/health/live" })).status).toBe(200)
        npm.signal("SIGTERM")
        // Its output ends only when the program has ended, too.
        yield* npm.ended
        expect(npm.output()).toMatch(/^Linkmint has stopped\.$/m)
        const gone = yield* Effect.flip(send(connections, port, { path: "/health/live" })).pipe(
          Effect.retry(Schedule.spaced("10 millis"))
        )
        expect(gone.code).toBe("ECONNREFUSED")
      }),
    120_000
  )
})
