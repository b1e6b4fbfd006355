import { Console, Effect, Either, Schema } from "effect"
import * as Progress from "../../terminal/Progress.ts"
import { type Command, type CommandFailed, misused, workerCrashed } from "../cli/Command.ts"
import { namesAmong, read, seedsOf } from "../cli/CommandLine.ts"
import * as Thread from "../cli/Thread.ts"
import { commit } from "../report/Commit.ts"
import { exitCode } from "../report/ExitCode.ts"
import { write } from "../report/Written.ts"
import { type Result, tableOf } from "./Columns.ts"
import { contestants, optionsOf } from "./Contestants.ts"
import { add, Figures, none } from "./Figures.ts"
import { orderOf } from "./Guesser.ts"
import { pageOf } from "./Page.ts"
import type { Compared, CompareOrder } from "./worker.ts"

const usage = `Usage: npm run sim -- compare [options]

Runs every design of key generation, and designs that are broken on purpose, through the same seeds and faults, and compares what came of them.

  --from N     the first seed (default 1)
  --seeds N    how many seeds, 1 to 100000 (default 100)
  --jobs N     runs side by side, 1 to 64 (default 2)
  --name NAME  this design alone, or several, each with --name
  --json FILE  write the figures for programs
  --html FILE  write a page with plots
  --list       say what each design is, and run nothing
  --help       print this

Exit status:
    0  all runs were made
    1  the default design broke a promise
    2  the arguments are not usable
    3  a simulation itself crashed
    5  a report could not be written`

const options = {
  from: { type: "string", default: "1" },
  seeds: { type: "string", default: "100" },
  jobs: { type: "string", default: "2" },
  name: { type: "string", multiple: true },
  json: { type: "string" },
  html: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false }
} as const

const parse = (args: ReadonlyArray<string>) =>
  Either.gen(function* () {
    const { from, jobs, name, seeds, ...others } = yield* read(args, options)
    const known = contestants.map((contestant) => contestant.name)
    return {
      ...others,
      names: yield* namesAmong(known, name),
      ...(yield* seedsOf({ from, seeds, jobs }))
    }
  })

const work = (order: CompareOrder, told: (compared: Compared) => void): Effect.Effect<void, CommandFailed> =>
  Effect.mapError(Thread.run(new URL("worker.js", import.meta.url), order, told), workerCrashed)

/** Runs all of them, on threads of their own that have every n-th seed each. */
const compareAll = Effect.fn("compareAll")(function* ({
  jobs,
  ...order
}: Omit<CompareOrder, "first" | "step"> & { readonly jobs: number }) {
  const { names, seeds } = order
  const progress = yield* Progress.make({ all: names.length * seeds, unit: "runs" })
  const figures = new Map(names.map((name) => [name, none()]))
  const guessed = new Map<string, number>()
  let runs = 0
  yield* Effect.forEach(
    Array.from({ length: jobs }, (_, index) => index),
    (first) =>
      work({ ...order, first, step: jobs }, (compared) => {
        if ("guessed" in compared) return void guessed.set(compared.order, compared.guessed)
        add(figures.get(compared.name)!, compared.figures)
        progress.update(++runs)
      }),
    { concurrency: "unbounded", discard: true }
  )
  return contestants
    .filter(({ name }) => names.includes(name))
    .map((contestant): Result => {
      const { name } = contestant
      return { contestant, figures: figures.get(name)!, guessed: guessed.get(orderOf(contestant))! }
    })
}, Effect.scoped)

/** What `--json FILE` writes. */
export const CompareReport = Schema.Struct({
  format: Schema.Literal("linkmint-comparison/1"),
  commit: Schema.String,
  from: Schema.Number,
  seeds: Schema.Number,
  designs: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      title: Schema.String,
      isBroken: Schema.Boolean,
      /** All options of its runs. */
      options: Schema.Unknown,
      figures: Figures,
      /** The share of a guesser's 1,000 guesses that came true, having seen 1,000 keys. */
      guessed: Schema.Number
    })
  )
})

/** `npm run sim -- compare`: see its usage. */
export const command: Command = (args) =>
  Effect.gen(function* () {
    const asked = yield* Effect.mapError(parse(args), (text) => misused(text, usage))
    const { from, help, html, json, list, seeds } = asked
    if (help) return yield* Effect.as(Console.log(usage), exitCode.kept)
    if (list) {
      for (const { name, title } of contestants) yield* Console.log(`${name.padEnd(30)}${title}`)
      return exitCode.kept
    }
    const results = yield* compareAll(asked)
    const origin = { from, seeds, commit: yield* commit }
    yield* Console.log(tableOf(results))
    if (json !== undefined) {
      const designs = results.map(({ contestant, figures, guessed }) => {
        const { isBroken, name, title } = contestant
        return { name, title, isBroken, options: optionsOf(contestant), figures, guessed }
      })
      const report = { format: "linkmint-comparison/1" as const, ...origin, designs }
      const encoded = yield* Effect.orDie(Schema.encode(CompareReport)(report))
      yield* write(json, `${JSON.stringify(encoded, null, 2)}\n`)
    }
    if (html !== undefined) yield* write(html, pageOf(results, origin))
    const [first] = results
    return first?.contestant.name === "default" && first.figures.brokenSeeds > 0
      ? exitCode.unexpected
      : exitCode.kept
  })
