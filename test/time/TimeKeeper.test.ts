import { describe, expect, it } from "@effect/vitest"
import { believedAfter_ms, TimeKeeper } from "../../src/time/TimeKeeper.ts"

const day_ms = 86_400_000

/** A keeper that began at noon, and a wall clock that is `ahead` of the truth: both are looked at each second. */
const world = () => {
  const noon = 1_000 * day_ms
  const keeper = new TimeKeeper(noon, 0)
  const state = { ahead: 0, now: 0 }
  const look = (slept_ms = 0) => keeper.saw(noon + state.now + state.ahead, state.now, slept_ms)
  return {
    keeper,
    state,
    look,
    /** Lets so many seconds go by; gives what the clock showed. */
    pass: (seconds: number) =>
      Array.from({ length: seconds }, () => {
        state.now += 1_000
        return look()
      }).filter((event) => event !== undefined),
    /** By how much the time that is kept is ahead of the truth. */
    error: () => keeper.at(state.now) - noon - state.now
  }
}

describe("time that is kept against a wall clock", () => {
  it("goes on without a clock that jumps, and nothing is settled until it returns", () => {
    const { error, keeper, pass, state } = world()
    state.ahead = 40 * day_ms
    expect(pass(70)).toEqual([{ tag: "jumped", by_ms: 40 * day_ms }])
    expect([error(), keeper.isSettled(state.now)]).toEqual([0, false])
    state.ahead = 0
    expect(pass(1)).toEqual([{ tag: "returned", by_ms: 0 }])
    expect([error(), keeper.isSettled(state.now)]).toEqual([0, true])
  })

  it.each([5_000, -5_000])(
    "believes a clock that has gone on for ten minutes from where it jumped (%d ms)",
    (by_ms) => {
      const { error, keeper, pass, state } = world()
      state.ahead = by_ms
      expect(pass(believedAfter_ms / 1_000)).toEqual([{ tag: "jumped", by_ms }])
      expect([error(), keeper.isSettled(state.now)]).toEqual([0, false])
      expect(pass(1)).toEqual([{ tag: "believed", by_ms }])
      expect([error(), keeper.isSettled(state.now)]).toEqual([by_ms, true])
    }
  )

  it("begins to wait anew with each jump", () => {
    const { error, pass, state } = world()
    for (let jumps = 1; jumps <= 4; jumps++) {
      state.ahead += 5_000
      expect(pass(400)).toEqual([{ tag: "jumped", by_ms: jumps * 5_000 }])
      expect(error()).toBe(0)
    }
  })

  it("follows small corrections slowly, and is never a second wrong because of a clock that runs wrong", () => {
    const { error, pass, state } = world()
    state.ahead = 500
    expect(pass(10)).toEqual([])
    expect(error()).toBe(100)
    expect(pass(60)).toEqual([])
    expect(error()).toBe(500)

    const runaway = world()
    for (let second = 0; second < 500; second++) {
      runaway.state.ahead += 500
      runaway.pass(1)
    }
    expect(Math.abs(runaway.error())).toBeLessThan(1_000)
  })

  it("follows at once a clock that is ahead by as long as the machine was suspended", () => {
    const { error, keeper, look, pass, state } = world()
    state.ahead = 3_600_000
    expect(look(3_600_200)).toEqual({ tag: "slept", by_ms: 3_600_000 })
    expect([error(), keeper.isSettled(state.now), pass(5)]).toEqual([3_600_000, true, []])
  })

  it("does not follow one that is ahead by more than that", () => {
    const { error, look, state } = world()
    state.ahead = 40 * day_ms
    expect(look(3_600_000)).toEqual({ tag: "jumped", by_ms: 40 * day_ms })
    expect(error()).toBe(0)
  })
})

describe("time that is kept by the database's clock", () => {
  it("is the database's from the first reading on, however wrong the machine's is", () => {
    const keeper = new TimeKeeper(1_000_000, 0)
    expect(keeper.heard({ database_ms: 955_010, asked: 0, answered: 20 })).toBe(undefined)
    expect([keeper.at(20), keeper.isSettled(20)]).toEqual([955_020, true])
  })

  it("moves only as far as a reading proves it wrong", () => {
    const keeper = new TimeKeeper(0, 0)
    keeper.heard({ database_ms: 5_000, asked: 0, answered: 0 })
    // Somewhere in a round trip of 4 s.
    keeper.heard({ database_ms: 9_500, asked: 1_000, answered: 5_000 })
    expect(keeper.at(5_000)).toBe(10_000)
    keeper.heard({ database_ms: 11_300, asked: 6_000, answered: 6_100 })
    expect(keeper.at(6_100)).toBe(11_300)
    keeper.heard({ database_ms: 12_200, asked: 7_000, answered: 7_100 })
    expect(keeper.at(7_100)).toBe(12_300)
  })

  it("follows a jump at once, after which nothing is settled for ten minutes", () => {
    const keeper = new TimeKeeper(0, 0)
    keeper.heard({ database_ms: 0, asked: 0, answered: 0 })
    expect(keeper.heard({ database_ms: 60_200, asked: 200, answered: 200 })).toEqual({
      tag: "jumped",
      by_ms: 60_000
    })
    expect(keeper.at(200)).toBe(60_200)
    expect(keeper.isSettled(200 + believedAfter_ms - 1)).toBe(false)
    expect(keeper.isSettled(200 + believedAfter_ms)).toBe(true)
  })
})
