// PostgreSQL as tests see it.

import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { describe, inject } from "vitest"
import { numbers } from "../../../../src/storage/sql/postgres/PrimaryClient.ts"
import { exercised } from "../Exercised.ts"
import { administer } from "./PostgresServer.ts"

const server = inject("postgres")

/** A suite that needs PostgreSQL. Where there is none it is skipped, and says so in its title. Its tests run at once where it is `concurrent`. */
export const describePostgres = (
  title: string,
  body: () => void,
  options: { readonly concurrent?: boolean } = {}
): void => {
  if (server._tag === "Running") describe(title, options, body)
  else describe.skip(`${title} (skipped: PostgreSQL is missing)`, body)
}

/**
 * Creates a database of its own for the caller, a copy of `template`, and gives its URL; when the scope closes it is dropped,
 * even if clients are still connected. What fails here is the test setup, hence a defect.
 */
const databaseFrom = (template: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (server._tag === "Missing") return yield* Effect.dieMessage(`PostgreSQL is missing: ${server.reason}`)
    const name = `test_${randomUUID().replaceAll("-", "")}`
    yield* Effect.acquireRelease(
      administer(server.url, (sql) => sql`create database ${sql(name)} template ${sql(template)}`),
      () => administer(server.url, (sql) => sql`drop database ${sql(name)} with (force)`)
    )
    exercised("PostgreSQL", `${server.version} (${server.origin})`)
    return urlOf(server.url, name)
  })

const urlOf = (server: string, database: string) => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

/** An empty database. From template0, as somebody may be connected to template1, and nobody can be to template0. */
export const freshDatabase: Effect.Effect<string, never, Scope.Scope> = databaseFrom("template0")

/** The advisory lock of the worker that fills a template. An arbitrary fixed number. */
const templateLock = 5_012_704_499

/** Makes the run's template, unless another worker has. */
const makeTemplate = (fill: (url: string) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    if (server._tag === "Missing") return
    const name = inject("postgresTemplate")
    const unfinished = `${name}_unfinished`
    yield* administer(server.url, (sql) =>
      Effect.gen(function* () {
        yield* sql`select pg_advisory_lock(${templateLock})`
        const made = yield* sql`select 1 from pg_database where datname = ${name}`
        if (made.length > 0) return
        yield* sql`drop database if exists ${sql(unfinished)} with (force)`
        yield* sql`create database ${sql(unfinished)} template template0`
        yield* fill(urlOf(server.url, unfinished))
        yield* sql`alter database ${sql(unfinished)} with allow_connections false`
        yield* sql`alter database ${sql(unfinished)} rename to ${sql(name)}`
      })
    )
  })

/** Databases that are filled alike: one is, once in a run, and all others are copies of it, which takes a tenth of the time. */
export const copiesOf = (fill: (url: string) => Effect.Effect<void>): typeof freshDatabase => {
  let template: Promise<void> | undefined
  return Effect.zipRight(
    Effect.promise(() => (template ??= Effect.runPromise(makeTemplate(fill)))),
    databaseFrom(inject("postgresTemplate"))
  )
}

/** A client of a fresh database, as `PgClient` and as `SqlClient`; the database goes when the layer does. */
export const layerFreshDatabase = Layer.unwrapScoped(
  Effect.map(freshDatabase, (url) => PgClient.layer({ url: Redacted.make(url), types: numbers }))
)
