import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { lengthMax } from "../../keys/KeySpace.ts"
import { KeyRangeStore } from "./KeyRangeStore.ts"
import * as KeyTablesSql from "./KeyTablesSql.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"

/** What a deployment does without from now on. */
export interface Skipped {
  readonly ranges: number
  /** Keys that were stocked in the database. */
  readonly stocked: number
}

/**
 * Has a database that has forgotten which keys it handed out, such as one that was restored, hand out none of them again, where no range had minted more than
 * `count` since: each range skips so many, in longer keys where it has not so many left, and keys that stood ready are given up. In one transaction; each
 * time skips as many again. For a database that no node works on.
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
      let stocked = 0
      for (const table of tables) {
        stocked += yield* table.size
        yield* table.clear
      }
      yield* sql`DELETE FROM pool_batches`
      return { ranges, stocked } satisfies Skipped
    })
  )
}, asStorageError("SkippedKeys.skip"))
