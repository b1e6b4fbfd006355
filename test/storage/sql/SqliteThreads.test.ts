import type { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Option, Ref, type Scope } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { asStorageError, inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { atOnce } from "../../support/Property.ts"
import { clientAt, open } from "../../support/SqliteFile.ts"
import { temporaryFolder } from "../../support/Stores.ts"

/** Rows that take some 300 ms to write. */
const many = 300_000

const insertMany = (sql: SqlClient.SqlClient) => sql`
  INSERT INTO rows WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
  SELECT 'name ' || i, i FROM n`

/** Whether something came while a statement went on, which is tried again where this process was held up until the statement was done. */
const cameMeanwhile = <E>(attempt: Effect.Effect<boolean, E, Scope.Scope>) =>
  Effect.repeat(Effect.scoped(attempt), { until: (came) => came, times: 4 })

describe("the SQLite client: its threads", () => {
  it.scopedLive("leave the event loop free while a statement writes and commits", () =>
    Effect.gen(function* () {
      const { sql } = yield* open()
      const ticks = yield* Ref.make(0)
      const ticking = yield* Ref.update(ticks, (n) => n + 1).pipe(
        Effect.zipRight(Effect.sleep("5 millis")),
        Effect.forever,
        Effect.fork
      )
      const [took] = yield* Effect.timed(insertMany(sql))
      const ticked = yield* Ref.get(ticks)
      yield* Fiber.interrupt(ticking)
      expect(Duration.toMillis(took)).toBeGreaterThan(50)
      expect(ticked).toBeGreaterThanOrEqual(5)
    })
  )

  it.live("read beside a statement that writes", () =>
    Effect.gen(function* () {
      const read = Effect.gen(function* () {
        const { names, sql } = yield* open()
        expect(yield* names).toEqual([])
        const writing = yield* Effect.fork(insertMany(sql))
        yield* Effect.yieldNow()
        const seen = yield* names
        const isWriting = Option.isNone(yield* Fiber.poll(writing))
        yield* Fiber.join(writing)
        expect(yield* sql`SELECT count(*) AS n FROM rows`).toEqual([{ n: many }])
        if (isWriting) expect(seen).toEqual([])
        return isWriting
      })
      expect(yield* cameMeanwhile(read)).toBe(true)
    })
  )

  it.scopedLive("read beside a transaction, which alone sees what it has written", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const [entered, leave] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const inside = yield* insert("inside").pipe(
        Effect.zipRight(names),
        Effect.tap(() => Deferred.succeed(entered, undefined)),
        Effect.zipLeft(Deferred.await(leave)),
        sql.withTransaction,
        Effect.fork
      )
      yield* Deferred.await(entered)
      expect(yield* names).toEqual([])
      yield* Deferred.succeed(leave, undefined)
      expect(yield* Fiber.join(inside)).toEqual(["inside"])
      expect(yield* names).toEqual(["inside"])
    })
  )

  it.scopedLive("show every reader what was committed before it began", () =>
    Effect.gen(function* () {
      const { insert, sql } = yield* open()
      const count = Effect.map(sql<{ n: number }>`SELECT count(*) AS n FROM rows`, ([row]) => row!.n)
      for (let n = 1; n <= 40; n++) {
        const write = insert(`${n}`)
        yield* n % 2 === 0 ? write : sql.withTransaction(write)
        expect(yield* atOnce([count, count, count])).toEqual([n, n, n])
      }
    })
  )

  it.live("let a short read pass one that takes long", () =>
    Effect.gen(function* () {
      const read = Effect.gen(function* () {
        const { names, sql } = yield* open()
        const long = yield* Effect.fork(sql`
          SELECT count(*) AS n FROM (
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n)`)
        yield* Effect.sleep("20 millis")
        expect(yield* names).toEqual([])
        const hasPassed = Option.isNone(yield* Fiber.poll(long))
        expect(yield* Fiber.join(long)).toEqual([{ n: 3_000_000 }])
        return hasPassed
      })
      expect(yield* cameMeanwhile(read)).toBe(true)
    })
  )

  it.scopedLive("that die in a transaction take it along, and say that it is not known", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open({ heapMax_MiB: 32 })
      const dying = Effect.zipRight(
        insert("lost"),
        sql`SELECT i, hex(randomblob(20)) FROM (
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT i FROM n)`
      )
      const error = yield* Effect.flip(asStorageError("test")(inTransaction(sql, dying)))
      expect(error.applied).toBe("unknown")
      expect(error.reason).toContain("the thread of the database has ended")
      const late = inTransaction(sql, Effect.zipRight(Effect.ignore(dying), insert("late")))
      yield* Effect.flip(asStorageError("test")(late))
      yield* sql.withTransaction(insert("next"))
      expect(yield* names).toEqual(["next"])
    })
  )

  it.scopedLive("keep nothing of a transaction that SQLite took back in its middle", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const [pages] = yield* sql<{ page_count: number }>`PRAGMA page_count`
      yield* sql`PRAGMA max_page_count = ${sql.literal(String(pages!.page_count + 1))}`
      const fill = Effect.forEach(Array.from({ length: 40 }), (_, n) => insert(`${n}`.padEnd(1_000, "x")))
      yield* Effect.flip(
        asStorageError("test")(inTransaction(sql, Effect.zipRight(Effect.ignore(fill), insert("late"))))
      )
      expect(yield* names).toEqual([])
    })
  )

  it.scopedLive("end with the scope, and leave the database file alone", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const use = Effect.gen(function* () {
        const sql = yield* clientAt(join(folder, "test.db"))
        yield* sql`CREATE TABLE rows (n INTEGER)`
        yield* sql.withTransaction(sql`INSERT INTO rows VALUES (1)`)
        expect(yield* atOnce([sql`SELECT n FROM rows`, sql`SELECT n FROM rows`])).toHaveLength(2)
        expect(readdirSync(folder)).toContain("test.db-wal")
      })
      yield* Effect.scoped(use)
      expect(readdirSync(folder)).toEqual(["test.db"])
    })
  )
})
