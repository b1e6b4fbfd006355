import { it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Cause, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { expect } from "vitest"
import * as PostgresClient from "../../src/storage/PostgresClient.ts"
import { layerPostgres, ShardOwnership } from "../../src/storage/ShardOwnership.ts"
import { asStorageError } from "../../src/storage/SqlTransaction.ts"
import { describePostgres, freshDatabase } from "../services/Postgres.ts"

const database = Effect.map(freshDatabase, Redacted.make)

const present = (url: Redacted.Redacted, presence: "alone" | "cluster") =>
  PostgresClient.layerPresence(presence).pipe(Layer.provide(PostgresClient.layer(url)))

describePostgres("the connections to PostgreSQL", () => {
  it.scopedLive(
    "give up a statement that is not answered in time, and serve the next one at once",
    () =>
      Effect.gen(function* () {
        const url = yield* database
        const context = yield* Layer.build(PostgresClient.layer(url))
        const sql = yield* Effect.provide(SqlClient.SqlClient, context)
        const [took, exit] = yield* Effect.timed(
          Effect.exit(asStorageError("slow")(sql`SELECT pg_sleep(30)`))
        )
        expect(Exit.isFailure(exit) && Cause.failureOption(exit.cause)).toMatchObject({
          value: { _tag: "StorageError", applied: "unknown" }
        })
        expect(Duration.toSeconds(took)).toBeLessThan(8)
        const [next] = yield* Effect.timed(sql`SELECT 1`)
        expect(Duration.toSeconds(next)).toBeLessThan(2)
      }),
    20_000
  )
})

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
