// `npm run sim`: seeds of the simulation, one after the other, and what was found.

import { NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Logger, LogLevel } from "effect"
import { type Arguments, parse, usage } from "./Arguments.ts"
import * as Fleet from "./Fleet.ts"
import { run } from "./Run.ts"
import { optionsOf } from "./SeedReport.ts"
import * as Summary from "./Summary.ts"

/** Fails nobody: standard output may be a pipe that nobody reads any more. */
process.stdout.on("error", () => {})
process.stderr.on("error", () => {})

/** How often progress is told, in milliseconds. */
const progressEvery_ms = 2_000

class Broken extends Data.TaggedError("Broken")<{ readonly violations: number }> {}

/** Tells how far it is: on a terminal in one line, elsewhere in lines of their own. */
const progress = (done: number, all: number, perSecond: number) => {
  const text = `${done}/${all} seeds, ${perSecond.toFixed(1)}/s`
  process.stderr.write(process.stderr.isTTY ? `\r${text}   ` : `${text}\n`)
}

const traced = ({ from, ...mix }: Arguments) =>
  Effect.gen(function* () {
    const { digest, events, violations } = run(from, optionsOf(mix, from), { keepTrace: true })
    for (const { at_us, detail, kind, who } of events) {
      process.stdout.write(`${(at_us / 1e6).toFixed(6)} ${who} ${kind} ${detail}\n`)
    }
    yield* Console.log(`digest ${digest}`)
    for (const { at_us, checker, text } of violations) {
      yield* Console.log(`${(at_us / 1e6).toFixed(6)} ${checker}: ${text}`)
    }
    if (violations.length > 0) return yield* new Broken({ violations: violations.length })
  })

const counted = (options: Arguments) =>
  Effect.gen(function* () {
    const summary = Summary.empty()
    const clock = yield* Effect.clock
    const started_ms = clock.unsafeCurrentTimeMillis()
    let told_ms = started_ms
    yield* Fleet.run(options, (report) => {
      Summary.count(summary, report)
      if (report.violations.length > 0) process.stderr.write(`${Summary.toldOf(report, options)}\n`)
      const now_ms = clock.unsafeCurrentTimeMillis()
      if (now_ms - told_ms < progressEvery_ms) return
      told_ms = now_ms
      progress(summary.seeds, options.seeds, (1_000 * summary.seeds) / (now_ms - started_ms))
    })
    const elapsed_s = (clock.unsafeCurrentTimeMillis() - started_ms) / 1_000
    yield* Console.log(`\n${Summary.told(summary, elapsed_s)}`)
    yield* Console.log(
      JSON.stringify({
        ...summary,
        elapsed_s,
        preset: options.preset,
        level: options.level,
        from: options.from
      })
    )
    if (summary.violations > 0) return yield* new Broken({ violations: summary.violations })
  })

const parsed = parse(process.argv.slice(2))
if (parsed._tag === "Left") {
  process.stderr.write(`${parsed.left}\n\n${usage}\n`)
  process.exitCode = 2
} else if (parsed.right === "help") {
  process.stdout.write(`${usage}\n`)
} else {
  const options = parsed.right
  NodeRuntime.runMain(
    (options.trace ? traced(options) : counted(options)).pipe(
      Effect.tapErrorTag("WorkerFailed", (error) => Console.error(error.message)),
      Logger.withMinimumLogLevel(LogLevel.None)
    ),
    { disableErrorReporting: true }
  )
}
