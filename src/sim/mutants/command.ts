import { Console, Effect, Either } from "effect"
import * as Progress from "../../terminal/Progress.ts"
import { type Command, type CommandFailed, misused, workerCrashed } from "../cli/Command.ts"
import { namesAmong, read, seedsOf } from "../cli/CommandLine.ts"
import * as Thread from "../cli/Thread.ts"
import { exitCode } from "../report/ExitCode.ts"
import { mutants } from "./all.ts"
import type { Hunted } from "./hunt.ts"

/** What a thread is to do: hunt mutants through so many seeds at most, from `from` on. */
export interface HuntOrder {
  readonly names: ReadonlyArray<string>
  readonly from: number
  readonly seeds: number
  /** How many of them threads have begun, as a number of 32 bits: all threads take theirs from the same names. */
  readonly begun: SharedArrayBuffer
}

/** What a thread tells of a mutant. */
export interface Told extends Hunted {
  readonly seconds: number
}

const usage = `Usage: npm run sim -- mutants [options]

Breaks the product in the simulation in one way after the other, and runs seeds until the checker that it is meant for finds it.

  --from N     the first seed (default 1)
  --seeds N    how many seeds a mutant may take, 1 to 100000 (default 200)
  --jobs N     mutants side by side, 1 to 64 (default 2)
  --name NAME  this one alone, or several, each with --name
  --list       say what each breaks, and run nothing
  --help       print this

Exit status:
    0  every mutant was caught
    1  one was not
    2  the arguments are not usable`

const options = {
  from: { type: "string", default: "1" },
  seeds: { type: "string", default: "200" },
  jobs: { type: "string", default: "2" },
  name: { type: "string", multiple: true },
  list: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false }
} as const

const parse = (args: ReadonlyArray<string>) =>
  Either.gen(function* () {
    const { from, help, jobs, list, name, seeds } = yield* read(args, options)
    const known = mutants.map((mutant) => mutant.name)
    return {
      help,
      list,
      names: yield* namesAmong(known, name),
      ...(yield* seedsOf({ from, seeds, jobs }))
    }
  })

const work = (order: HuntOrder, told: (hunted: Told) => void): Effect.Effect<void, CommandFailed> =>
  Effect.mapError(Thread.run(new URL("worker.js", import.meta.url), order, told), workerCrashed)

const nameWidth = Math.max(...mutants.map(({ name }) => name.length))

/** A row of the table: how many seeds it took, which one it was, how long that took, and who else found something. */
const rowOf = ({ checker, name, others, seconds, seed, seeds }: Told): ReadonlyArray<string> => [
  name,
  String(seeds),
  seed === undefined ? "-" : String(seed),
  seconds.toFixed(1),
  seed === undefined ? `NOT CAUGHT by ${checker}` : checker,
  others.join(", ")
]

const widths = [nameWidth, -6, -8, -7, 17, 0]

const lined = (cells: ReadonlyArray<string>): string =>
  cells
    .map((cell, column) => {
      const width = widths[column]!
      return width < 0 ? cell.padStart(-width) : cell.padEnd(width)
    })
    .join("  ")
    .trimEnd()

/** Hunts mutants side by side, on threads that take one after the other, and tells of each that is done. */
const huntAll = Effect.fn("huntAll")(function* (
  names: ReadonlyArray<string>,
  { from, jobs, seeds }: Readonly<Record<"from" | "jobs" | "seeds", number>>
) {
  const hunted: Array<Hunted> = []
  const progress = yield* Progress.make({ all: names.length, unit: "mutants", hasRate: false })
  progress.print(lined(["mutant", "seeds", "seed", "seconds", "caught by", "also found by"]))
  const begun = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const thread = work({ names, from, seeds, begun }, (one) => {
    hunted.push(one)
    progress.print(lined(rowOf(one)))
    progress.update(hunted.length)
  })
  yield* Effect.all(
    Array.from({ length: Math.min(jobs, names.length) }, () => thread),
    { concurrency: "unbounded", discard: true }
  )
  return hunted
}, Effect.scoped)

/** `npm run sim -- mutants`: see its usage. Gives 1 when a mutant was not caught. */
export const command: Command = (args) =>
  Effect.gen(function* () {
    const { from, help, jobs, list, names, seeds } = yield* Effect.mapError(parse(args), (text) =>
      misused(text, usage)
    )
    if (help) return yield* Effect.as(Console.log(usage), exitCode.kept)
    if (list) {
      for (const { checker, name, promise, text } of mutants)
        yield* Console.log(`${name.padEnd(nameWidth)}  ${promise.padEnd(8)}  ${checker.padEnd(16)}  ${text}`)
      return exitCode.kept
    }
    const hunted = yield* huntAll(names, { from, seeds, jobs })
    const free = hunted.filter(({ seed }) => seed === undefined).length
    yield* Console.log(
      free === 0
        ? `All ${hunted.length} mutants were caught.`
        : `${free} of ${hunted.length} mutants were not caught.`
    )
    return free === 0 ? exitCode.kept : exitCode.unexpected
  })
