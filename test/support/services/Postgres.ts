// PostgreSQL as tests see it.

import * as Reactivity from "@effect/experimental/Reactivity"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { describe, inject } from "vitest"
import { numbers } from "../../../src/storage/sql/postgres/PrimaryClient.ts"
import { exercised } from "./Exercised.ts"

const server = inject("postgres")

/** A suite that needs PostgreSQL. Where there is none it is skipped, and says so in its title. */
export const describePostgres = (title: string, body: () => void): void => {
  if (server._tag === "Running") describe(title, body)
  else describe.skip(`${title} (skipped: PostgreSQL is missing)`, body)
}

const administer = (url: string, statement: (sql: PgClient.PgClient) => Effect.Effect<unknown, unknown>) =>
  PgClient.make({ url: Redacted.make(url), maxConnections: 1 }).pipe(
    Effect.flatMap(statement),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    // The server runs on real time, whatever clock the test has.
    Effect.withClock(Clock.make()),
    Effect.orDie
  )

/**
 * Creates an empty database of its own for the caller and gives its URL; when the scope closes it is dropped,
 * even if clients are still connected. What fails here is the test setup, hence a defect.
 */
export const freshDatabase: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  if (server._tag === "Missing") return yield* Effect.dieMessage(`PostgreSQL is missing: ${server.reason}`)
  const name = `test_${randomUUID().replaceAll("-", "")}`
  // From template0, as somebody may be connected to template1, and nobody can be to template0.
  yield* Effect.acquireRelease(
    administer(server.url, (sql) => sql`create database ${sql(name)} template template0`),
    () => administer(server.url, (sql) => sql`drop database ${sql(name)} with (force)`)
  )
  exercised("PostgreSQL", `${server.version} (${server.origin})`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
})

/** A client of a fresh database, as `PgClient` and as `SqlClient`; the database goes when the layer does. */
export const layerFreshDatabase = Layer.unwrapScoped(
  Effect.map(freshDatabase, (url) => PgClient.layer({ url: Redacted.make(url), types: numbers }))
)
