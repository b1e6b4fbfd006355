// `npm run chaos`: a cluster of this machine's processes, killed and paused under load; or one with links in several databases.

import { Console, Effect, Logger, LogLevel, Schedule, type Scope } from "effect"
import { randomInt } from "node:crypto"
import { runCommand, Wrong } from "../src/terminal/MainProgram.ts"
import * as Progress from "../src/terminal/Progress.ts"
import type { Unavailable } from "../test/support/services/Service.ts"
import { type Arguments, parse, seedMax, usage } from "./Arguments.ts"
import * as Chaos from "./Chaos.ts"
import * as DatabasesArguments from "./databases/Arguments.ts"
import * as Databases from "./databases/Run.ts"
import { told } from "./Report.ts"

/** Nodes that are killed under redirects alone. */
const kills = 10

/** What comes before and after the faults takes about so long, in seconds: start, kills, and the questions at the end. */
const around_s = 20 + 11 * kills + 20

/** Tells how far a run is, which takes about as long as is known beforehand. Only lines of it go above the bar. */
const tellingProgress = <A, E>(
  { minutes }: Arguments,
  run: (notify: (line: string) => Effect.Effect<void>) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const all = Math.round(60 * minutes) + around_s
    const progress = yield* Progress.make({ all, unit: "s", hasRate: false })
    let passed_s = 0
    const tick = Effect.sync(() => progress.update(Math.min(++passed_s, all)))
    yield* Effect.forkScoped(Effect.repeat(tick, Schedule.fixed("1 second")))
    return yield* run((line) => Effect.sync(() => progress.log(line)))
  }).pipe(Effect.scoped)

/** Tells why a run could not go on. */
const ended = <A>(run: Effect.Effect<A, Unavailable | Wrong>) =>
  run.pipe(
    Effect.tapErrorTag("Unavailable", (error) => Console.error(`The run could not go on. ${error.message}`)),
    Logger.withMinimumLogLevel(LogLevel.None)
  )

const run = (options: Arguments) =>
  Effect.gen(function* () {
    yield* Console.error(
      `Seed ${options.seed} (again with --seed ${options.seed} --minutes ${options.minutes})`
    )
    const report = yield* tellingProgress(options, (notify) =>
      // Of some 22,000 redirects.
      Chaos.run({
        ...options,
        requestsPerSecond: 120,
        clients: 16,
        limits: {
          recover_ms: 5_000,
          others_ms: 7_000,
          takeover_ms: 8_000,
          late_ms: Number.POSITIVE_INFINITY,
          visits_ms: 10_000,
          backendsPerNode: 52,
          failover: { hot: 0.999, cold: 0.99 },
          availability: 0.999,
          kills
        },
        notify
      })
    )
    yield* Console.log(told(report))
    yield* Console.log(JSON.stringify(report))
    if (report.violations.length > 0) return yield* new Wrong()
  }).pipe(ended)

const runDatabases = (options: DatabasesArguments.Arguments) =>
  Effect.gen(function* () {
    const { told, ...report } = yield* Effect.scoped(
      Databases.run({
        ...options,
        limits: { redirects: 0.9999, others: 1, unwritten_ms: 1_000, back_ms: 10_000 },
        patience_s: 0,
        notify: Console.error
      })
    )
    yield* Console.log(told)
    yield* Console.log(JSON.stringify(report))
    if (report.violations.length > 0) return yield* new Wrong()
  }).pipe(ended)

const args = process.argv.slice(2)
const cwd = process.env["INIT_CWD"] ?? process.cwd()
if (args[0] === "databases") {
  runCommand(DatabasesArguments.parse(args.slice(1), cwd), DatabasesArguments.usage, runDatabases)
} else {
  runCommand(parse(args, { cwd, drawn: randomInt(seedMax) }), usage, run)
}
