import { FileSystem } from "@effect/platform"
import { Console, Effect, Either } from "effect"
import * as Progress from "../../terminal/Progress.ts"
import { type Arguments, parse, usage } from "./Arguments.ts"
import * as Changes from "../clients/Changes.ts"
import { type Command, CommandFailed, misused, workerCrashed } from "./Command.ts"
import * as Fleet from "../deployment/Fleet.ts"
import type { SimOptions } from "./Options.ts"
import * as BrokenSeedText from "../report/BrokenSeedText.ts"
import { commit } from "../report/Commit.ts"
import * as ExitCode from "../report/ExitCode.ts"
import { type BrokenSeed, encode } from "../report/JsonReport.ts"
import { pageOf } from "../report/page/Page.ts"
import { commandOf } from "../report/Replay.ts"
import { pathOf, write } from "../report/Written.ts"
import { run, type RunResult } from "../Run.ts"
import { checkedOptionsOf, type Mix, optionsOf, reportOf, type SeedReport, unchanged } from "./SeedReport.ts"
import { Steering } from "./Steering.ts"
import { shrink } from "./Shrink.ts"
import * as Summary from "./Summary.ts"

/** Seeds that broke a promise that are told in full at most. */
const toldMax = 20

/** With `--steer`: among how many seeds each is chosen, and how many are run before the next ones are chosen. */
const choiceOf = 8
const steeredMax = 25

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

/** What is the same for all that is told of a run of the program. */
interface Session {
  readonly options: Arguments
  readonly mix: Mix
  readonly commit: string
  readonly started_ms: number
}

const crashed = (seed: number, mix: Mix) => (error: unknown) =>
  new CommandFailed({
    code: ExitCode.exitCode.crashed,
    message: `A simulation crashed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\nAgain with: ${commandOf(seed, mix)}`
  })

const simulated = (seed: number, mix: Mix): Effect.Effect<RunResult, CommandFailed> =>
  Effect.try({ try: () => run(seed, optionsOf(mix, seed), { keepTrace: true }), catch: crashed(seed, mix) })

/** Reads `--options`, and sees whether they fit. */
const mixOf = ({ databases, from, level, options, preset }: Arguments) =>
  Effect.gen(function* () {
    if (options === undefined) return { preset, level, databases, changes: {} }
    const fileSystem = yield* FileSystem.FileSystem
    const unusable = (text: string) => misused(`--options is not usable: ${text}`, usage)
    const text = options.trimStart().startsWith("{")
      ? options
      : yield* Effect.mapError(fileSystem.readFileString(yield* pathOf(options)), ({ message }) =>
          unusable(message)
        )
    const changes = yield* Effect.mapError(Changes.parse(text), unusable)
    const mix: Mix = { preset, level, databases, changes }
    yield* Effect.mapError(checkedOptionsOf(mix, from), unusable)
    return mix
  })

const written = (
  { commit, mix, options, started_ms }: Session,
  summary: Summary.Summary,
  broken: ReadonlyArray<BrokenSeed>
) =>
  Effect.gen(function* () {
    const elapsed_s = ((yield* Effect.clock).unsafeCurrentTimeMillis() - started_ms) / 1_000
    const exitCode = ExitCode.codeOf(Object.keys(summary.violations))
    yield* Console.log(`\n${Summary.told(summary, elapsed_s)}`)
    if (options.json !== undefined) {
      const { from, seeds } = options
      const report = {
        commit,
        node: process.version,
        ...mix,
        from,
        seeds,
        elapsed_s,
        exitCode,
        summary,
        broken
      }
      yield* write(options.json, encode({ format: "linkmint-simulation/1", ...report }))
    }
    return exitCode
  })

const brokenOf = (report: SeedReport, mix: Mix): BrokenSeed => ({
  ...report,
  options: optionsOf(mix, report.seed),
  replay: commandOf(report.seed, mix)
})

/** Many seeds, side by side. */
const many = (session: Session) =>
  Effect.gen(function* () {
    const { commit, mix, options } = session
    const summary = Summary.empty()
    const broken: Array<BrokenSeed> = []
    const progress = yield* Progress.make({ all: options.seeds, unit: "seeds" })
    const { from, jobs, seeds, steer } = options
    const steering = new Steering((seed) => optionsOf(mix, seed))
    const told = (report: SeedReport) => {
      Summary.count(summary, report)
      steering.learn(report)
      progress.update(summary.seeds)
      if (report.violations.length === 0 || broken.length >= toldMax) return
      broken.push(brokenOf(report, mix))
      progress.log(BrokenSeedText.told(report, mix, commit))
    }
    const atOnce = steer ? steeredMax : seeds
    for (let run = 0; run < seeds; run += atOnce) {
      const count = Math.min(atOnce, seeds - run)
      const chosen = steer
        ? steering.choose(numbers(from + run * choiceOf, count * choiceOf), count, summary)
        : numbers(from, seeds)
      yield* Fleet.run({ jobs, mix, seeds: chosen }, told)
    }
    return { summary, broken }
  }).pipe(
    Effect.scoped,
    Effect.mapError(workerCrashed),
    Effect.flatMap(({ broken, summary }) => written(session, summary, broken))
  )

const printTrace = ({ digest, events }: RunResult) =>
  Effect.sync(() => {
    for (const { at_us, detail, kind, who } of events) {
      process.stdout.write(`${(at_us / 1e6).toFixed(6)} ${who} ${kind} ${detail}\n`)
    }
    process.stdout.write(`digest ${digest}\n`)
  })

/** What makes these options of a seed, in the fewest words. */
const shortest = (seed: number, options: SimOptions, presets: ReadonlyArray<Mix["preset"]>): Mix =>
  presets
    .map((preset) => {
      const base = unchanged({ preset, level: options.level }, seed)
      return { preset, level: options.level, changes: Changes.between(base, options) }
    })
    .reduce((one, other) =>
      JSON.stringify(other.changes).length < JSON.stringify(one.changes).length ? other : one
    )

/** The mix whose run is the smallest found that breaks the same promise. */
const smallest = ({ mix, options: { from: seed, tries } }: Session) =>
  Effect.gen(function* () {
    const { violations } = yield* simulated(seed, mix)
    const checker = violations[0]?.checker
    if (checker === undefined) {
      const message = `Seed ${seed} breaks no promise: there is nothing to shrink.`
      return yield* new CommandFailed({ code: ExitCode.exitCode.nothingToShrink, message })
    }
    yield* Console.error(`Shrinking seed ${seed} as long as this is broken: ${checker}`)
    const progress = yield* Progress.make({ all: tries, unit: "runs" })
    const breaks = (options: SimOptions) =>
      Either.try(() => run(seed, options)).pipe(
        Either.match({
          // What crashes is another matter.
          onLeft: () => false,
          onRight: (result) => result.violations.some((violation) => violation.checker === checker)
        })
      )
    const shrunk = yield* shrink(optionsOf(mix, seed), breaks, tries, progress.update)
    return { shrunk, mix: shortest(seed, shrunk.options, [mix.preset, "calm"]) }
  }).pipe(Effect.scoped)

/** One seed, of which more is told. */
const one = (session: Session) =>
  Effect.gen(function* () {
    const { commit, options } = session
    const { from: seed, html, trace } = options
    const found = options.shrink ? yield* smallest(session) : undefined
    const mix = found?.mix ?? session.mix
    const result = yield* simulated(seed, mix)
    if (trace) yield* printTrace(result)
    const report = reportOf(result, () => result)
    const summary = Summary.empty()
    Summary.count(summary, report)
    const isBroken = report.violations.length > 0
    if (isBroken) yield* Console.error(BrokenSeedText.told(report, mix, commit))
    if (found !== undefined) {
      const { steps, tries } = found.shrunk
      yield* Console.log(`\nShrunk in ${steps} steps and ${tries} runs, to the preset ${mix.preset} with:`)
      yield* Console.log(JSON.stringify(mix.changes, null, 2))
      yield* Console.log(`\nAgain with:\n${commandOf(seed, mix)}`)
    }
    if (html !== undefined) yield* write(html, pageOf(result, report, mix, commit))
    return yield* written({ ...session, mix }, summary, isBroken ? [brokenOf(report, mix)] : [])
  })

/** Runs seeds, and tells what was found. */
export const command: Command = (args) =>
  Effect.gen(function* () {
    const options = yield* Effect.mapError(parse(args), (message) => misused(message, usage))
    if (options === "help") {
      yield* Console.log(usage)
      return ExitCode.exitCode.kept
    }
    const session = {
      options,
      mix: yield* mixOf(options),
      commit: yield* commit,
      started_ms: (yield* Effect.clock).unsafeCurrentTimeMillis()
    }
    return yield* options.isSingle ? one(session) : many(session)
  })
