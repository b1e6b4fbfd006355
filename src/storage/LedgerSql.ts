import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { toStrings } from "../PackedKeys.ts"
import { keysOf } from "./KeyStockSql.ts"
import { LinkStore } from "./LinkStore.ts"
import { asStorageError } from "./SqlTransaction.ts"

/** Where minted keys are, as far as the database knows. Aliases are no minted keys. */
export interface Ledger {
  /** Keys that have left their ranges. */
  readonly minted: number
  /** Keys in the stock. */
  readonly stocked: number
  /** Keys in the records of open batches that are not bound. */
  readonly recorded: number
  /** Keys of links that are not deleted. */
  readonly bound: number
  /** Keys of tombstones. */
  readonly quarantined: number
}

/** Keys that are looked up at a time. */
const lookupMax = 1_000

/** Counts every link, which takes its time where there are many. */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const links = yield* LinkStore
  const count = (rows: ReadonlyArray<{ readonly count: number | string }>) => Number(rows[0]!.count)

  const batches = yield* sql<{ keys: string }>`SELECT keys FROM pool_batches`
  const keys = batches.flatMap((batch) => toStrings(keysOf(batch.keys)))
  let recorded = 0
  for (let at = 0; at < keys.length; at += lookupMax) {
    const some = keys.slice(at, at + lookupMax)
    recorded += some.length - (yield* links.takenAmong(some)).size
  }

  return {
    minted: count(
      yield* sql<{ count: number | string }>`SELECT coalesce(sum(next), 0) AS count FROM key_ranges`
    ),
    stocked: count(yield* sql<{ count: number | string }>`SELECT count(*) AS count FROM keys`),
    recorded,
    bound: count(
      yield* sql<{
        count: number | string
      }>`SELECT count(*) AS count FROM links WHERE NOT custom AND deleted_at IS NULL`
    ),
    quarantined: count(
      yield* sql<{
        count: number | string
      }>`SELECT count(*) AS count FROM links WHERE NOT custom AND deleted_at IS NOT NULL`
    )
  } satisfies Ledger
}).pipe(asStorageError("Ledger.read"))
