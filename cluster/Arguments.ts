// What the command line of `npm run cluster` says.

import { Either } from "effect"
import { isAbsolute, resolve } from "node:path"
import { parseArgs } from "node:util"
import type { StandbyMode } from "./Patroni.ts"

/** What to run, and how. */
export interface Arguments {
  /** Nodes that own actors and serve HTTP. */
  readonly nodes: number
  /** Nodes beside them that only serve HTTP. */
  readonly httpNodes: number
  /** Pool shards: one Redis each. */
  readonly pools: number
  /** The folder that keeps the data; null: a temporary one. */
  readonly dir: string | null
  /** Where the load balancer listens; 0: at any free port. */
  readonly port: number
  /** Whether each Redis has a replica, and three Sentinels watch over them. */
  readonly sentinel: boolean
  /** Whether PostgreSQL has a standby under Patroni, and whether commits wait for it; null: one server. */
  readonly standby: StandbyMode | null
  /** Whether a node that dies is started again. */
  readonly restart: boolean
  /** Whether to print one line of JSON instead of text. */
  readonly json: boolean
}

/** What `--help` prints. */
export const usage = `Usage: npm run cluster -- [options]

Runs a cluster on this machine, at 127.0.0.1 alone: PostgreSQL, Redis, nodes, and HAProxy in front of them.

  --nodes N        nodes that own actors and serve HTTP, 1 to 16 (default 3)
  --http-nodes N   more nodes that serve HTTP alone, 0 to 16 (default 0)
  --pools N        pool shards, each with a Redis of its own, 1 to 16 (default 4)
  --port N         the load balancer's port (default 8080; 0 takes a free one)
  --dir DIR        keep the data in DIR, and go on with what is there (default: a folder that goes at the end)
  --sentinel       a replica for each Redis, and three Sentinels that put it in the place of a dead primary
  --standby MODE   sync or async: PostgreSQL with a standby, which Patroni promotes when the primary dies
  --restart        start a node again when it dies
  --json           when all is up, print one line of JSON instead of text
  --help           print this

Settings of the environment (LOG_LEVEL, KEY_LENGTH, SIGN_UP, …) go to every node.`

const options = {
  nodes: { type: "string", default: "3" },
  "http-nodes": { type: "string", default: "0" },
  pools: { type: "string", default: "4" },
  port: { type: "string", default: "8080" },
  dir: { type: "string" },
  sentinel: { type: "boolean", default: false },
  standby: { type: "string" },
  restart: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false }
} as const

const countMax = 16

const integer = (name: string, text: string, min: number, max: number): Either.Either<number, string> => {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max
    ? Either.right(value)
    : Either.left(`--${name} must be a whole number from ${min} to ${max}, not "${text}"`)
}

const standbyOf = (text: string | undefined): Either.Either<StandbyMode | null, string> =>
  text === undefined
    ? Either.right(null)
    : text === "sync" || text === "async"
      ? Either.right(text)
      : Either.left(`--standby must be sync or async, not "${text}"`)

const read = (args: ReadonlyArray<string>) =>
  Either.try({
    try: () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values,
    // Node explains how to pass what looks like an option, too: one sentence is enough.
    catch: (error) => (error instanceof Error ? error.message.split(/\. (?=[A-Z])/)[0]! : String(error))
  })

/**
 * Understands the arguments, relative folders from `cwd` on. Gives `"help"` where that is asked for; what is wrong comes as
 * one sentence.
 */
export const parse = (args: ReadonlyArray<string>, cwd: string): Either.Either<Arguments | "help", string> =>
  Either.gen(function* () {
    const values = yield* read(args)
    if (values.help) return "help" as const
    if (values.dir === "") return yield* Either.left("--dir needs a folder")
    return {
      nodes: yield* integer("nodes", values.nodes, 1, countMax),
      httpNodes: yield* integer("http-nodes", values["http-nodes"], 0, countMax),
      pools: yield* integer("pools", values.pools, 1, countMax),
      dir: values.dir === undefined ? null : isAbsolute(values.dir) ? values.dir : resolve(cwd, values.dir),
      port: yield* integer("port", values.port, 0, 65_535),
      sentinel: values.sentinel,
      standby: yield* standbyOf(values.standby),
      restart: values.restart,
      json: values.json
    }
  })
