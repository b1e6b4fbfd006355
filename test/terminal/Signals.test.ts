import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Heard, meaningOf } from "../../src/terminal/Signals.ts"
import { spawnChild } from "../support/Child.ts"

/** What signals at these seconds mean, one after the other; the first is at 0. */
const meanings = (...seconds: ReadonlyArray<number>) => {
  let heard: Heard = { first_ms: 0, last_ms: 0, isHurried: false }
  return seconds.map((second) => {
    const meaning = meaningOf(heard, second * 1_000)
    heard = { ...heard, last_ms: second * 1_000, isHurried: heard.isHurried || meaning !== "copy" }
    return meaning
  })
}

describe("a signal behind the first", () => {
  it("is the same one again within a second of the one before, however many come", () => {
    expect(meanings(0, 0.005, 0.9, 1.8, 2.7)).toEqual(["copy", "copy", "copy", "copy", "copy"])
  })

  it("hurries the shutdown, also when it comes late", () => {
    expect(meanings(1)).toEqual(["hurry"])
    expect(meanings(60, 60.005)).toEqual(["hurry", "copy"])
  })

  it("ends it when the shutdown was hurried before, and had 5 s", () => {
    expect(meanings(1.5, 3, 4.5, 6)).toEqual(["hurry", "hurry", "hurry", "end"])
    expect(meanings(60, 61)).toEqual(["hurry", "end"])
  })
})

describe("a shutdown that does not end", () => {
  it.scopedLive("ends with the process when its time is over, which is said", () =>
    Effect.gen(function* () {
      const child = yield* spawnChild("NeverStop", ["500"])
      yield* child.line("running")
      process.kill(child.pid, "SIGTERM")
      expect(yield* child.ended).toBe(130)
      expect(child.printed.at(-1)).toBe("Linkmint ends, since its shutdown takes longer than 500ms.")
    })
  )
})
