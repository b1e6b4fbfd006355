// What the command line of `npm run chaos -- databases` says.

import { Either } from "effect"
import { number, optionsFrom, pathFrom } from "../Arguments.ts"

/** How to try a deployment over several databases. */
export interface Arguments {
  /** Links that are in the databases before the load. */
  readonly links: number
  /** How long one database is away, in seconds. */
  readonly away_s: number
  /** The folder that keeps the servers' logs; null: none does. */
  readonly logs: string | null
}

/** What `--help` prints. */
export const usage = `Usage: npm run chaos -- databases [options]

Starts three nodes with links in four databases, each on a server of its own. Under load the links of one database are moved to the
others and back, while the mover and nodes are killed. Then one database is killed and comes back. Checks what Linkmint promises.

  --links N    links that are in the databases before, 1,000 to 40,000,000 (default 4,000,000)
  --away N     how many seconds one database is away, 2 to 600 (default 60)
  --logs DIR   keep the logs of all servers in DIR
  --help       print this

Ends with tables and one line of JSON. Exits with 1 where a promise was broken, with 2 where the arguments are not usable.`

const options = {
  links: { type: "string", default: "4000000" },
  away: { type: "string", default: "60" },
  logs: { type: "string" },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Understands the arguments, relative paths from `cwd` on. Gives `"help"` where that is asked for; what is wrong comes as one sentence. */
export const parse = (args: ReadonlyArray<string>, cwd: string): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* optionsFrom(args, options)
    if (values.help) return "help" as const
    return {
      links: Math.max(1_000, yield* number("links", values.links, /^\d{1,8}$/, 40_000_000)),
      away_s: Math.max(2, yield* number("away", values.away, /^\d{1,3}$/, 600)),
      logs: pathFrom(cwd, values.logs)
    }
  })
