// What the command line of `npm run bench` says.

import { Either } from "effect"
import { parseArgs } from "node:util"

/** What to run, and how. */
export interface Arguments {
  /** The cases to run; none: all. */
  readonly cases: ReadonlyArray<string>
  /** Short runs over small tables: whether all works, not how fast it is. */
  readonly quick: boolean
  readonly list: boolean
  /** Links in the database that the case `upgrade` upgrades, at least 1,000. */
  readonly upgradedLinks: number
  /** Whether to write a file of results, and BENCHMARKS.md. */
  readonly write: boolean
}

/** What `--help` prints. */
export const usage = `Usage: npm run bench -- [options]

Measures Linkmint beside references, on this machine, with PostgreSQL and Redis of its own. It takes about twenty minutes, in
which the machine should have nothing else to do.

  --case NAME   run this case alone; may be repeated
  --list        list the cases
  --quick       short runs over small tables: whether all works, not how fast it is
  --links N     links in the database of the case "upgrade": 1,000 to 100,000,000 (100,000 by default)
  --no-write    write neither bench/results nor BENCHMARKS.md (as with --quick)
  --help        print this`

const options = {
  case: { type: "string", multiple: true, default: [] },
  list: { type: "boolean", default: false },
  quick: { type: "boolean", default: false },
  links: { type: "string", default: "100000" },
  "no-write": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false }
} as const satisfies NonNullable<Parameters<typeof parseArgs>[0]>["options"]

const read = (args: ReadonlyArray<string>) =>
  Either.try({
    try: () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values,
    // Node explains how to pass what looks like an option, too: one sentence is enough.
    catch: (error) => (error instanceof Error ? error.message.split(/\. (?=[A-Z])/)[0]! : String(error))
  })

/** Understands the arguments, where these are the cases' names. What is wrong comes as one sentence. */
export const parse = (
  args: ReadonlyArray<string>,
  names: ReadonlyArray<string>
): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* read(args)
    if (values.help) return "help" as const
    const unknown = values.case.find((name) => !names.includes(name))
    if (unknown !== undefined) {
      return yield* Either.left(`--case must be one of ${names.join(", ")}, not "${unknown}"`)
    }
    const { list, quick } = values
    const upgradedLinks = /^\d{1,9}$/.test(values.links) ? Number(values.links) : 0
    if (upgradedLinks < 1_000 || upgradedLinks > 100_000_000) {
      return yield* Either.left(
        `--links must be a whole number from 1,000 to 100,000,000, not "${values.links}"`
      )
    }
    return { cases: values.case, quick, list, upgradedLinks, write: !quick && !values["no-write"] }
  })
