import { describe, expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import * as SqliteClient from "../../../src/storage/sql/SqliteClient.ts"
import { askInTurns } from "../../../src/storage/sql/Turns.ts"

/** Asks about the letters of words; gives the turns that were asked, what was locked before them, and the answers. */
const asked = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const turns: Array<ReadonlyArray<string>> = []
    const locked: Array<string> = []
    const answers = yield* askInTurns(
      sql,
      words,
      (word) => word.split(""),
      (letters) => Effect.sync(() => void locked.push(...letters, "before", String(turns.length))),
      (some) =>
        Effect.sync(() => {
          turns.push(some)
          return some.map((word) => `${word} in turn ${turns.length}`)
        })
    )
    return { turns, locked, answers }
  }).pipe(Effect.provide(Layer.orDie(SqliteClient.layer(":memory:"))), Effect.scoped)

describe("questions in turns", () => {
  it.live("are asked at once where no two are about the same", () =>
    Effect.gen(function* () {
      const { locked, turns } = yield* asked(["a", "b", "cd"])
      expect([turns, locked]).toEqual([[["a", "b", "cd"]], []])
    })
  )

  it.live("are asked one after the other where they are, in their order, and answered in it", () =>
    Effect.gen(function* () {
      const { answers, locked, turns } = yield* asked(["a", "ab", "b", "c", "a"])
      expect(turns).toEqual([["a", "c"], ["ab"], ["b", "a"]])
      expect(locked).toEqual([..."aabbca", "before", "0"])
      expect(answers).toEqual(["a in turn 1", "ab in turn 2", "b in turn 3", "c in turn 1", "a in turn 3"])
    })
  )

  it.live("are none where there is nothing to ask", () =>
    Effect.gen(function* () {
      expect(yield* asked([])).toEqual({ turns: [], locked: [], answers: [] })
    })
  )
})
