// What the command line of `npm run fuzz` says.

import { Either } from "effect"
import { parseArgs } from "node:util"

/** What to send, and how long. */
export interface Arguments {
  readonly requests: number
  readonly minutes: number
  /** Decides the requests. */
  readonly seed: number
  /** Whether the service has the limits of rates that it has by default: in a part of the run, unless told otherwise. */
  readonly limits: "part" | "with" | "without"
  /** Bytes of a hostile body at most. */
  readonly bytesMax: number
  /** Megabytes of the service's heap. */
  readonly memory_MB: number
  /** Time for an answer. */
  readonly hang_ms: number
  /** The most time that a redirect may wait for the event loop. */
  readonly stall_ms: number
  /** An empty PostgreSQL database to use in place of SQLite. */
  readonly database: string | null
  /** Chunks that the reader of plain GETs and Node's parser are to be compared over, and nothing else; `null` where the service is tried. */
  readonly heads: number | null
  /** Texts that the check of plain URLs and the URL parser are to be compared over, and nothing else; `null` where the service is tried. */
  readonly urls: number | null
}

/** What `--help` prints. */
export const usage = `Usage: npm run fuzz -- [options]

Starts the service with an empty database, sends it requests that are made of its own /openapi.json, as they should be, as they should not
be, and of hostile size and depth, and checks what it answers, what it takes and what it stores.

  --requests N     how many requests, 1 to 10,000,000 (default 20,000)
  --minutes N      end after so long, 0.1 to 1,440 (default 60)
  --seed N         decides the requests (default: drawn; it is printed first)
  --limits WHICH   default limits of rates: with, without, or for the last fifth of the requests: part (default part)
  --bytes N        bytes of a hostile body at most (default 4,300,000)
  --memory N       megabytes of the service's heap, 64 to 8,192 (default 512)
  --hang MS        time for an answer (default 5,000)
  --stall MS       the most CPU time of the service's main thread while a redirect waits beside (default 250)
  --heads N        compare what is answered on the socket with Node's own parser over N damaged requests, 1 to 100,000,000, and nothing else
  --urls N         compare the URLs that are stored unparsed with the URL parser over N texts, 1 to 100,000,000, and nothing else
  --database URL   an empty PostgreSQL database, in place of SQLite
  --help           print this

Ends with a table and one line of JSON. Exits with 1 where something is wrong, with 2 where the arguments are not usable.`

const options = {
  requests: { type: "string", default: "20000" },
  minutes: { type: "string", default: "60" },
  seed: { type: "string" },
  limits: { type: "string", default: "part" },
  bytes: { type: "string", default: "4300000" },
  memory: { type: "string", default: "512" },
  hang: { type: "string", default: "5000" },
  stall: { type: "string", default: "250" },
  database: { type: "string" },
  heads: { type: "string" },
  urls: { type: "string" },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Seeds are whole numbers up to this. */
export const seedMax = 2 ** 31 - 1

const number = (
  name: string,
  text: string,
  {
    max,
    min,
    pattern = /^\d{1,10}$/
  }: { readonly min: number; readonly max: number; readonly pattern?: RegExp }
): Either.Either<number, string> => {
  const value = pattern.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max
    ? Either.right(value)
    : Either.left(`--${name} must be a number from ${min} to ${max}, not "${text}"`)
}

const shares = ["part", "with", "without"] as const

const read = (args: ReadonlyArray<string>) =>
  Either.try({
    try: () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values,
    // Node explains how to pass what looks like an option, too: one sentence is enough.
    catch: (error) => (error instanceof Error ? error.message.split(/\. (?=[A-Z])/)[0]! : String(error))
  })

/** Understands the arguments; `drawn` is the seed where none is given. Gives `"help"` where that is asked for; what is wrong comes as one sentence. */
export const parse = (
  args: ReadonlyArray<string>,
  drawn: number
): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* read(args)
    if (values.help) return "help" as const
    const limits = shares.find((share) => share === values.limits)
    if (limits === undefined) {
      return yield* Either.left(`--limits must be one of ${shares.join(", ")}, not "${values.limits}"`)
    }
    return {
      requests: yield* number("requests", values.requests, { min: 1, max: 10_000_000 }),
      minutes: yield* number("minutes", values.minutes, {
        min: 0.1,
        max: 1_440,
        pattern: /^\d{1,4}(\.\d{1,3})?$/
      }),
      seed: values.seed === undefined ? drawn : yield* number("seed", values.seed, { min: 0, max: seedMax }),
      limits,
      bytesMax: yield* number("bytes", values.bytes, { min: 1, max: 16_000_000 }),
      memory_MB: yield* number("memory", values.memory, { min: 64, max: 8_192 }),
      hang_ms: yield* number("hang", values.hang, { min: 100, max: 120_000 }),
      stall_ms: yield* number("stall", values.stall, { min: 1, max: 120_000 }),
      database: values.database ?? null,
      heads:
        values.heads === undefined
          ? null
          : yield* number("heads", values.heads, { min: 1, max: 100_000_000 }),
      urls:
        values.urls === undefined ? null : yield* number("urls", values.urls, { min: 1, max: 100_000_000 })
    }
  })
