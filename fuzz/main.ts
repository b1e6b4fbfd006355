// `npm run fuzz`: the service under requests of every kind, and what must hold whatever is sent.

import { Console, Effect, Logger, LogLevel } from "effect"
import { randomInt } from "node:crypto"
import { runCommand, Wrong } from "../src/terminal/MainProgram.ts"
import { type Arguments, parse, seedMax, usage } from "./Arguments.ts"
import * as Fuzz from "./Fuzz.ts"
import * as Heads from "./Heads.ts"
import * as Urls from "./Urls.ts"
import { findingsOf, told } from "./Report.ts"

/** Compares the two parsers of plain GETs, or of URLs. */
const compare = (seed: number, option: string, count: number, report: Heads.HeadsReport | Urls.UrlsReport) =>
  Effect.gen(function* () {
    yield* Console.error(`Seed ${seed} (again with --seed ${seed} --${option} ${count})`)
    yield* Console.log(`${count} ${option}, ${report.plain} of them plain`)
    yield* Console.log(JSON.stringify(report))
    if (report.faults.length > 0) return yield* new Wrong()
  })

const run = (options: Arguments) => {
  const { heads, seed, urls } = options
  if (heads !== null) return compare(seed, "heads", heads, Heads.compare(seed, heads))
  if (urls !== null) return compare(seed, "urls", urls, Urls.compare(seed, urls))
  return tryService(options)
}

const tryService = (options: Arguments) =>
  Effect.gen(function* () {
    yield* Console.error(
      `Seed ${options.seed} (again with --seed ${options.seed} --requests ${options.requests})`
    )
    const report = yield* Effect.scoped(Fuzz.run(options))
    yield* Console.log(told(report))
    yield* Console.log(JSON.stringify(report))
    if (findingsOf(report).length > 0) return yield* new Wrong()
  }).pipe(
    Effect.tapErrorTag("Unavailable", (error) => Console.error(`The run could not go on. ${error.message}`)),
    Logger.withMinimumLogLevel(LogLevel.None)
  )

runCommand(parse(process.argv.slice(2), randomInt(seedMax)), usage, run)
