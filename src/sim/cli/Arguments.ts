import { Either } from "effect"
import { read, whole } from "./CommandLine.ts"
import { Level } from "./Options.ts"
import { type PresetName, presets } from "../presets/Presets.ts"
import * as ExitCode from "../report/ExitCode.ts"

/** Which runs to make. */
export interface Arguments {
  /** The first seed, and how many. */
  readonly from: number
  readonly seeds: number
  readonly preset: PresetName
  readonly level: Level
  /** How many databases have links, whatever the preset draws. */
  readonly databases: number | undefined
  /** What is different from the preset: JSON, or the path of a file with it. */
  readonly options: string | undefined
  /** Whether to choose seeds that may bring faults and operations together that have not met yet, each among eight. */
  readonly steer: boolean
  /** How many runs go on side by side. */
  readonly jobs: number
  /** Whether it is one seed, of which more can be told. */
  readonly isSingle: boolean
  /** Whether to print everything that happens. */
  readonly trace: boolean
  /** Whether to look for a smaller run that breaks the same promise, in so many tries at most. */
  readonly shrink: boolean
  readonly tries: number
  /** Files for the reports. */
  readonly json: string | undefined
  readonly html: string | undefined
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
  --databases N    how many databases have links, 1 to 4, between which their buckets move where there are several
                   (default: as the preset draws it)
  --options JSON   what is different from the preset, such as '{"nodes":2,"faults":{"kill":{"perMinute":9}}}',
                   or a file with that
  --jobs N         runs side by side, 1 to 64 (default 2)
  --steer          of eight seeds each run the one that is most likely to bring a fault and an operation together
                   that have not met yet
  --json FILE      write a report for programs
With --seed:
  --trace          print everything that happens
  --html FILE      write a page that shows the run
  --shrink         look for the shortest run with the fewest faults that still breaks the same promise
  --tries N        how many runs --shrink makes at most, 1 to 10000 (default 200)
  --help           print this

Exit status:
${ExitCode.told.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join("\n")}`

const optionsKnown = {
  from: { type: "string", default: "1" },
  seeds: { type: "string", default: "100" },
  seed: { type: "string" },
  preset: { type: "string", default: "swarm" },
  level: { type: "string", default: "actors" },
  databases: { type: "string" },
  options: { type: "string" },
  jobs: { type: "string", default: "2" },
  json: { type: "string" },
  html: { type: "string" },
  steer: { type: "boolean", default: false },
  trace: { type: "boolean", default: false },
  shrink: { type: "boolean", default: false },
  tries: { type: "string", default: "200" },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Seeds are whole numbers up to this. */
const seedMax = 2 ** 32 - 1

const among = <A extends string>(
  name: string,
  known: ReadonlyArray<A>,
  text: string
): Either.Either<A, string> => {
  const found = known.find((one) => one === text)
  return found === undefined
    ? Either.left(`--${name} knows ${known.join(", ")}, not "${text}"`)
    : Either.right(found)
}

/** Understands the arguments; gives `"help"` where that is asked for. What is wrong comes as one sentence. */
export const parse = (args: ReadonlyArray<string>): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* read(args, optionsKnown)
    if (values.help) return "help" as const
    const isSingle = values.seed !== undefined
    const single = (["trace", "shrink", "html"] as const).find((name) => values[name])
    if (!isSingle && single !== undefined) return yield* Either.left(`--${single} needs --seed`)
    const { databases, html, json, options, shrink, steer, trace } = values
    const common = {
      preset: yield* among("preset", names, values.preset),
      level: yield* among("level", Level.literals, values.level),
      tries: yield* whole("tries", values.tries, 1, 10_000),
      isSingle,
      databases: databases === undefined ? undefined : yield* whole("databases", databases, 1, 4),
      options,
      steer,
      trace,
      shrink,
      json,
      html
    }
    const jobs = yield* whole("jobs", values.jobs, 1, 64)
    if (values.seed !== undefined) {
      return { ...common, from: yield* whole("seed", values.seed, 0, seedMax), seeds: 1, jobs: 1 }
    }
    const seeds = yield* whole("seeds", values.seeds, 1, 10_000_000)
    return { ...common, from: yield* whole("from", values.from, 0, seedMax - seeds), seeds, jobs }
  })
