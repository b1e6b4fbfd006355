import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import Database from "libsql"
import { join } from "node:path"
import { describe } from "vitest"
import * as SqliteThread from "../../../src/storage/sql/SqliteThread.ts"
import { lockedByAnother } from "../../support/SqliteFile.ts"
import { temporaryFolder } from "../../support/Stores.ts"

/** More rows than fit into a thread's memory of 32 MiB. */
const tooMuch = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000)
  SELECT i, hex(randomblob(20)) FROM n`

const opened = Effect.gen(function* () {
  const path = join(yield* temporaryFolder, "test.db")
  const thread = yield* SqliteThread.make({ path, pragmas: ["journal_mode = WAL"] }, { heapMax_MiB: 32 })
  const outside = (sql: string, ...args: ReadonlyArray<unknown>) =>
    thread.ask({ kind: "outside", statement: { sql, args } })
  yield* outside("CREATE TABLE rows (name TEXT)")
  const count = Effect.map(outside("SELECT count(*) FROM rows"), ({ rows }) => rows[0]![0])
  return { path, thread, outside, count }
})

describe("a thread of SQLite", () => {
  it.scopedLive(
    "that dies fails all who wait, who cannot know what was done, and is followed by another",
    () =>
      Effect.gen(function* () {
        const { count, outside } = yield* opened
        const failures = yield* Effect.all([Effect.flip(outside(tooMuch)), Effect.flip(count)], {
          concurrency: 2
        })
        for (const failure of failures) {
          expect(failure).toMatchObject({ code: undefined, isLocked: false })
          expect(failure.message).toContain("the thread of the database has ended")
        }
        expect(yield* count).toBe(0)
      })
  )

  it.scopedLive("does nothing more when its scope has closed", () =>
    Effect.gen(function* () {
      const { count } = yield* Effect.scoped(opened)
      expect(yield* Effect.flip(count)).toMatchObject({ code: "SQLITE_MISUSE" })
    })
  )

  it.scopedLive("sees what others commit, also after a statement that found the database locked", () =>
    Effect.gen(function* () {
      const { count, outside, path } = yield* opened
      expect(yield* count).toBe(0)
      const other = yield* lockedByAnother(path)
      expect(yield* Effect.flip(outside("INSERT INTO rows VALUES ('a')"))).toMatchObject({ isLocked: true })
      yield* other.unlock
      const database = new Database(path)
      for (const wanted of [1, 2, 3]) {
        database.exec("INSERT INTO rows VALUES ('b')")
        expect(yield* count).toBe(wanted)
      }
      database.close()
    })
  )

  it.scopedLive("gives the columns of a table as it is now", () =>
    Effect.gen(function* () {
      const { outside } = yield* opened
      yield* outside("INSERT INTO rows VALUES ('a')")
      expect(yield* outside("SELECT * FROM rows")).toEqual({ columns: ["name"], rows: [["a"]] })
      yield* outside("ALTER TABLE rows ADD COLUMN n INTEGER DEFAULT 5")
      expect(yield* outside("SELECT * FROM rows")).toEqual({ columns: ["name", "n"], rows: [["a", 5]] })
    })
  )

  it.scopedLive("takes texts, numbers, booleans and null, and refuses all else", () =>
    Effect.gen(function* () {
      const { outside } = yield* opened
      const values = ["ü", 1.5, 2 ** 52, 7n, true, false, null]
      const columns = values.map((_, index) => `? AS c${index}`).join(", ")
      const { rows } = yield* outside(`SELECT ${columns}`, ...values)
      expect(rows).toEqual([["ü", 1.5, 2 ** 52, 7, 1, 0, null]])
      for (const value of [undefined, Number.NaN, {}, [1], new Uint8Array(1)]) {
        expect((yield* Effect.flip(outside("SELECT ?", value))).message).toContain("argument")
      }
      expect((yield* Effect.flip(outside("SELECT ?", 2n ** 53n))).message).toContain("2^53")
    })
  )

  it.scopedLive("gives rows without names as with them, in their order, whatever is in them", () =>
    Effect.gen(function* () {
      const { thread } = yield* opened
      const both = (sql: string, ...args: ReadonlyArray<unknown>) =>
        Effect.forEach([false, true], (isUnnamed) =>
          Effect.exit(
            Effect.map(
              thread.ask({ kind: "outside", statement: { sql, args, isUnnamed } }),
              ({ rows }) => rows
            )
          )
        )
      const texts = [
        "",
        "null",
        `"\\`,
        "\u0000\u001F\u2028",
        "\u{1F517}ü",
        ",1234567890123456789,",
        "[9007199254740993]"
      ]
      const numbers = [0, -1, 2 ** 53 - 1, 1 - 2 ** 53, 0.1 + 0.2, 1 / 3, 1e300, -5e-324]
      const values = [...texts, ...numbers, true, null]
      const sql = `SELECT ${values.map(() => "?").join(", ")}
        UNION ALL SELECT * FROM (SELECT ${values.map(() => "NULL").join(", ")} WHERE 0) -- and no more`
      for (const [named, unnamed] of [
        yield* both(sql, ...values),
        yield* both("SELECT value AS a, value AS a FROM json_each('[3,1,2]') ORDER BY value DESC LIMIT 2"),
        yield* both("SELECT 1 WHERE 0"),
        yield* both("SELECT 9007199254740993"),
        yield* both("SELECT 'a', -9007199254740993"),
        yield* both("SELECT nothing FROM nowhere")
      ]) {
        expect(unnamed).toEqual(named)
      }
      expect(
        yield* thread.ask({
          kind: "outside",
          statement: { sql: "SELECT ?", args: [texts[4]], isUnnamed: true }
        })
      ).toEqual({
        columns: [],
        rows: [[texts[4]]]
      })
    })
  )
})
