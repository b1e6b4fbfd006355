// `npm run bench`: Linkmint beside references, measured on this machine.

import { Console, Effect, Logger, LogLevel } from "effect"
import { runCommand, Wrong } from "../src/terminal/MainProgram.ts"
import { type Arguments, parse, usage } from "./Arguments.ts"
import * as Bench from "./Bench.ts"
import { isMet } from "./Case.ts"
import { cases } from "./Cases.ts"
import { summary } from "./Report.ts"

const run = ({ cases: chosen, quick, upgradedLinks, write }: Arguments) =>
  Effect.gen(function* () {
    const wanted = chosen.length === 0 ? cases : cases.filter(({ name }) => chosen.includes(name))
    const report = yield* Effect.scoped(Bench.run({ cases: wanted, quick, upgradedLinks }))
    yield* Console.log(`\n${summary(report.results)}`)
    // A part of the cases would take the place of all.
    if (write && chosen.length === 0) {
      yield* Console.log(`Written: ${Bench.write(report).join(", ")}`)
    }
    // Short runs tell whether all works, not how fast it is.
    const isGood = report.results.every((result) => (quick ? result.found !== null : isMet(result)))
    if (!isGood) return yield* new Wrong()
  }).pipe(
    Effect.tapErrorTag("Unavailable", (error) =>
      Console.error(`The benchmark could not run. ${error.message}`)
    ),
    Logger.withMinimumLogLevel(LogLevel.None)
  )

const list = Console.log(cases.map(({ name, title }) => `${name.padEnd(10)}${title}`).join("\n"))

runCommand(
  parse(
    process.argv.slice(2),
    cases.map(({ name }) => name)
  ),
  usage,
  (options) => (options.list ? list : run(options))
)
