import { Duration, Option } from "effect"
import { describe, expect, it } from "vitest"
import { failuresAfter, restartIn } from "../../src/node/Processes.ts"

/** How often a process has failed in a row that lived for so many seconds, one time after the other. */
const failures = (...lives_s: ReadonlyArray<number>) =>
  lives_s.reduce((count, life_s) => failuresAfter(count, Duration.seconds(life_s)), 0)

const wait_s = (count: number) => Option.getOrNull(Option.map(restartIn(count), Duration.toSeconds))

describe("a process that ends again and again", () => {
  it("is restarted after 1 s, then after twice as long each time, up to 30 s", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8].map(wait_s)).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
  })

  it("is given up when it has failed nine times in a row", () => {
    expect(wait_s(failures(...Array.from({ length: 8 }, () => 29.9)))).toBe(30)
    expect(wait_s(failures(...Array.from({ length: 9 }, () => 29.9)))).toBeNull()
  })

  it("has its failures counted from the beginning when it has lived for 30 s", () => {
    expect(failures(1, 1, 1, 30)).toBe(1)
    expect(failures(1, 1, 1, 30, 3_600, 40)).toBe(1)
    expect(failures(...Array.from({ length: 8 }, () => 1), 30, 1)).toBe(2)
  })
})
