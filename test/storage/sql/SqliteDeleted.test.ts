import { expect, it } from "@effect/vitest"
import type { SqlClient } from "@effect/sql"
import { Effect, TestClock } from "effect"
import Database from "libsql"
import { existsSync, readFileSync } from "node:fs"
import { describe } from "vitest"
import { open, settle } from "../../support/SqliteFile.ts"

/** How often a text can be read in a database's file and in its log, as somebody with a copy of the disk would. */
const readable = (path: string, text: string) =>
  Effect.sync(() =>
    [path, `${path}-wal`]
      .filter(existsSync)
      .map((file) => readFileSync(file, "latin1").split(text).length - 1)
      .reduce((sum, count) => sum + count, 0)
  )

/** The same of {@link place} within some seconds, as soon as it is none: what empties the log has its turn when nobody else does. */
const soonReadable = (path: string, sql: SqlClient.SqlClient, seconds = 60) =>
  Effect.zipRight(sql`PRAGMA user_version`, readable(path, place)).pipe(
    Effect.zipLeft(settle),
    Effect.zipLeft(TestClock.adjust("1 second")),
    Effect.repeat({ until: (count) => count === 0, times: seconds })
  )

const place = "the-person-at-number-7"

describe("a row that was deleted from an SQLite database", () => {
  it.scoped("cannot be read any more in its files five minutes later, whole pages of rows neither", () =>
    Effect.gen(function* () {
      const { insert, path, sql } = yield* open()
      for (let n = 0; n < 500; n++) yield* insert(`${place}-${n}-${"x".repeat(50)}`)
      expect(yield* readable(path, place)).toBeGreaterThan(500)
      yield* sql`DELETE FROM rows WHERE name LIKE ${`${place}%`}`
      yield* TestClock.adjust("5 minutes")
      expect(yield* soonReadable(path, sql)).toBe(0)
    })
  )

  it.scoped("nor can what a change has replaced", () =>
    Effect.gen(function* () {
      const { insert, path, sql } = yield* open()
      for (let n = 0; n < 20; n++) yield* insert(`${place}-${n}`)
      yield* sql`UPDATE rows SET name = 'r' || rowid`
      yield* TestClock.adjust("5 minutes")
      expect(yield* soonReadable(path, sql)).toBe(0)
    })
  )

  it.scoped("is gone from the log soon after a statement that was reading then has ended", () =>
    Effect.gen(function* () {
      const { insert, path, sql } = yield* open()
      yield* insert(place)
      yield* sql`DELETE FROM rows`
      const reader = yield* Effect.acquireRelease(
        Effect.sync(() => new Database(path)),
        (database) => Effect.sync(() => database.close())
      )
      reader.exec("BEGIN")
      reader.prepare("SELECT count(*) FROM rows").all()
      yield* TestClock.adjust("5 minutes")
      expect(yield* soonReadable(path, sql, 3)).toBeGreaterThan(0)
      reader.exec("COMMIT")
      expect(yield* soonReadable(path, sql)).toBe(0)
    })
  )
})
