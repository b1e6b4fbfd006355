import { Either } from "effect"
import { parseArgs } from "node:util"
import { Level } from "./Options.ts"
import { type PresetName, presets } from "./Presets.ts"

/** Which runs to make. */
export interface Arguments {
  /** The first seed, and how many. */
  readonly from: number
  readonly seeds: number
  readonly preset: PresetName
  readonly level: Level
  /** How many runs go on side by side. */
  readonly jobs: number
  /** Whether to print everything that happens. */
  readonly trace: boolean
}

const names = Object.keys(presets) as ReadonlyArray<PresetName>

/** What `--help` prints. */
export const usage = `Usage: npm run sim -- [options]

Runs deployments of the real actors and HTTP handlers in virtual time, under faults that follow from a seed, and checks what Linkmint promises.

  --from N         the first seed (default 1)
  --seeds N        how many seeds (default 100)
  --seed N         this seed alone
  --preset NAME    which faults: ${names.join(", ")} (default swarm)
  --level NAME     who places the actors: actors, an adversary, or cluster, the production stack (default actors)
  --jobs N         runs side by side, 1 to 64 (default 2)
  --trace          print everything that happens in a seed (with --seed)
  --help           print this

Ends with a summary and one line of JSON. Exits with 1 where a promise was broken, with 2 where the arguments are not usable.`

const options = {
  from: { type: "string", default: "1" },
  seeds: { type: "string", default: "100" },
  seed: { type: "string" },
  preset: { type: "string", default: "swarm" },
  level: { type: "string", default: "actors" },
  jobs: { type: "string", default: "2" },
  trace: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Seeds are whole numbers up to this. */
const seedMax = 2 ** 32 - 1

const whole = (name: string, text: string, least: number, most: number): Either.Either<number, string> => {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most
    ? Either.right(value)
    : Either.left(`--${name} must be a whole number from ${least} to ${most}, not "${text}"`)
}

const presetOf = (text: string): Either.Either<PresetName, string> => {
  const name = names.find((known) => known === text)
  return name === undefined
    ? Either.left(`--preset knows ${names.join(", ")}, not "${text}"`)
    : Either.right(name)
}

const levelOf = (text: string): Either.Either<Level, string> => {
  const level = Level.literals.find((known) => known === text)
  return level === undefined
    ? Either.left(`--level knows ${Level.literals.join(", ")}, not "${text}"`)
    : Either.right(level)
}

const read = (args: ReadonlyArray<string>) =>
  Either.try({
    try: () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values,
    // Node explains how to pass what looks like an option, too: one sentence is enough.
    catch: (error) => (error instanceof Error ? error.message.split(/\. (?=[A-Z])/)[0]! : String(error))
  })

/** Understands the arguments; gives `"help"` where that is asked for. What is wrong comes as one sentence. */
export const parse = (args: ReadonlyArray<string>): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* read(args)
    if (values.help) return "help" as const
    if (values.trace && values.seed === undefined) return yield* Either.left("--trace needs --seed")
    const preset = yield* presetOf(values.preset)
    const level = yield* levelOf(values.level)
    const jobs = yield* whole("jobs", values.jobs, 1, 64)
    const { trace } = values
    if (values.seed !== undefined) {
      return { from: yield* whole("seed", values.seed, 0, seedMax), seeds: 1, preset, level, jobs: 1, trace }
    }
    const seeds = yield* whole("seeds", values.seeds, 1, 10_000_000)
    return { from: yield* whole("from", values.from, 0, seedMax - seeds), seeds, preset, level, jobs, trace }
  })
