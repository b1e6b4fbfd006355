import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { KeyRing } from "../../../src/actors/keys/KeyRing.ts"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"

const key = fc.string({ unit: fc.constantFrom(..."0Az-_"), minLength: 1, maxLength: 12 })

/** Blocks of one width each, as ranges mint them, and of mixed ones, as the stock gives them. */
const block = fc.oneof(
  fc
    .integer({ min: 1, max: 12 })
    .chain((width) =>
      fc.array(fc.string({ unit: fc.constantFrom(..."0Az-_"), minLength: width, maxLength: width }))
    ),
  fc.array(key)
)

const step = fc.oneof(
  fc.record({ do: fc.constant("add" as const), keys: block }),
  fc.record({ do: fc.constant("take" as const), times: fc.integer({ min: 1, max: 8 }) }),
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drain" as const) }) }
)

const scripts = fc.record({
  capacity: fc.integer({ min: 1, max: 12 }),
  steps: fc.array(step, { maxLength: 60 })
})

describe("a key ring", () => {
  it("is a queue of at most its capacity, and gives back what finds no room", () => {
    fc.assert(
      fc.property(scripts, ({ capacity, steps }) => {
        const ring = new KeyRing(capacity)
        let model: Array<string> = []
        let widest = 0
        for (const step of steps) {
          switch (step.do) {
            case "add": {
              const room = capacity - model.length
              const fitting = step.keys.slice(0, room)
              expect(toStrings(ring.add(fromStrings(step.keys)))).toEqual(step.keys.slice(room))
              model.push(...fitting)
              if (fitting.length > 0) widest = Math.max(widest, ...step.keys.map(({ length }) => length))
              break
            }
            case "take":
              for (let turn = 0; turn < step.times; turn++) expect(ring.take()).toBe(model.shift())
              break
            case "drain":
              expect(toStrings(ring.drain())).toEqual(model)
              model = []
          }
          expect(ring.size).toBe(model.length)
          expect(ring.byteLength).toBeLessThanOrEqual(capacity * widest)
        }
        expect(toStrings(ring.drain())).toEqual(model)
      }),
      { numRuns: 2_000 }
    )
  })

  it("keeps its order and its memory while it goes round and round", () => {
    const ring = new KeyRing(5)
    let next = 0
    let expected = 0
    for (let turn = 0; turn < 100; turn++) {
      const added = fromStrings(Array.from({ length: 3 }, () => String(next++).padStart(7, "0")))
      expect(toStrings(ring.add(added))).toEqual([])
      for (let taken = 0; taken < 3; taken++) expect(ring.take()).toBe(String(expected++).padStart(7, "0"))
      expect(ring.byteLength).toBe(35)
    }
  })

  it("takes its memory once, when the first keys come, and again only for longer ones", () => {
    const ring = new KeyRing(4)
    expect(ring.byteLength).toBe(0)
    ring.add(fromStrings(["aaaaaaa", "bbbbbbb"]))
    expect(ring.byteLength).toBe(28)
    ring.add(fromStrings(["c"]))
    expect(ring.byteLength).toBe(28)
    ring.add(fromStrings(["dddddddd"]))
    expect(ring.byteLength).toBe(32)
    expect([ring.take(), ring.take(), ring.take(), ring.take(), ring.take()]).toEqual([
      "aaaaaaa",
      "bbbbbbb",
      "c",
      "dddddddd",
      undefined
    ])
  })
})
