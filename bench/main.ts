// `npm run bench`: Linkmint beside references, measured on this machine.

import { Runtime } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Exit, Logger, LogLevel } from "effect"
import { type Arguments, parse, usage } from "./Arguments.ts"
import * as Bench from "./Bench.ts"
import { isMet } from "./Case.ts"
import { cases } from "./Cases.ts"
import { summary } from "./Report.ts"

/** Fails nobody: standard output may be a pipe that nobody reads any more. */
process.stdout.on("error", () => {})
process.stderr.on("error", () => {})

/** The status of a program that Ctrl-C ended. */
const interrupted = 130

/** A case failed, or did not reach what it must; the report says which. */
class NotMet extends Data.TaggedError("NotMet")<{}> {}

const run = ({ cases: chosen, quick, write }: Arguments) =>
  Effect.gen(function* () {
    const wanted = chosen.length === 0 ? cases : cases.filter(({ name }) => chosen.includes(name))
    const report = yield* Effect.scoped(Bench.run({ cases: wanted, quick }))
    yield* Console.log(`\n${summary(report.results)}`)
    // A part of the cases would take the place of all.
    if (write && chosen.length === 0) {
      yield* Console.log(`Written: ${Bench.write(report).join(", ")}`)
    }
    // Short runs tell whether all works, not how fast it is.
    const isGood = report.results.every((result) => (quick ? result.found !== null : isMet(result)))
    if (!isGood) return yield* new NotMet()
  }).pipe(
    Effect.tapErrorTag("Unavailable", (error) =>
      Console.error(`The benchmark could not run. ${error.message}`)
    ),
    Logger.withMinimumLogLevel(LogLevel.None)
  )

const parsed = parse(
  process.argv.slice(2),
  cases.map(({ name }) => name)
)
if (parsed._tag === "Left") {
  process.stderr.write(`${parsed.left}\n\n${usage}\n`)
  process.exitCode = 2
} else if (parsed.right === "help") {
  process.stdout.write(`${usage}\n`)
} else if (parsed.right.list) {
  process.stdout.write(cases.map(({ name, title }) => `${name.padEnd(8)}${title}\n`).join(""))
} else {
  NodeRuntime.runMain(run(parsed.right), {
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      Runtime.defaultTeardown(exit, (code) => onExit(Exit.isInterrupted(exit) ? interrupted : code))
  })
}
