import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { VisitRing } from "../../src/visits/VisitRing.ts"
import { forAll } from "../support/Property.ts"
import { visitOf } from "../support/samples/SomeVisits.ts"

describe("VisitRing", () => {
  it.effect("gives out what came in, in order, and refuses what comes when it is full", () =>
    forAll(
      fc.tuple(fc.integer({ min: 1, max: 5 }), fc.array(fc.boolean(), { maxLength: 60 })),
      ([capacity, steps]) =>
        Effect.sync(() => {
          const ring = new VisitRing(capacity)
          const model: Array<number> = []
          steps.forEach((isPush, at) => {
            if (isPush) {
              expect(ring.push(visitOf({ at }))).toBe(model.length < capacity)
              if (model.length < capacity) model.push(at)
            } else expect(ring.shift()?.at).toBe(model.shift())
            expect(ring.size).toBe(model.length)
          })
        })
    )
  )
})
