import { describe, expect, it } from "vitest"
import { Heartbeats } from "../../../../src/storage/sql/postgres/PersistentSession.ts"

describe("the heartbeats of a database", () => {
  it("say that it is away only when two sessions in a row have failed, and since when", () => {
    const heartbeats = new Heartbeats()
    heartbeats.answered(1_000)
    expect(heartbeats.awayFor(31_000)).toBeUndefined()
    // A process that was paused for 30 s finds its session lost, and has asked nobody since.
    heartbeats.failed()
    expect(heartbeats.awayFor(31_000)).toBeUndefined()
    heartbeats.failed()
    expect(heartbeats.awayFor(31_200)).toBe(30_200)
    heartbeats.answered(31_300)
    expect(heartbeats.awayFor(31_400)).toBeUndefined()
    expect(heartbeats.age(31_400)).toBe(100)
  })

  it("say nothing of a database that never answered but that it is away for ever", () => {
    const heartbeats = new Heartbeats()
    heartbeats.failed()
    heartbeats.failed()
    expect(heartbeats.awayFor(1)).toBe(Number.POSITIVE_INFINITY)
  })
})
