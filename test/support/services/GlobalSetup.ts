// Runs in vitest's main process: starts the servers before the first test file and stops them after the last.

import { Effect, Exit, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { type Backend, readExercised, summary } from "./Backends.ts"
import { keep } from "./Keeper.ts"
import { administer, startPostgres } from "./postgres/PostgresServer.ts"
import { findProgram, startRedis } from "./redis/RedisServer.ts"
import type { Availability } from "./Service.ts"

declare module "vitest" {
  /** What test files get from the global setup by `inject`. */
  export interface ProvidedContext {
    /** The PostgreSQL server for this run. */
    postgres: Availability
    /** The name of its database of which migrated databases are copies. It is there once a test file has made it. */
    postgresTemplate: string
    /** The Redis server for this run. */
    redis: Availability
    /** The path of `redis-server`, for tests that start servers of their own. */
    redisProgram: string | null
    /** The folder in which test files note the backends they use. */
    exercised: string
  }
}

// In vitest's own temporary folder, which goes with it: vitest forgets it when it is interrupted.
const notesFolder = Effect.fn("notesFolder")(function* (project: TestProject) {
  const folder = join(project.tmpDir, "backends")
  mkdirSync(folder, { recursive: true })
  yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", project.tmpDir] })
  return folder
})

/**
 * Starts each server and hands it to the test files. What it returns stops them and ends the run's output with
 * one line that names the backends used. A server that cannot be had fails the run under `CI=true`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scope = await Effect.runPromise(Scope.make())
  // One after the other: two installations would wait for each other's lock. An installation may bring the program, too.
  const services = {
    exercised: notesFolder(project),
    postgres: startPostgres,
    redis: startRedis,
    redisProgram: Effect.orElseSucceed(findProgram(), () => null)
  }
  const either = await Effect.all(services).pipe(
    Scope.extend(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    Effect.either,
    Effect.runPromise
  )
  if (either._tag === "Left") throw new Error(either.left.message)
  const started = either.right
  project.provide("postgres", started.postgres)
  const template = `template_${randomUUID().replaceAll("-", "")}`
  project.provide("postgresTemplate", template)
  project.provide("redis", started.redis)
  project.provide("redisProgram", started.redisProgram)
  project.provide("exercised", started.exercised)

  const servers: Partial<Record<Backend, Availability>> = {
    PostgreSQL: started.postgres,
    Redis: started.redis
  }

  return async () => {
    const exercised = readExercised(started.exercised)
    if (started.postgres._tag === "Running") {
      await Effect.runPromise(
        administer(started.postgres.url, (sql) => sql`drop database if exists ${sql(template)}`)
      )
    }
    await Effect.runPromise(Scope.close(scope, Exit.void))

    const missing = Object.entries(servers).flatMap(([name, server]) =>
      server._tag === "Missing" ? [[name, server.reason] as const] : []
    )
    if (missing.length > 0 && process.env["CI"] === "true") {
      process.stderr.write("CI=true: a missing backend fails the run\n")
      process.exitCode = 1
    }
    process.stdout.write(`${summary(exercised, Object.fromEntries(missing))}\n`)
  }
}
