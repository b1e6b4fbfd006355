import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { BrokenStatements } from "../../../src/sim/stores/sql/BrokenStatements.ts"
import * as SqliteHere from "../../../src/sim/stores/sql/SqliteHere.ts"
import { Chance } from "../../../src/sim/world/Chance.ts"
import * as SqliteClient from "../../../src/storage/sql/SqliteClient.ts"
import { inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"

/** Rows of a table after `attempts` at each of two ways to write two rows, where statements fail now and then. */
const rowsAfter = (attempts: number, isWhole: boolean) =>
  Effect.gen(function* () {
    const broken = new BrokenStatements(new Chance(1, "broken statements"))
    const sql = yield* Effect.flatMap(SqliteHere.make(undefined, broken.next), SqliteClient.over)
    yield* sql`CREATE TABLE rows (number INTEGER)`
    const write = Effect.zipRight(sql`INSERT INTO rows VALUES (1)`, sql`INSERT INTO rows VALUES (2)`)
    const exits = yield* Effect.forEach(Array.from({ length: attempts }), () =>
      broken.within("Rows.write", isWhole ? inTransaction(sql, write) : write)
    )
    const [row] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM rows`
    return { areDone: exits.every(Exit.isSuccess), count: row!.count }
  }).pipe(Effect.scoped)

describe("statements that fail now and then", () => {
  it.effect("leave nothing of what is done as a whole, which is done once more", () =>
    Effect.gen(function* () {
      expect(yield* rowsAfter(400, true)).toEqual({ areDone: true, count: 800 })
    })
  )

  it.effect("tell what is done in several steps, of which the first ones stay", () =>
    Effect.gen(function* () {
      const { areDone, count } = yield* rowsAfter(400, false)
      expect(areDone).toBe(true)
      expect(count).toBeGreaterThan(800)
    })
  )
})
