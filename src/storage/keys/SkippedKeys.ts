import { SqlClient } from "@effect/sql"
import { Effect, Number as Numbers } from "effect"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { lengthMax } from "../../keys/KeySpace.ts"
import { KeyRangeStore } from "./KeyRangeStore.ts"
import * as KeyTablesSql from "./KeyTablesSql.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"

/** What was skipped. */
export interface Skipped {
  readonly ranges: number
  /** Keys that were stocked in the database. */
  readonly stocked: number
}

/**
 * Keeps a database that has forgotten which keys it handed out, such as a restored one, from handing any of them out again, provided that no range had minted more than
 * `count` since: each range skips `count` keys, in longer keys where it has fewer left, and stocked and recorded keys are given up. In one transaction; each
 * call skips as many again. No node may be working on the database.
 */
export const skip = Effect.fn("SkippedKeys.skip")(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* KeyRangeStore
  const { ranges, space, spanOf } = yield* KeyMinter
  const tables = Object.values(KeyTablesSql.make(sql))

  const skipIn = Effect.fnUntraced(function* (range: number) {
    let left = count
    for (let length = space.length; left > 0 && length <= lengthMax; length++) {
      left -= (yield* store.advance({ length, range }, { count: left, size: spanOf(length, range) })).count
    }
  })

  return yield* inTransaction(
    sql,
    Effect.gen(function* () {
      for (let range = 0; range < ranges; range++) yield* skipIn(range)
      const stocked = Numbers.sumAll(yield* Effect.forEach(tables, ({ clear }) => clear))
      yield* sql`DELETE FROM pool_batches`
      return { ranges, stocked } satisfies Skipped
    })
  )
}, asStorageError("SkippedKeys.skip"))
