import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import { join } from "node:path"
import { describe } from "vitest"
import * as SqliteClient from "../../../src/storage/sql/SqliteClient.ts"
import { asStorageError, inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { spawnChild } from "../../support/Child.ts"
import { atOnce } from "../../support/Property.ts"
import { clientAt, open, settle } from "../../support/SqliteFile.ts"
import { temporaryFolder } from "../../support/Stores.ts"

describe("the SQLite client: settings", () => {
  it.scopedLive("hold outside and inside of transactions, and after many of them", () =>
    Effect.gen(function* () {
      const { insert, sql } = yield* open()
      const pragmas = Effect.all([
        sql`PRAGMA journal_mode`,
        sql`PRAGMA synchronous`,
        sql`PRAGMA foreign_keys`
      ])
      const wanted = [[{ journal_mode: "wal" }], [{ synchronous: 2 }], [{ foreign_keys: 1 }]]
      expect(yield* pragmas).toEqual(wanted)
      expect(yield* sql.withTransaction(pragmas)).toEqual(wanted)
      for (let n = 0; n < 30; n++) {
        yield* sql.withTransaction(insert(`${n}`))
        yield* Effect.flip(sql.withTransaction(Effect.zipRight(insert(`no ${n}`), Effect.fail("stop"))))
      }
      expect(yield* pragmas).toEqual(wanted)
      expect(yield* sql.withTransaction(pragmas)).toEqual(wanted)
    })
  )

  it.scopedLive.each(["100% mine #1? really.db", "%20.db", "zażółć 🍃.db", 'it\'s "quoted".db'])(
    "opens exactly the file that is named: %s",
    (name) =>
      Effect.gen(function* () {
        const path = join(yield* temporaryFolder, name)
        const sql = yield* clientAt(path)
        const [row] = yield* sql<{ file: string }>`SELECT file FROM pragma_database_list WHERE name = 'main'`
        expect(row?.file.endsWith(name)).toBe(true)
      })
  )

  it.scopedLive("name the file that cannot be opened", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "missing", "test.db")
      const error = yield* Effect.flip(clientAt(path))
      expect(error).toBeInstanceOf(SqliteClient.SqliteOpenError)
      expect(error.message).toContain(path)
    })
  )

  it.scopedLive("keep what was committed when the file is closed and opened again", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "test.db")
      yield* Effect.scoped(Effect.flatMap(clientAt(path), (sql) => sql`CREATE TABLE kept (n INTEGER)`))
      const sql = yield* clientAt(path)
      expect(yield* sql`SELECT * FROM kept`).toEqual([])
    })
  )

  it.scopedLive("keep what was committed when the process is killed", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "test.db")
      const child = yield* spawnChild("WriteRows", [path])
      yield* child.line("committed 151")
      yield* child.kill
      const told = Number(child.printed.at(-1)!.split(" ")[1])
      const sql = yield* clientAt(path)
      const rows = yield* sql<{ n: number }>`SELECT n FROM rows ORDER BY n`
      expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: rows.length }, (_, index) => index + 1))
      expect(rows.length).toBeGreaterThanOrEqual(told)
    })
  )
})

describe("the SQLite client: transactions", () => {
  it.scopedLive("make statements outside of them wait, and take none of those back", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const [entered, leave] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const inside = yield* insert("inside").pipe(
        Effect.zipRight(Deferred.succeed(entered, undefined)),
        Effect.zipRight(Deferred.await(leave)),
        Effect.zipRight(Effect.fail("stop")),
        sql.withTransaction,
        Effect.fork
      )
      yield* Deferred.await(entered)
      const outside = yield* Effect.fork(insert("outside"))
      yield* settle
      expect(Option.isNone(yield* Fiber.poll(outside))).toBe(true)
      yield* Deferred.succeed(leave, undefined)
      yield* Effect.flip(Fiber.join(inside))
      yield* Fiber.join(outside)
      expect(yield* names).toEqual(["outside"])
    })
  )

  it.scopedLive("take turns with statements outside that are under way", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const all = Array.from({ length: 40 }, (_, n) => String(n).padStart(2, "0"))
      yield* atOnce(all.map((name, n) => (n % 2 === 0 ? insert(name) : sql.withTransaction(insert(name)))))
      expect(yield* names).toEqual(all)
    })
  )

  it.scopedLive("are rolled back whole when a statement fails, and say that nothing was applied", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      yield* insert("a")
      const error = yield* inTransaction(sql, Effect.zipRight(insert("b"), insert("a"))).pipe(
        asStorageError("test"),
        Effect.flip
      )
      expect(error).toMatchObject({ _tag: "StorageError", operation: "test", applied: "no" })
      expect(error.reason).toContain("UNIQUE")
      expect(yield* names).toEqual(["a"])
      yield* sql.withTransaction(insert("c"))
      yield* insert("d")
      expect(yield* names).toEqual(["a", "c", "d"])
    })
  )

  it.scopedLive("say that a statement outside that failed was not applied", () =>
    Effect.gen(function* () {
      const { insert } = yield* open()
      yield* insert("a")
      expect((yield* Effect.flip(asStorageError("test")(insert("a")))).applied).toBe("no")
    })
  )

  it.scopedLive("run the statements of many fibers of one transaction", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      yield* sql.withTransaction(atOnce(["a", "b", "c"].map(insert)))
      yield* Effect.flip(sql.withTransaction(atOnce([insert("d"), insert("a"), insert("e")])))
      expect(yield* names).toEqual(["a", "b", "c"])
    })
  )

  it.scopedLive("see and change the database one after the other", () =>
    Effect.gen(function* () {
      const { sql } = yield* open()
      yield* sql`INSERT INTO rows VALUES ('counter', 0)`
      const increment = Effect.gen(function* () {
        const [row] = yield* sql<{ n: number }>`SELECT n FROM rows`
        yield* Effect.yieldNow()
        yield* sql`UPDATE rows SET n = ${row!.n + 1}`
      })
      yield* atOnce(Array.from({ length: 60 }, () => sql.withTransaction(increment)))
      expect(yield* sql`SELECT n FROM rows`).toEqual([{ n: 60 }])
    })
  )

  it.scopedLive("keep what an inner one did not take back", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const inner = (name: string) => sql.withTransaction(Effect.zipRight(insert(name), Effect.fail("stop")))
      yield* sql.withTransaction(Effect.all([insert("a"), Effect.ignore(inner("b")), insert("c")]))
      expect(yield* names).toEqual(["a", "c"])
    })
  )

  it.scopedLive("are rolled back when their fiber is interrupted, and let others through", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const entered = yield* Deferred.make<void>()
      const inside = yield* insert("inside").pipe(
        Effect.zipRight(Deferred.succeed(entered, undefined)),
        Effect.zipRight(Effect.never),
        sql.withTransaction,
        Effect.fork
      )
      yield* Deferred.await(entered)
      yield* Fiber.interrupt(inside)
      yield* insert("outside")
      expect(yield* names).toEqual(["outside"])
    })
  )

  it.scopedLive("refuse a statement that comes when they have ended", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const ended = yield* Deferred.make<void>()
      const late = yield* sql.withTransaction(
        Effect.forkDaemon(Effect.zipRight(Deferred.await(ended), insert("late")))
      )
      yield* Deferred.succeed(ended, undefined)
      expect(Exit.isFailure(yield* Fiber.await(late))).toBe(true)
      yield* sql.withTransaction(insert("next"))
      expect(yield* names).toEqual(["next"])
    })
  )

  it.scopedLive("are rolled back when the disk is full, and say so", () =>
    Effect.gen(function* () {
      const { insert, names, sql } = yield* open()
      const [pages] = yield* sql<{ page_count: number }>`PRAGMA page_count`
      yield* sql`PRAGMA max_page_count = ${sql.literal(String(pages!.page_count + 1))}`
      const fill = Effect.forEach(Array.from({ length: 40 }), (_, n) => insert(`${n}`.padEnd(1_000, "x")))
      const error = yield* Effect.flip(asStorageError("test")(inTransaction(sql, fill)))
      expect(error.applied).toBe("no")
      expect(error.reason).toContain("SQLITE_FULL")
      yield* sql.withTransaction(insert("small"))
      expect(yield* names).toEqual(["small"])
    })
  )
})
