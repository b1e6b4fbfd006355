import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { describe } from "vitest"
import { open } from "../../support/SqliteFile.ts"

/** How often a text can be read in a database's file and in its log, as somebody with a copy of the disk would. */
const readable = (path: string, text: string) =>
  Effect.sync(() =>
    [path, `${path}-wal`]
      .filter(existsSync)
      .map((file) => readFileSync(file, "latin1").split(text).length - 1)
      .reduce((sum, count) => sum + count, 0)
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
      // Has its turn after the log was emptied.
      yield* sql`PRAGMA user_version`
      expect(yield* readable(path, place)).toBe(0)
    })
  )

  it.scoped("nor can what a change has replaced", () =>
    Effect.gen(function* () {
      const { insert, path, sql } = yield* open()
      for (let n = 0; n < 20; n++) yield* insert(`${place}-${n}`)
      yield* sql`UPDATE rows SET name = 'r' || rowid`
      yield* TestClock.adjust("5 minutes")
      yield* sql`PRAGMA user_version`
      expect(yield* readable(path, place)).toBe(0)
    })
  )
})
