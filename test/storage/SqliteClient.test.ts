import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { createClient } from "@libsql/client/sqlite3"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { join } from "node:path"
import { describe } from "vitest"
import { asStorageError, inTransaction } from "../../src/storage/SqlTransaction.ts"
import * as SqliteClient from "../../src/storage/SqliteClient.ts"
import { spawnChild } from "./child.ts"
import { atOnce } from "./property.ts"
import { temporaryFolder } from "./stores.ts"

/** A client of the database file at `path`. */
const clientAt = (path: string, options?: SqliteClient.Options) =>
  Effect.map(Layer.build(SqliteClient.layer(path, options)), (context) =>
    Context.get(context, SqlClient.SqlClient)
  )

/** A client of a new database with one table, and the file's path. */
const open = Effect.fn(function* (options?: SqliteClient.Options) {
  const path = join(yield* temporaryFolder, "test.db")
  const sql = yield* clientAt(path, options)
  yield* sql`CREATE TABLE rows (name TEXT PRIMARY KEY, n INTEGER)`
  const insert = (name: string) => sql`INSERT INTO rows (name) VALUES (${name})`
  const names = Effect.map(sql<{ name: string }>`SELECT name FROM rows ORDER BY name`, (rows) =>
    rows.map(({ name }) => name)
  )
  return { path, sql, insert, names }
})

/** Another program that has the database file locked for writing until the effect it gives is run, or the scope closes. */
const lockedByAnother = (path: string) =>
  Effect.gen(function* () {
    const other = yield* Effect.acquireRelease(
      Effect.sync(() => createClient({ url: `file:${path}` })),
      (client) => Effect.sync(() => client.close())
    )
    yield* Effect.promise(() => other.execute("BEGIN IMMEDIATE"))
    return Effect.promise(() => other.execute("ROLLBACK"))
  })

/** What is really in the file: a connection that has not committed sees its own rows too. */
const namesSeenByAnother = (path: string) =>
  Effect.promise(async () => {
    const other = createClient({ url: `file:${path}` })
    const { rows } = await other.execute("SELECT name FROM rows ORDER BY name")
    other.close()
    return rows.map((row) => row["name"])
  })

/** Lets everything run that can run now: promises and the event loop turn some times. */
const settle = Effect.repeatN(
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
  20
)

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
      const child = yield* spawnChild("writeRows.ts", [path])
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

describe("the SQLite client: a database locked by another program", () => {
  it.scopedLive("is waited for, by statements and by transactions", () =>
    Effect.gen(function* () {
      const { insert, names, path, sql } = yield* open()
      const unlock = yield* lockedByAnother(path)
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

  it.scopedLive("fails what has waited too long, as not applied, and nothing that comes later", () =>
    Effect.gen(function* () {
      const { insert, names, path, sql } = yield* open({ busyWaitMax: "60 millis" })
      const unlock = yield* lockedByAnother(path)
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
      const unlock = yield* lockedByAnother(path)
      const waiting = yield* Effect.fork(sql.withTransaction(insert("interrupted")))
      yield* Effect.sleep("40 millis")
      yield* Fiber.interrupt(waiting)
      yield* unlock
      yield* Effect.sleep("40 millis")
      const again = yield* lockedByAnother(path)
      yield* again
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
