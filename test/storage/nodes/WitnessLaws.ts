import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, type Scope } from "effect"
import { describe } from "vitest"
import { later, nothing, type Testimony, type Witness } from "../../../src/storage/nodes/Witness.ts"
import { atOnce } from "../../support/Property.ts"

const number = fc.oneof(fc.nat(20), fc.maxSafeNat())

/** Whatever a database may have come to. */
const testimony: fc.Arbitrary<Testimony> = fc.record({
  system: fc.constantFrom(undefined, "7330000000000000001", "7330000000000000002"),
  timeline: fc.nat(9),
  mark: number,
  watermarks: fc.uniqueArray(
    fc.record({ length: fc.constantFrom(6, 7, 12), range: fc.constantFrom(0, 1, 15, 61), next: number }),
    { selector: ({ length, range }) => `${length}/${range}`, maxLength: 6 }
  )
})

const sorted = (seen: Testimony): Testimony => ({
  ...seen,
  watermarks: seen.watermarks.toSorted((a, b) => a.length - b.length || a.range - b.range)
})

/** The laws of `Witness`, as tests of one backend. `open` makes a new memory; what it gives is run once for each process that remembers there. */
export const witnessLaws = (
  title: string,
  open: Effect.Effect<Effect.Effect<typeof Witness.Service, never, Scope.Scope>, never, Scope.Scope>
): void => {
  describe(title, () => {
    it.scopedLive("remembers nothing at first", () =>
      Effect.gen(function* () {
        const { read } = yield* yield* open
        expect(yield* read).toEqual(nothing)
      })
    )

    it.scopedLive.prop(
      "remembers the greatest of each number, and the first system, for no matter who asks",
      [fc.array(testimony, { minLength: 1, maxLength: 5 })],
      ([all]) =>
        Effect.gen(function* () {
          const process = yield* open
          for (const [index, seen] of all.entries()) {
            yield* (yield* process).raise(seen)
            const expected = all.slice(0, index + 1).reduce(later)
            expect(sorted(yield* (yield* process).read)).toEqual(sorted(expected))
          }
        }),
      { fastCheck: { numRuns: 12 } }
    )

    it.scopedLive("loses nothing of what many raise at once", () =>
      Effect.gen(function* () {
        const process = yield* open
        const [one, other] = [yield* process, yield* process]
        const raise = (index: number) =>
          [one, other][index % 2]!.raise({
            ...nothing,
            mark: index,
            watermarks: [{ length: 7, range: index % 8, next: index }]
          })
        yield* atOnce(Array.from({ length: 40 }, (_, index) => raise(index + 1)))
        const { mark, watermarks } = yield* one.read
        expect(mark).toBe(40)
        expect(watermarks.map(({ next }) => next).toSorted((a, b) => a - b)).toEqual([
          33, 34, 35, 36, 37, 38, 39, 40
        ])
      })
    )

    it.scopedLive(
      "takes another system, and a lower timeline, by adoption alone, and keeps its numbers",
      () =>
        Effect.gen(function* () {
          const witness = yield* yield* open
          const watermarks = [{ length: 7, range: 3, next: 2 ** 53 - 1 }]
          yield* witness.raise({ system: "1", timeline: 5, mark: 9, watermarks })
          yield* witness.raise({ system: "2", timeline: 4, mark: 8, watermarks: [] })
          expect(yield* witness.read).toEqual({ system: "1", timeline: 5, mark: 9, watermarks })
          yield* witness.adopt({ system: "2", timeline: 4 })
          expect(yield* witness.read).toEqual({ system: "2", timeline: 4, mark: 9, watermarks })
          yield* witness.adopt({ system: undefined, timeline: 1 })
          expect(yield* witness.read).toEqual({ system: undefined, timeline: 1, mark: 9, watermarks })
        })
    )
  })
}
