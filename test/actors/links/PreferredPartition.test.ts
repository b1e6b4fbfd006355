import { describe, expect, it } from "vitest"
import { PreferredPartition } from "../../../src/actors/links/PreferredPartition.ts"

describe("new keys", () => {
  it("may be of any partition while little is under way", () => {
    const gathering = new PreferredPartition()
    expect(gathering.next(0)).toBeUndefined()
    gathering.begin(1, 0)
    gathering.begin(1, 0)
    expect(gathering.next(0)).toBeUndefined()
  })

  it("gather at the partition that was sent something last, while others are under way", () => {
    const gathering = new PreferredPartition()
    gathering.begin(1, 0)
    gathering.begin(5, 1)
    expect([2, 11].map((now) => gathering.next(now))).toEqual([5, 5])
    gathering.begin(1, 3)
    expect(gathering.next(3)).toBe(1)
    gathering.end(5)
    expect(gathering.next(4)).toBeUndefined()
  })

  it("go elsewhere when an owner is slow", () => {
    const gathering = new PreferredPartition()
    gathering.begin(1, 0)
    gathering.begin(5, 1)
    expect(gathering.next(11.1)).toBeUndefined()
  })
})
