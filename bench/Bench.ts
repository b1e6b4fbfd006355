// A run: one case after the other, each whether or not those before it worked.

import { Cause, DateTime, Duration, Effect, type Scope } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { inRepository } from "../cluster/Repository.ts"
import * as Progress from "../src/terminal/Progress.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Case, Result } from "./Case.ts"
import * as Ground from "./Ground.ts"
import * as Machine from "./Machine.ts"
import * as Report from "./Report.ts"

/** Nothing takes longer that works. */
const caseMax = Duration.minutes(8)

const failureOf = (cause: Cause.Cause<Unavailable>): string =>
  Cause.isInterruptedOnly(cause) ? "it was interrupted" : (Cause.prettyErrors(cause)[0]?.message ?? "unknown")

/** One case, with all that it starts; what goes wrong is its result. */
const runCase = (ground: Ground.Ground, { name, run, title }: Case): Effect.Effect<Result> =>
  run(ground).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: caseMax,
      onTimeout: () => new Unavailable({ reason: `it took more than ${Duration.format(caseMax)}` })
    }),
    Effect.map((found) => ({ found, failure: null })),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.interrupt
        : Effect.succeed({ found: null, failure: failureOf(cause) })
    ),
    Effect.timed,
    Effect.map(([lasted, end]) => ({ name, title, seconds: Duration.toSeconds(lasted), ...end }))
  )

/** Runs cases on servers of their own, and tells of each when it has ended. */
export const run = Effect.fn("Bench.run")(function* (options: {
  readonly cases: ReadonlyArray<Case>
  readonly quick: boolean
  readonly upgradedLinks: number
}): Effect.fn.Return<Report.Report, Unavailable, Scope.Scope> {
  const at = DateTime.formatIso(yield* DateTime.now)
  const progress = yield* Progress.make({ all: options.cases.length, unit: "cases", hasRate: false })
  const notify = (line: string) => Effect.sync(() => progress.log(line))
  const ground = yield* Ground.make({ quick: options.quick, upgradedLinks: options.upgradedLinks, notify })
  const machine = yield* Machine.read(ground.load.program)
  if (machine.busy > 1 && !options.quick) {
    yield* notify(`The machine is busy (load ${machine.busy}): figures will be too low, and ratios unsure.`)
  }
  const [lasted, results] = yield* Effect.timed(
    Effect.forEach(
      options.cases,
      Effect.fn("Bench.case")(function* (one, index) {
        yield* notify(`${one.name} …`)
        const result = yield* runCase(ground, one)
        progress.print(`\n${Report.told(result)}`)
        progress.update(index + 1)
        return result
      })
    )
  )
  const postgres = yield* Effect.orElseSucceed(ground.postgresVersion, () => "none")
  return { at, machine: { ...machine, postgres }, seconds: Duration.toSeconds(lasted), results }
})

/** Writes a run's file of results, and its part of BENCHMARKS.md; gives the files. */
export const write = (report: Report.Report): ReadonlyArray<string> => {
  const folder = inRepository("bench/results")
  const file = join(folder, `${report.at.slice(0, 10)}.json`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  const document = inRepository("BENCHMARKS.md")
  const before = existsSync(document) ? readFileSync(document, "utf8") : "# Benchmarks\n"
  writeFileSync(document, Report.inserted(before, Report.markdown(report)))
  return [file, document]
}
