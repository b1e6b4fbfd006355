import { SqlClient } from "@effect/sql"
import { Effect, Number as Numbers } from "effect"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { lengthMax } from "../../keys/KeySpace.ts"
import { KeyRangeStore } from "./KeyRangeStore.ts"
import { sinceUnknown } from "../nodes/DatabaseMark.ts"
import * as RegressionsSql from "../nodes/RegressionsSql.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"

/** What was skipped. */
export interface Skipped {
  readonly ranges: number
  /** Keys that were stocked or recorded in the databases. */
  readonly dropped: number
}

/**
 * Keeps databases that have forgotten which keys they handed out, such as restored ones, from giving any of them to another, provided that no range had minted more than `count` since: each
 * range skips `count` keys, in longer keys where it has fewer left; stocked and recorded keys are given up, also those that wait in a further database of links to be carried; and each database records
 * that it has forgotten a time of unknown length, so that no key of a link that is there now is used again if it can have been free by now, or can become free (`LinkLifetime`).
 *
 * It does not matter which of the databases has forgotten something. The further ones come first, each in a transaction: where one fails, nothing is skipped, and a repeat does all of it. Each call
 * skips as many again. No node may be working on the databases.
 */
export const skip = Effect.fn("SkippedKeys.skip")(function* (
  count: number,
  further: ReadonlyArray<SqlClient.SqlClient> = []
) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* KeyRangeStore
  const { ranges, space, spanOf } = yield* KeyMinter

  const skipIn = Effect.fnUntraced(function* (range: number) {
    let left = count
    for (let length = space.length; left > 0 && length <= lengthMax; length++) {
      left -= (yield* store.advance({ length, range }, { count: left, size: spanOf(length, range) })).count
    }
    return count - left
  })
  const skipAll = Effect.map(
    Effect.forEach(
      Array.from({ length: ranges }, (_, range) => range),
      skipIn
    ),
    Numbers.sumAll
  )

  const all = [sql, ...further].map((sql) => ({ sql, ...RegressionsSql.make(sql) }))
  const found = yield* Effect.forEach(all, ({ lastLineage, lock, sql }) =>
    Effect.zip(lastLineage, inTransaction(sql, lock))
  )
  // The row is the same in all databases: they hand theirs on with the links that move (`BucketMover`), under its lineage.
  const witnessed = Math.max(...found.map(([last, { mark }]) => Math.max(last, mark)))
  const at = Math.max(...found.map(([, { moved_at, now }]) => Math.max(moved_at, now)))
  const lineage = witnessed + 1
  const { mark } = found[0]![1]

  let dropped = 0
  for (const [number, { begin, dropReady, lock, record, sql }] of [...all.entries()].toReversed()) {
    dropped += yield* inTransaction(
      sql,
      Effect.gen(function* () {
        yield* lock
        const isControl = number === 0
        const skipped = isControl ? yield* skipAll : 0
        const ready = yield* dropReady
        yield* record(lineage, {
          at,
          since: sinceUnknown,
          mark,
          witnessed,
          skipped,
          dropped: dropped + ready
        })
        if (isControl) yield* begin(lineage)
        return ready
      })
    )
  }
  return { ranges, dropped } satisfies Skipped
}, asStorageError("SkippedKeys.skip"))
