import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { closeSync, openSync, readSync, statSync } from "node:fs"
import { describe } from "vitest"
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
