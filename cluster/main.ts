// `npm run cluster`: a cluster of this machine's processes, until it is told to stop.

import { Runtime } from "@effect/platform"
import { Console, Duration, Effect, Schedule } from "effect"
import { type Arguments, parse, usage } from "./Arguments.ts"
import * as Cluster from "./Cluster.ts"
import { runCommand } from "../src/terminal/MainProgram.ts"
import * as Signals from "../src/terminal/Signals.ts"
import { report } from "./Report.ts"

/**
 * Comes when npm, which runs us, has died: it passes signals on, but not the one that it cannot catch. A cluster that nobody
 * can stop from the terminal should not stay.
 */
const orphaned = Effect.suspend(() => {
  if (process.env["npm_lifecycle_event"] === undefined) return Effect.never
  const parent = process.ppid
  return Effect.sync(() => process.ppid).pipe(
    Effect.repeat({ schedule: Schedule.spaced("500 millis"), until: (now) => now !== parent })
  )
})

const run = (options: Arguments) =>
  Effect.gen(function* () {
    yield* Console.error("Starting PostgreSQL, Redis, the nodes and HAProxy …")
    const cluster = yield* Cluster.start({ ...options, notify: (line) => Console.error(line) })
    yield* options.json
      ? Console.log(JSON.stringify(cluster))
      : Console.log(report(cluster, { keepsData: options.dir !== null, restarts: options.restart }))
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Signals.handling({ isImpatient: true, max: Duration.minutes(2) }),
    Effect.raceFirst(orphaned),
    Effect.tapError((error) => Console.error(`The cluster did not come up. ${error.message}`)),
    Effect.ensuring(Console.error("The cluster has stopped."))
  )

// To be told to stop is how a cluster ends.
runCommand(parse(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd()), usage, run, {
  teardown: Runtime.defaultTeardown
})
