import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import { join } from "node:path"
import { describe } from "vitest"
import { direct } from "../../../src/storage/sql/DirectSql.ts"
import { asStorageError, inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { atOnce } from "../../support/Property.ts"
import { clientAt, lockedByAnother, namesSeenByAnother, open, settle } from "../../support/SqliteFile.ts"
import { temporaryFolder } from "../../support/Stores.ts"

describe("the SQLite client: a database locked by another program", () => {
  it.scopedLive("is waited for, by statements and by transactions", () =>
    Effect.gen(function* () {
      const { insert, names, path, sql } = yield* open()
      const { unlock } = yield* lockedByAnother(path)
      const waiting = yield* Effect.fork(atOnce([insert("a"), sql.withTransaction(insert("b"))]))
      // Long enough that both have found it locked some times.
      yield* Effect.sleep("100 millis")
      expect(Option.isNone(yield* Fiber.poll(waiting))).toBe(true)
      yield* unlock
      yield* Fiber.join(waiting)
      expect(yield* names).toEqual(["a", "b"])
      expect(yield* namesSeenByAnother(path)).toEqual(["a", "b"])
    })
  )

  it.scopedLive("is waited for in turn: no transaction begins before the statement that waits already", () =>
    Effect.gen(function* () {
      const { insert, path, sql } = yield* open()
      for (let round = 0; round < 6; round++) {
        const { unlock } = yield* lockedByAnother(path)
        const leave = yield* Deferred.make<void>()
        const statement = insert(`first ${round}`)
        const byCall = direct(sql, "Port.operation", statement.compile())
        const first = yield* Effect.fork(
          Effect.exit<unknown, unknown, never>(round % 2 === 0 ? statement : byCall)
        )
        yield* settle
        const second = yield* Effect.fork(
          sql.withTransaction(Effect.zipRight(insert(`second ${round}`), Deferred.await(leave)))
        )
        // The two look for the lock at different moments, and it goes between them.
        yield* Effect.sleep(20 + 3 * round)
        yield* unlock
        yield* Effect.flatten(Fiber.join(first))
        yield* Deferred.succeed(leave, undefined)
        yield* Fiber.join(second)
      }
      expect(yield* namesSeenByAnother(path)).toHaveLength(12)
    })
  )

  it.scopedLive("is waited for by many fibers of one transaction", () =>
    Effect.gen(function* () {
      const { insert, path, sql } = yield* open()
      const { unlock } = yield* lockedByAnother(path)
      const waiting = yield* Effect.fork(sql.withTransaction(atOnce(["a", "b", "c"].map(insert))))
      yield* Effect.sleep("50 millis")
      yield* unlock
      yield* Fiber.join(waiting)
      expect(yield* namesSeenByAnother(path)).toEqual(["a", "b", "c"])
    })
  )

  it.scopedLive("fails what has waited too long, as not applied, and nothing that comes later", () =>
    Effect.gen(function* () {
      const { insert, names, path, sql } = yield* open({ busyWaitMax: "60 millis" })
      const { unlock } = yield* lockedByAnother(path)
      const alone = yield* Effect.flip(asStorageError("alone")(insert("a")))
      const together = yield* Effect.flip(asStorageError("together")(inTransaction(sql, insert("b"))))
      expect([alone.applied, together.applied]).toEqual(["no", "no"])
      expect([alone.reason, together.reason]).toEqual([
        expect.stringContaining("database is locked"),
        expect.stringContaining("database is locked")
      ])
      yield* unlock
      yield* insert("c")
      expect(yield* namesSeenByAnother(path)).toEqual(["c"])
      yield* sql.withTransaction(insert("d"))
      expect(yield* namesSeenByAnother(path)).toEqual(["c", "d"])
      expect(yield* names).toEqual(["c", "d"])
    })
  )

  it.scopedLive("lets readers through", () =>
    Effect.gen(function* () {
      const { names, path } = yield* open({ busyWaitMax: 0 })
      yield* lockedByAnother(path)
      expect(yield* names).toEqual([])
    })
  )

  it.scopedLive("is not taken by a transaction that was interrupted while it waited", () =>
    Effect.gen(function* () {
      const { insert, names, path, sql } = yield* open()
      const { unlock } = yield* lockedByAnother(path)
      const waiting = yield* Effect.fork(sql.withTransaction(insert("interrupted")))
      yield* Effect.sleep("40 millis")
      yield* Fiber.interrupt(waiting)
      yield* unlock
      yield* Effect.sleep("40 millis")
      const again = yield* lockedByAnother(path)
      yield* again.unlock
      yield* insert("outside")
      yield* Effect.flip(sql.withTransaction(Effect.zipRight(insert("taken back"), Effect.fail("stop"))))
      expect(yield* names).toEqual(["outside"])
      expect(yield* namesSeenByAnother(path)).toEqual(["outside"])
    })
  )

  it.scopedLive(
    "is free for others as soon as the client is closed, also in the middle of a transaction",
    () =>
      Effect.gen(function* () {
        const path = join(yield* temporaryFolder, "test.db")
        const scope = yield* Scope.make()
        const sql = yield* Scope.extend(clientAt(path), scope)
        yield* sql`CREATE TABLE rows (name TEXT)`
        yield* Effect.fork(
          sql.withTransaction(Effect.zipRight(sql`INSERT INTO rows VALUES ('a')`, Effect.never))
        )
        yield* settle
        yield* Scope.close(scope, Exit.void)
        yield* lockedByAnother(path)
        expect(yield* namesSeenByAnother(path)).toEqual([])
      })
  )
})
