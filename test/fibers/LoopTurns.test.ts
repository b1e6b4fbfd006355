import { describe, expect, it } from "@effect/vitest"
import * as LoopTurns from "../../src/fibers/LoopTurns.ts"

/** Turns of 10 ms, in a loop and a time that the test moves on. */
const makeLoop = () => {
  let now_ms = 0
  let next: Array<() => void> = []
  const turns = LoopTurns.make({ now_ms: () => now_ms, nextTurn: (run) => void next.push(run) }, 10)
  return {
    turns,
    work: (ms: number) => void (now_ms += ms),
    /** The loop turns; gives how many have asked for it. */
    turn: () => {
      const ready = next
      next = []
      ready.forEach((run) => run())
      return ready.length
    }
  }
}

describe("a turn of the event loop", () => {
  it("is over when it has lasted for as long as it may, since it was first asked", () => {
    const { turns, work } = makeLoop()
    work(50)
    expect(turns.isOver()).toBe(false)
    work(9)
    expect(turns.isOver()).toBe(false)
    work(1)
    expect(turns.isOver()).toBe(true)
  })

  it("is counted anew when the loop has turned, whose callback is asked for once", () => {
    const { turn, turns, work } = makeLoop()
    turns.isOver()
    work(10)
    expect(turns.isOver()).toBe(true)
    expect(turn()).toBe(1)
    work(100)
    expect(turns.isOver()).toBe(false)
  })

  it("asks for no callback while nobody has anything to do", () => {
    const { turn, turns } = makeLoop()
    turns.isOver()
    expect([turn(), turn()]).toEqual([1, 0])
  })

  it("does of what was deferred as much as there is time for, in its order, and the rest later", () => {
    const { turn, turns, work } = makeLoop()
    const done: Array<number> = []
    for (const number of [1, 2, 3, 4, 5]) {
      turns.defer(() => {
        work(5)
        done.push(number)
      })
    }
    expect(done).toEqual([])
    turn()
    expect(done).toEqual([1, 2])
    turns.defer(() => void done.push(6))
    turn()
    expect(done).toEqual([1, 2, 3, 4])
    turn()
    expect(done).toEqual([1, 2, 3, 4, 5, 6])
  })
})
