import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { askInTurns } from "../../../src/storage/sql/Turns.ts"

/** Asks about the letters of words; gives the turns that were asked, and the answers. */
const asked = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const turns: Array<ReadonlyArray<string>> = []
    const answers = yield* askInTurns(
      words,
      (word) => word.split(""),
      (some) =>
        Effect.sync(() => {
          turns.push(some)
          return some.map((word) => `${word} in turn ${turns.length}`)
        })
    )
    return { turns, answers }
  })

describe("questions in turns", () => {
  it.effect("are asked at once where no two are about the same", () =>
    Effect.gen(function* () {
      expect((yield* asked(["a", "b", "cd"])).turns).toEqual([["a", "b", "cd"]])
    })
  )

  it.effect("are asked one after the other where they are, in their order, and answered in it", () =>
    Effect.gen(function* () {
      const { answers, turns } = yield* asked(["a", "ab", "b", "c", "a"])
      expect(turns).toEqual([["a", "c"], ["ab"], ["b", "a"]])
      expect(answers).toEqual(["a in turn 1", "ab in turn 2", "b in turn 3", "c in turn 1", "a in turn 3"])
    })
  )

  it.effect("are none where there is nothing to ask", () =>
    Effect.gen(function* () {
      expect(yield* asked([])).toEqual({ turns: [], answers: [] })
    })
  )
})
