// What the command line of `npm run chaos -- databases` says.

import { Either } from "effect"
import { number, optionsFrom, pathFrom } from "../Arguments.ts"

/** How to try a deployment over several databases. */
export interface Arguments {
  /** Links that are in the databases before the load. */
  readonly links: number
  /** How long one database is away, in seconds. */
  readonly away_s: number
  /** How long there is load before the first move, and after the database is back, in seconds. */
  readonly calm_s: number
  readonly requestsPerSecond: number
  /** Clients of each operation: what is under way at once is bounded by them, so that a slow machine is asked less. */
  readonly clients: number
  /** The folder that keeps the servers' logs; null: none does. */
  readonly logs: string | null
}

/** What `--help` prints. */
export const usage = `Usage: npm run chaos -- databases [options]

Starts three nodes with links in four databases, each on a server of its own. Under load the links of one database are moved to the
others and back, while the mover and nodes are killed. Then one database is killed and comes back. Checks what Linkmint promises.

  --links N    links that are in the databases before, 1,000 to 40,000,000 (default 4,000,000)
  --away N     how many seconds one database is away, 2 to 600 (default 60)
  --calm N     how many seconds there is load before the moves, and after the database is back, 2 to 600 (default 2)
  --rate N     requests a second, 10 to 10,000 (default 100)
  --clients N  clients of each of the seven kinds of requests, 1 to 256 (default 16)
  --logs DIR   keep the logs of all servers in DIR
  --help       print this

Ends with tables and one line of JSON. Exits with 1 where a promise was broken, with 2 where the arguments are not usable.`

const options = {
  links: { type: "string", default: "4000000" },
  away: { type: "string", default: "60" },
  calm: { type: "string", default: "2" },
  rate: { type: "string", default: "100" },
  clients: { type: "string", default: "16" },
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
      calm_s: Math.max(2, yield* number("calm", values.calm, /^\d{1,3}$/, 600)),
      requestsPerSecond: Math.max(10, yield* number("rate", values.rate, /^\d{1,5}$/, 10_000)),
      clients: Math.max(1, yield* number("clients", values.clients, /^\d{1,3}$/, 256)),
      logs: pathFrom(cwd, values.logs)
    }
  })
