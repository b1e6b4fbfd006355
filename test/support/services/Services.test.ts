import * as Reactivity from "@effect/experimental/Reactivity"
import { PgClient } from "@effect/sql-pg"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { inject } from "vitest"
import { describePostgres, freshDatabase, layerFreshDatabase } from "./postgres/Postgres.ts"

const server = inject("postgres")
const version = server._tag === "Running" ? server.version : ""
const isPrivate = server._tag === "Running" && server.origin.startsWith("private server")

const connect = (url: string) =>
  Effect.provide(PgClient.make({ url: Redacted.make(url), maxConnections: 1 }), Reactivity.layer)

const exists = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const rows = yield* sql`select 1 from pg_database where datname = ${name}`
    return rows.length === 1
  })

describePostgres("PostgreSQL for tests", () => {
  it.layer(layerFreshDatabase)((it) => {
    it.effect("is the server, of the version, that the last line of the run names", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const [row] = yield* sql<{ version: string }>`select version()`
        expect(row?.version.startsWith(`PostgreSQL ${version} `)).toBe(true)
      })
    )

    it.effect.runIf(isPrivate)("is as durable as in production when the server is our own", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const durable = ["fsync", "full_page_writes", "synchronous_commit"]
        const rows =
          yield* sql`select name, setting from pg_settings where ${sql.in("name", durable)} order by name`
        expect(rows).toEqual(durable.map((name) => ({ name, setting: "on" })))
      })
    )

    it.scoped("gives databases that are apart from each other", () =>
      Effect.gen(function* () {
        const [one, other] = yield* Effect.all([freshDatabase, freshDatabase], { concurrency: 2 })
        expect(one).not.toBe(other)
        const sql = yield* connect(one)
        yield* sql`create table only_here (id int)`
        const elsewhere = yield* connect(other)
        const tables = yield* elsewhere`select 1 from pg_tables where tablename = 'only_here'`
        expect(tables).toEqual([])
      })
    )

    it.scoped("drops a database at the end of its scope, clients or not", () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const url = yield* Scope.extend(freshDatabase, scope)
        const name = new URL(url).pathname.slice(1)
        const client = yield* connect(url)
        expect(yield* exists(name)).toBe(true)
        yield* Scope.close(scope, Exit.void)
        expect(yield* exists(name)).toBe(false)
        expect(Exit.isFailure(yield* Effect.exit(client`select 1`))).toBe(true)
      })
    )
  })
})
