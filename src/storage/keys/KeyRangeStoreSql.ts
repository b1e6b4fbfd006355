import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { KeyRangeStore, type RangeSlot } from "./KeyRangeStore.ts"
import { sqlPort } from "../sql/SqlPort.ts"

/** `KeyRangeStore` on SQLite and PostgreSQL: the watermark moves by one atomic `UPDATE … RETURNING`. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const move = ({ length, range }: RangeSlot, count: number, size: number) => sql<{ next: number }>`
    UPDATE key_ranges SET next = next + ${count}
    WHERE length = ${length} AND range = ${range} AND next + ${count} <= ${size} RETURNING next`

  const read = ({ length, range }: RangeSlot) => sql<{ next: number }>`
    SELECT next FROM key_ranges WHERE length = ${length} AND range = ${range}`

  const open = ({ length, range }: RangeSlot) => sql`
    INSERT INTO key_ranges (length, range, next) VALUES (${length}, ${range}, 0)
    ON CONFLICT (length, range) DO NOTHING`

  return sqlPort(KeyRangeStore, {
    advance: Effect.fnUntraced(function* (slot, { count, size }) {
      // What is asked for shrinks or the slot comes into being at each turn, so the turns end.
      for (let wanted = count; wanted > 0;) {
        const moved = yield* move(slot, wanted, size)
        if (moved[0] !== undefined) return { first: moved[0].next - wanted, count: wanted }
        const present = yield* read(slot)
        if (present[0] === undefined) {
          yield* open(slot)
          wanted = Math.min(wanted, size)
        } else {
          const left = size - present[0].next
          if (left <= 0) return { first: size, count: 0 }
          wanted = Math.min(wanted, left)
        }
      }
      return { first: 0, count: 0 }
    }),
    // Not as `length`: libSQL's rows have their number of columns under that name.
    watermarks: Effect.map(
      sql<{ key_length: number; range: number; next: number }>`
        SELECT length AS key_length, range, next FROM key_ranges`,
      (rows) => rows.map(({ key_length, next, range }) => ({ length: key_length, range, next }))
    )
  })
})

/** `KeyRangeStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<KeyRangeStore, never, SqlClient.SqlClient> = Layer.effect(KeyRangeStore, make)
