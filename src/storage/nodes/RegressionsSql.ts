import type { SqlClient } from "@effect/sql"
import { Effect, Number as Numbers } from "effect"
import { count } from "../../keys/PackedKeys.ts"
import { keysOf } from "../keys/KeyStockSql.ts"
import * as KeyTablesSql from "../keys/KeyTablesSql.ts"
import { databaseNow, forUpdate } from "../sql/SqlDialect.ts"
import type { Mark, Regression } from "./DatabaseMark.ts"

/** What a database that has forgotten commits records of that, and gives up, on SQLite and PostgreSQL. Each but `lastLineage` is to be run in a transaction that has `lock`ed. */
export const make = (sql: SqlClient.SqlClient) => {
  const now = databaseNow(sql)
  const { free, ...ahead } = KeyTablesSql.make(sql)
  // A transaction that moves keys into `free` has taken them from one of the others before.
  const stocks = [...Object.values(ahead), free]

  return {
    /** Reads and locks the mark, and then locks all pool shards, so that fenced transactions wait. */
    lock: Effect.gen(function* () {
      const [row] = yield* sql<Pick<Mark, "mark"> & { readonly moved_at: number; readonly now: number }>`
        SELECT mark, moved_at, ${now} AS now FROM database_mark WHERE id = 1 ${forUpdate(sql)}`
      yield* sql`SELECT shard FROM pool_shards ORDER BY shard ${forUpdate(sql)}`
      return row!
    }),

    /** Gives up all ready keys; gives how many. */
    dropReady: Effect.gen(function* () {
      const batches = yield* sql<{ keys: string }>`DELETE FROM pool_batches RETURNING keys`
      const stocked = yield* Effect.forEach(stocks, ({ clear }) => clear)
      yield* sql`UPDATE pool_shards SET epoch = epoch + 1`
      return Numbers.sumAll([...batches.map(({ keys }) => count(keysOf(keys))), ...stocked])
    }),

    /** Records a regression under a lineage that the database does not have yet. */
    record: (lineage: number, { at, dropped, mark, since, skipped, witnessed }: Regression) => sql`
      INSERT INTO database_regressions (lineage, noticed_at, since, mark, witnessed, skipped, dropped)
      VALUES (${lineage}, ${at}, ${since}, ${mark}, ${witnessed}, ${skipped}, ${dropped})`,

    /** Gives the database a mark, and the lineage with it. */
    begin: (lineage: number) =>
      sql`UPDATE database_mark SET mark = ${lineage}, lineage = ${lineage}, moved_at = ${now} WHERE id = 1`,

    /** The greatest lineage that the database has recorded, also one that has come from another database; 0 if there is none. */
    lastLineage: Effect.map(
      sql<{ last: number }>`SELECT coalesce(max(lineage), 0) AS last FROM database_regressions`,
      ([row]) => row!.last
    )
  }
}
