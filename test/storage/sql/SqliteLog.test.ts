import { expect, it } from "@effect/vitest"
import type { SqlClient } from "@effect/sql"
import { Deferred, Effect, TestClock } from "effect"
import { closeSync, openSync, readSync, statSync } from "node:fs"
import { describe } from "vitest"
import { keepShort } from "../../../src/storage/sql/SqliteLog.ts"
import { open, settle } from "../../support/SqliteFile.ts"

/** How often the log of a database has restarted, as its header says: https://www.sqlite.org/fileformat2.html#walformat */
const beginnings = (path: string) =>
  Effect.sync(() => {
    const file = openSync(`${path}-wal`, "r")
    const header = Buffer.alloc(16)
    readSync(file, header, 0, 16, 0)
    closeSync(file)
    return header.readUInt32BE(12)
  })

const sizeOf = (path: string) => statSync(`${path}-wal`).size

const MiB = 1_048_576

describe("the log of an SQLite database", () => {
  it.scoped("is emptied beside no other checkpoint, and again every second as long as somebody reads", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const passive = yield* Deferred.make<void>()
      let busy = 1
      const sql = ([text]: ReadonlyArray<string>) =>
        Effect.sync(() => {
          asked.push(text!)
          return [{ busy }]
        })
      const isWritten = yield* Effect.makeLatch(true)
      yield* Effect.forkScoped(
        keepShort(
          sql as unknown as SqlClient.SqlClient,
          {
            askThen: () => {},
            begin: Effect.void,
            ask: ({ statement }) =>
              Effect.suspend(() => {
                asked.push(statement!.sql)
                return Effect.as(Deferred.await(passive), { columns: [], rows: [[0, 0, 0]] })
              })
          },
          isWritten
        )
      )
      yield* Effect.addFinalizer(() => Deferred.succeed(passive, undefined))
      const [beside, emptying] = ["PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(TRUNCATE)"]
      yield* TestClock.adjust("5 minutes")
      expect(asked).toEqual([beside])
      yield* Deferred.succeed(passive, undefined)
      yield* TestClock.adjust("1 second")
      expect(asked).toEqual([beside, emptying, emptying])
      busy = 0
      yield* TestClock.adjust("1 second")
      expect(asked.length).toBe(4)
      yield* TestClock.adjust("299 seconds")
      expect(asked.length).toBe(4)
      yield* TestClock.adjust("1 second")
      expect(asked.length).toBe(5)
      busy = 1
      yield* TestClock.adjust("300 seconds")
      const before = asked.length
      // Then there is a pause.
      yield* TestClock.adjust("8 minutes")
      expect(asked.length - before).toBe(240)
    })
  )

  it.scoped("is written back while the client writes, and restarts before it is long", () =>
    Effect.gen(function* () {
      const { insert, path } = yield* open()
      const first = yield* beginnings(path)
      for (let n = 0; n < 10; n++) yield* insert(`${n}`.padEnd(MiB, "x"))
      expect(sizeOf(path)).toBeGreaterThan(10 * MiB)
      expect(yield* beginnings(path)).toBe(first)
      let writes = 0
      const next = Effect.gen(function* () {
        yield* TestClock.adjust("1 second")
        yield* settle
        yield* insert(`next ${writes++}`)
        return yield* beginnings(path)
      })
      yield* Effect.repeat(next, { until: (now) => now > first })
      const { size } = statSync(`${path}-wal`)
      yield* insert("over what was there".padEnd(MiB, "x"))
      expect(sizeOf(path)).toBe(size)
    })
  )
})
