// Load on an HTTP server, from a process of its own.

import { Effect } from "effect"
import { delimiter } from "node:path"
import { inRepository } from "../../cluster/Repository.ts"
import { installPackage } from "../../test/support/services/Apt.ts"
import { run } from "../../test/support/services/Command.ts"
import { findOrInstall, inFolders } from "../../test/support/services/Programs.ts"
import * as ProcessFigures from "../ProcessFigures.ts"
import { Unavailable } from "../../test/support/services/Service.ts"

/** What to send. */
export interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** What is asked for, again and again, where there is no file of paths. */
  readonly path?: string
  /** A file of paths to ask for, one a line, in their order. */
  readonly paths?: string
  /** With which it is asked for. */
  readonly apiKey?: string
  /** What is posted, too. */
  readonly creates?: {
    readonly path: string
    /** The file of the body; `%d` in it is another number each time. */
    readonly body: string
    readonly apiKey: string
    /** One of so many requests is a create: 1 for creates alone. */
    readonly each: number
  }
  /** How long each connection waits between answer and next request, on average. */
  readonly delay_ms?: number
}

/** What came back. */
export interface Sample {
  readonly count: number
  readonly seconds: number
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly p999_ms: number | null
  readonly errors: number
  /** Where a program measures itself: what it took in CPU time in all, and in memory at the end. */
  readonly cpu_us?: number
  readonly rss_MB?: number
  /** Where not all that a run does is to be counted: what PostgreSQL took of CPU time for it. */
  readonly databaseCpu_us?: number
  /** What the load generator itself took of CPU time. */
  readonly loadCpu_us?: number
  /** Where `run` starts the program itself: how long its event loop was held at most. */
  readonly held_ms?: number | null
}

/** A way to put load on a server. */
export interface Load {
  readonly program: string
  readonly send: (options: LoadOptions) => Effect.Effect<Sample, Unavailable>
}

/** The line in which a program of ours says what it measured. */
export const sampleIn = (output: string): Effect.Effect<Sample, Unavailable> => {
  const line = /^LOAD (\{.*\})$/m.exec(output)?.[1]
  return line === undefined
    ? new Unavailable({ reason: "the load says nothing of what came back", detail: output })
    : Effect.succeed(JSON.parse(line) as Sample)
}

/** Beyond the time of the load itself. */
const slack_s = 30

const environmentOf = ({ apiKey = "", creates, delay_ms = 0, paths = "" }: LoadOptions) => ({
  PATH: process.env["PATH"],
  LOAD_GET_KEY: apiKey,
  LOAD_PATHS: paths,
  LOAD_DELAY_MS: String(delay_ms),
  ...(creates && {
    LOAD_CREATE_PATH: creates.path,
    LOAD_BODY: creates.body,
    LOAD_API_KEY: creates.apiKey,
    LOAD_CREATE_EACH: String(creates.each)
  })
})

const wrk = (program: string): Load => ({
  program: "wrk",
  send: (options) => {
    const { connections, path = "/", port, seconds } = options
    const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"]
    const script = inRepository("bench/load/wrk.lua")
    return run(program, [...args, "-s", script, `http://127.0.0.1:${port}${path}`], {
      env: environmentOf(options),
      timeout: `${seconds + slack_s} seconds`
    }).pipe(Effect.flatMap(sampleIn))
  }
})

const autocannon: Load = {
  program: "autocannon",
  send: (options) => {
    if (options.delay_ms !== undefined) {
      return new Unavailable({ reason: "a steady rate needs wrk (apt-get install wrk)" })
    }
    return run(process.execPath, [inRepository("dist/bench/load/autocannon.js"), JSON.stringify(options)], {
      timeout: `${options.seconds + slack_s} seconds`
    }).pipe(Effect.flatMap(sampleIn))
  }
}

const findWrk = Effect.suspend(() => {
  const [found] = inFolders("wrk", (process.env["PATH"] ?? "").split(delimiter))
  return found === undefined
    ? new Unavailable({ reason: "no wrk in PATH" })
    : Effect.succeed(wrk(found.program))
})

/** Adds what the load itself took: where one is sent at a time, as others that end meanwhile count too. */
const metered = (load: Load): Load => ({
  ...load,
  send: (options) =>
    Effect.suspend(() => {
      const before = ProcessFigures.cpuOfEndedChildren_us()
      return Effect.map(load.send(options), (sample) => ({
        ...sample,
        loadCpu_us: ProcessFigures.cpuOfEndedChildren_us() - before
      }))
    })
})

/** wrk, installed where it can be; else autocannon. */
export const find: Effect.Effect<Load> = findOrInstall(
  findWrk,
  installPackage({ name: "wrk", package: "wrk" }, (install) => install)
).pipe(
  Effect.orElseSucceed(() => autocannon),
  Effect.map(metered)
)
