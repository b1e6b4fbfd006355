import { it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Effect, Schedule } from "effect"
import { describe, expect } from "vitest"
import { type Durable, warnings, warningsOf } from "../../../../src/storage/sql/postgres/Durability.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { hasPrograms, postgresPair } from "../../../support/services/postgres/PostgresPair.ts"
import { postgresAt } from "../../../support/Stores.ts"

const durable: Durable = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  standbys: "0",
  awaited: "0"
}

describe("settings that lose acknowledged commits", () => {
  it.each([
    [{}, []],
    [{ standbys: "2", awaited: "1" }, []],
    [{ fsync: "off" }, ["fsync"]],
    [{ full_page_writes: "off", synchronous_commit: "off" }, ["full_page_writes", "synchronous_commit"]],
    [{ synchronous_commit: "local" }, []],
    [{ synchronous_commit: "local", standbys: "1" }, ["synchronous_commit"]],
    [{ standbys: "1" }, ["No standby is synchronous"]]
  ])("%j are warned of by their names", (given, named) => {
    const found = warningsOf({ ...durable, ...given })
    expect(found).toHaveLength(named.length)
    named.forEach((name, index) => expect(found[index]).toContain(name))
  })
})

describePostgres("a database's settings that lose acknowledged commits", () => {
  it.scopedLive("are read from the session that a node has", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const found = warnings.pipe(Effect.provide(postgresAt(url)))
      expect(yield* found).toEqual([])
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
      ).pipe(Effect.provide(postgresAt(url)))
      expect(yield* found).toEqual([expect.stringContaining("synchronous_commit is off")])
    })
  )

  if (hasPrograms) {
    it.scopedLive(
      "name a standby that nobody waits for",
      () =>
        Effect.gen(function* () {
          const { primary } = yield* postgresPair
          const found = warnings.pipe(Effect.provide(postgresAt(primary.url)))
          yield* Effect.repeat(primary.run("SELECT 1 FROM pg_stat_replication"), {
            until: (rows) => rows.length === 1,
            schedule: Schedule.spaced("50 millis")
          })
          expect(yield* found).toEqual([expect.stringContaining("No standby is synchronous")])
        }),
      60_000
    )
  }
})
