import { it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Cause, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { expect } from "vitest"
import * as DatabasePresence from "../../../../src/storage/sql/postgres/DatabasePresence.ts"
import * as DatabaseServers from "../../../../src/storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../../../../src/storage/sql/postgres/PostgresClient.ts"
import { layerPostgres, ShardOwnership } from "../../../../src/storage/keys/ShardOwnership.ts"
import { asStorageError } from "../../../../src/storage/sql/SqlTransaction.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { pgBouncer, pooled } from "../../../support/services/postgres/PgBouncer.ts"
import { makeCuttingProxy } from "../../../support/CuttingProxy.ts"

const database = Effect.map(freshDatabase, Redacted.make)

const present = (url: Redacted.Redacted, presence: "alone" | "cluster") =>
  Layer.provide(DatabasePresence.layer(presence), DatabaseServers.layer(url))

describePostgres("the connections to PostgreSQL", () => {
  it.scopedLive(
    "give up a statement that is not answered in time, and serve the next one at once",
    () =>
      Effect.gen(function* () {
        const url = yield* database
        const context = yield* Layer.build(Layer.provide(PostgresClient.layer, DatabaseServers.layer(url)))
        const sql = yield* Effect.provide(SqlClient.SqlClient, context)
        const [took, exit] = yield* Effect.timed(
          Effect.exit(asStorageError("slow")(sql`SELECT pg_sleep(30)`))
        )
        expect(Exit.isFailure(exit) && Cause.failureOption(exit.cause)).toMatchObject({
          // The server ends it half a second before the client would, which comes first where the server stood still.
          value: { _tag: "StorageError", applied: expect.stringMatching(/^(?:no|unknown)$/) }
        })
        expect(Duration.toSeconds(took)).toBeLessThan(20)
        const [next] = yield* Effect.timed(sql`SELECT 1`)
        expect(Duration.toSeconds(next)).toBeLessThan(10)
      }),
    45_000
  )

  it.scopedLive("survive a server that hangs up before it has proved to be the primary", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const proxy = yield* makeCuttingProxy(url)
      const servers = DatabaseServers.layer(Redacted.make(proxy.url))
      const connect = Effect.scoped(Layer.build(Layer.provide(PostgresClient.layer, servers)))
      proxy.cutAt({ when: "after", text: "pg_is_in_recovery" })
      const error = yield* Effect.flip(connect)
      expect(String(error.message)).toContain("Connection terminated unexpectedly")
      proxy.cutAt(null)
      yield* connect
    })
  )
})

if (pgBouncer !== undefined) {
  describePostgres("PgBouncer in front of PostgreSQL", () => {
    it.scopedLive("keeps all bounds of a session in its mode session", () =>
      Effect.gen(function* () {
        const url = yield* pooled(pgBouncer!, yield* freshDatabase, "session")
        const servers = yield* Layer.build(DatabaseServers.layer(Redacted.make(url)))
        yield* Layer.build(Layer.provide(DatabasePresence.layer("cluster"), Layer.succeedContext(servers)))
        const context = yield* Layer.build(Layer.provide(PostgresClient.layer, Layer.succeedContext(servers)))
        const sql = yield* Effect.provide(SqlClient.SqlClient, context)
        const [row] = yield* sql`SELECT current_setting('statement_timeout') AS statement,
          current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle,
          current_setting('client_connection_check_interval') AS check, current_setting('application_name') AS name`
        expect(row).toEqual({
          statement: "3500ms",
          lock: "2500ms",
          idle: "3s",
          check: "1s",
          name: "linkmint"
        })
      })
    )

    it.scopedLive("is refused in its mode transaction, with the reason", () =>
      Effect.gen(function* () {
        const url = yield* pooled(pgBouncer!, yield* freshDatabase, "transaction")
        const servers = yield* Layer.build(DatabaseServers.layer(Redacted.make(url)))
        yield* Layer.build(Layer.provide(DatabasePresence.layer("cluster"), Layer.succeedContext(servers)))
        const error = yield* Effect.flip(
          Layer.build(Layer.provide(PostgresClient.layer, Layer.succeedContext(servers)))
        )
        expect(error.message).toContain("pool_mode = session")
      })
    )
  })
}

describePostgres("presence at a database", () => {
  it.scopedLive("lets the nodes of a cluster in together, and a process that wants it alone not", () =>
    Effect.gen(function* () {
      const url = yield* database
      yield* Layer.build(present(url, "cluster"))
      yield* Layer.build(present(url, "cluster"))
      const alone = yield* Effect.flip(Effect.scoped(Layer.build(present(url, "alone"))))
      expect(alone).toMatchObject({ _tag: "DatabaseInUse", presence: "alone" })
    })
  )

  it.scopedLive("keeps everyone out while a process has it alone, and no longer", () =>
    Effect.gen(function* () {
      const url = yield* database
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(present(url, "alone"), scope)
      const second = yield* Effect.flip(Effect.scoped(Layer.build(present(url, "cluster"))))
      expect(second).toMatchObject({ _tag: "DatabaseInUse", presence: "cluster" })
      yield* Scope.close(scope, Exit.void)
      yield* Layer.build(present(url, "cluster"))
    })
  )
})

describePostgres("ownership of cluster shards", () => {
  it.scopedLive("is with the session that has the shard's lock, by its name, and ends with it", () =>
    Effect.gen(function* () {
      const url = yield* database
      const runner = (applicationName: string) => PgClient.layer({ url, applicationName, maxConnections: 1 })
      const mine = yield* Scope.make()
      const holder = yield* Effect.provide(
        SqlClient.SqlClient,
        yield* Layer.buildWithScope(runner("linkmint-runner-a"), mine)
      )
      const ownershipOf = (name: string) =>
        Effect.gen(function* () {
          const context = yield* Layer.build(layerPostgres(name).pipe(Layer.provide(PgClient.layer({ url }))))
          return yield* Effect.provide(ShardOwnership, context)
        })
      const [a, b] = yield* Effect.all([ownershipOf("linkmint-runner-a"), ownershipOf("linkmint-runner-b")])
      yield* holder`SELECT pg_advisory_lock(1000007)`
      expect(yield* a.holds(7)).toBe(true)
      expect(yield* a.holds(8)).toBe(false)
      expect(yield* b.holds(7)).toBe(false)
      yield* Scope.close(mine, Exit.void)
      // The server notices a moment after the client has hung up.
      const held = yield* Effect.suspend(() => a.holds(7)).pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ while: (held) => held, times: 500 })
      )
      expect(held).toBe(false)
    })
  )
})
