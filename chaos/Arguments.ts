// What the command line of `npm run chaos` says.

import { Either } from "effect"
import { isAbsolute, resolve } from "node:path"
import { parseArgs, type ParseArgsConfig } from "node:util"
import type { StandbyMode } from "../cluster/Patroni.ts"
import { type FaultKind, faultKinds, kindsFor } from "./FaultKind.ts"

/** How to torment a cluster. */
export interface Arguments {
  /** How long faults go on, in minutes; those of the first round all come, however long they take. */
  readonly minutes: number
  /** Decides the faults: which, of what, and when. */
  readonly seed: number
  readonly faults: ReadonlyArray<FaultKind>
  /** Whether PostgreSQL has a standby under Patroni, and whether commits wait for it; null: one server. */
  readonly standby: StandbyMode | null
  /** How long a node stands still that is frozen inside a transaction, in seconds. */
  readonly freeze_s: number
  /** What nodes run instead of this program: the path of another build's `main.js`. */
  readonly program: string | null
  /** The folder that keeps the servers' logs; null: none does. */
  readonly logs: string | null
}

/** What `--help` prints. */
export const usage = `Usage: npm run chaos -- [options]
       npm run chaos -- databases [options]   links in several databases; see its --help

Starts a cluster on this machine, kills and pauses its servers under load, and checks what Linkmint promises.

  --minutes N      how long faults go on, 0 to 1440 (default 10); each kind comes at least once
  --seed N         decides the faults (default: drawn; it is printed first)
  --standby MODE   PostgreSQL has a standby, for which commits wait (sync, the default) or do not (async), or it is one server (none)
  --faults A,B     only these, of those that the cluster can be given: ${faultKinds.join(", ")}
  --freeze N       how many seconds a node stands still that is frozen at a statement, 1 to 600 (default 12)
  --program FILE   what nodes run instead of this build: the main.js of another one
  --logs DIR       keep the logs of all servers in DIR
  --help           print this

Ends with a table and one line of JSON. Exits with 1 where a promise was broken, with 2 where the arguments are not usable.`

const options = {
  minutes: { type: "string", default: "10" },
  seed: { type: "string" },
  faults: { type: "string" },
  standby: { type: "string", default: "sync" },
  freeze: { type: "string", default: "12" },
  program: { type: "string" },
  logs: { type: "string" },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Seeds are whole numbers up to this. */
export const seedMax = 2 ** 31 - 1

/** A number of an option, up to `max`, or one sentence about what is wrong with its text. */
export const number = (
  name: string,
  text: string,
  pattern: RegExp,
  max: number
): Either.Either<number, string> => {
  const value = pattern.test(text) ? Number(text) : Number.NaN
  return value <= max
    ? Either.right(value)
    : Either.left(`--${name} must be a number up to ${max}, not "${text}"`)
}

const standbyOf = (text: string): Either.Either<StandbyMode | null, string> =>
  text === "sync" || text === "async"
    ? Either.right(text)
    : text === "none"
      ? Either.right(null)
      : Either.left(`--standby must be sync, async or none, not "${text}"`)

const faultsOf = (
  text: string | undefined,
  standby: StandbyMode | null
): Either.Either<ReadonlyArray<FaultKind>, string> => {
  const possible = kindsFor(standby !== null)
  if (text === undefined) return Either.right(possible)
  const names = text.split(",").map((name) => name.trim())
  const wrong = names.find((name) => !possible.some((kind) => kind === name))
  return wrong === undefined
    ? Either.right(possible.filter((kind) => names.includes(kind)))
    : Either.left(`--faults knows ${possible.join(", ")}, not "${wrong}"`)
}

/** The options that a command line has, or one sentence about what is wrong with it. */
export const optionsFrom = <O extends NonNullable<ParseArgsConfig["options"]>>(
  args: ReadonlyArray<string>,
  options: O
) =>
  Either.try({
    try: () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values,
    // Node explains how to pass what looks like an option, too: one sentence is enough.
    catch: (error) => (error instanceof Error ? error.message.split(/\. (?=[A-Z])/)[0]! : String(error))
  })

/** A path that an option names, from `cwd` on where it is relative; null without one. */
export const pathFrom = (cwd: string, path: string | undefined): string | null =>
  path === undefined ? null : isAbsolute(path) ? path : resolve(cwd, path)

/**
 * Understands the arguments, relative paths from `cwd` on; `drawn` is the seed where none is given. Gives `"help"` where that is
 * asked for; what is wrong comes as one sentence.
 */
export const parse = (
  args: ReadonlyArray<string>,
  { cwd, drawn }: { readonly cwd: string; readonly drawn: number }
): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* optionsFrom(args, options)
    if (values.help) return "help" as const
    const standby = yield* standbyOf(values.standby)
    return {
      standby,
      freeze_s: Math.max(1, yield* number("freeze", values.freeze, /^\d{1,3}$/, 600)),
      minutes: yield* number("minutes", values.minutes, /^\d{1,4}(\.\d{1,3})?$/, 1_440),
      seed: values.seed === undefined ? drawn : yield* number("seed", values.seed, /^\d{1,10}$/, seedMax),
      faults: yield* faultsOf(values.faults, standby),
      program: pathFrom(cwd, values.program),
      logs: pathFrom(cwd, values.logs)
    }
  })
