import { describe, expect, it } from "@effect/vitest"
import { BodyBudget } from "../../../src/http/exchange/BodyBudget.ts"
import * as HeldTurns from "../../support/HeldTurns.ts"

describe("the budget of bodies", () => {
  const bounds = { bytesMax: 100, largeBytesMax: 80, clientBytesMax: 30, discardedMax: 100 }
  const make = () => new BodyBudget(() => null, HeldTurns.make(), bounds)

  it("is one for all, and large ones leave room for the others", () => {
    const budget = make()
    expect(budget.take(null, 80, true)).toBe(true)
    expect(budget.take(null, 1, true)).toBe(false)
    expect(budget.take(null, 20, false)).toBe(true)
    expect(budget.take(null, 1, false)).toBe(false)
    budget.give(null, 30)
    expect(budget.take(null, 10, true)).toBe(true)
    expect(budget.take(null, 11, true)).toBe(false)
  })

  it("has a share for each client, which cannot take it all", () => {
    const budget = make()
    expect(budget.take("one", 30, false)).toBe(true)
    expect(budget.take("one", 1, false)).toBe(false)
    expect(budget.take("other", 30, false)).toBe(true)
    budget.give("one", 10)
    expect(budget.take("one", 10, false)).toBe(true)
    expect(budget.take("one", 1, false)).toBe(false)
  })

  it("takes nothing for a body that it refuses", () => {
    const budget = make()
    expect(budget.take("one", 31, false)).toBe(false)
    expect(budget.take("other", 101, false)).toBe(false)
    expect(budget.take(null, 100, false)).toBe(true)
  })

  it("lets go on what waits, and no more than so much be thrown away from one sweep to the next", () => {
    const budget = make()
    let gone = 0
    expect([budget.discard(60), budget.discard(40)]).toEqual([true, false])
    budget.untilSweep(() => gone++)
    expect(gone).toBe(0)
    budget.sweep()
    expect([gone, budget.discard(99), budget.discard(1)]).toEqual([1, true, false])
    budget.sweep()
    expect(gone).toBe(1)
  })
})
