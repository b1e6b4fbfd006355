import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { takersRemembered } from "../../../src/storage/visits/VisitTakes.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

const limited = (key: string, maxVisits: number) => ({ ...linkOf(key), maxVisits, visitsLeft: maxVisits })

const takeOf = (key: string, count: number, number: number, taker = "node-1") => ({
  key,
  count,
  taker,
  number
})

/** A change of the limit of `k`. */
const limiting = (maxVisits: number | null, updateId = 1) => ({
  key: "k",
  owner: null,
  at: 1_800_000_000_000,
  change: { maxVisits },
  updateId
})

/** The laws of `LinkStore.takeVisits`, as tests of one backend. */
export const linkVisitLaws = (title: string, open: Open<LinkStore["Type"]>): void => {
  const store = Effect.flatten(open)

  describe(`${title}: visits`, () => {
    it.scopedLive("are granted until none is left, in the order of the questions", () =>
      Effect.gen(function* () {
        const { findMany, insertMany, takeVisits } = yield* store
        yield* insertMany([limited("b", 5), limited("a", 1)])
        const takes = [takeOf("b", 3, 1), takeOf("a", 1, 2), takeOf("b", 1, 3), takeOf("b", 4, 4)]
        expect(yield* takeVisits(takes)).toEqual([
          { granted: 3, left: 2 },
          { granted: 1, left: 0 },
          { granted: 1, left: 1 },
          { granted: 1, left: 0 }
        ])
        expect(yield* takeVisits([takeOf("b", 1, 5)])).toEqual([{ granted: 0, left: 0 }])
        expect(yield* findMany(["a", "b"])).toEqual([
          { ...limited("a", 1), visitsLeft: 0 },
          { ...limited("b", 5), visitsLeft: 0 }
        ])
      })
    )

    it.scopedLive("are granted without end where there is no limit, and never where there is no link", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, takeVisits } = yield* store
        yield* insertMany([linkOf("free"), limited("deleted", 9)])
        yield* deleteMany([{ key: "deleted", at: 1 }])
        const takes = ["free", "deleted", "nothing"].map((key, index) => takeOf(key, 7, index))
        expect(yield* takeVisits(takes)).toEqual([
          { granted: 7, left: null },
          { granted: 0, left: 0 },
          { granted: 0, left: 0 }
        ])
        expect(yield* findMany(["free"])).toEqual([linkOf("free")])
        expect(yield* takeVisits([])).toEqual([])
      })
    )

    it.scopedLive("are granted once for a take that comes again, and never to one that comes late", () =>
      Effect.gen(function* () {
        const { insertMany, takeVisits } = yield* store
        yield* insertMany([limited("k", 10)])
        const [first, second, other] = [takeOf("k", 3, 1), takeOf("k", 4, 2), takeOf("k", 1, 1, "node-2")]
        const answers = yield* Effect.forEach([first, first, other, first, second, other, second], (take) =>
          Effect.map(takeVisits([take]), ([taken]) => taken!.granted)
        )
        expect(answers).toEqual([3, 3, 1, 3, 4, 1, 4])
        expect(yield* takeVisits([first, second, takeOf("k", 9, 3)])).toEqual([
          { granted: 0, left: 2 },
          { granted: 4, left: 2 },
          { granted: 2, left: 0 }
        ])
      })
    )

    it.scopedLive("are never more than there are, no matter who asks, again and again and at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const clients = yield* Effect.replicateEffect(client, 3)
        yield* clients[0]!.insertMany([limited("k", 100), limited("l", 50)])
        const asking = clients.flatMap(({ takeVisits }, node) =>
          // No more than are remembered.
          Array.from({ length: 10 }, (_, index) => {
            const takes = ["k", "l"].map((key) => takeOf(key, 4 + (index % 2), 1, `node-${node}-${index}`))
            const ordered = index % 2 === 0 ? takes : takes.toReversed()
            return Effect.zip(takeVisits(ordered), takeVisits(ordered), { concurrent: true }).pipe(
              Effect.map(([once, again]) => {
                expect(once.map(({ granted }) => granted)).toEqual(again.map(({ granted }) => granted))
                return ordered.map(({ key }, at) => ({ key, granted: once[at]!.granted }))
              })
            )
          })
        )
        const granted = (yield* atOnce(asking)).flat()
        const sum = (key: string) =>
          granted.filter((one) => one.key === key).reduce((total, one) => total + one.granted, 0)
        expect([sum("k"), sum("l")]).toEqual([100, 50])
      })
    )

    it.scopedLive("remember the last take of as many takers as are said", () =>
      Effect.gen(function* () {
        const { insertMany, takeVisits } = yield* store
        yield* insertMany([limited("k", 1_000)])
        const takes = Array.from({ length: takersRemembered }, (_, index) =>
          takeOf("k", 2, 1, `node-${index}`)
        )
        yield* takeVisits(takes)
        const again = yield* takeVisits(takes)
        const left = 1_000 - 2 * takersRemembered
        expect(again).toEqual(takes.map(() => ({ granted: 2, left })))
        yield* takeVisits([takeOf("k", 1, 1, "one more")])
        expect(yield* takeVisits([takes[0]!])).toEqual([{ granted: 2, left: left - 3 }])
      })
    )

    it.scopedLive(
      "are granted to a take that comes again as they were before, whatever limit the link has by then",
      () =>
        Effect.gen(function* () {
          const { findMany, insertMany, takeVisits, updateMany } = yield* store
          yield* insertMany([limited("k", 1)])
          const granted = (number: number) =>
            Effect.map(takeVisits([takeOf("k", 2, number)]), ([taken]) => taken!.granted)
          expect([yield* granted(1), yield* granted(2)]).toEqual([1, 0])
          yield* updateMany([limiting(5, 1)])
          expect([yield* granted(1), yield* granted(2)]).toEqual([0, 0])
          yield* updateMany([limiting(null, 2)])
          expect([yield* granted(2), yield* granted(3)]).toEqual([0, 2])
          yield* updateMany([limiting(1, 3)])
          expect([yield* granted(3), yield* granted(4)]).toEqual([2, 1])
          expect(yield* findMany(["k"])).toMatchObject([{ maxVisits: 1, visitsLeft: 0 }])
        })
    )

    it.scopedLive("stay below zero where the link was used more often than it allows by now", () =>
      Effect.gen(function* () {
        const { findMany, insertMany, takeVisits, updateMany } = yield* store
        yield* insertMany([limited("k", 5)])
        yield* takeVisits([takeOf("k", 4, 1)])
        yield* updateMany([limiting(2)])
        expect(yield* takeVisits([takeOf("k", 1, 2), takeOf("k", 1, 3)])).toEqual([
          { granted: 0, left: 0 },
          { granted: 0, left: 0 }
        ])
        expect(yield* findMany(["k"])).toMatchObject([{ maxVisits: 2, visitsLeft: -2 }])
      })
    )

    it.scopedLive("are there again when the link is given more, and are counted on", () =>
      Effect.gen(function* () {
        const { insertMany, takeVisits, updateMany } = yield* store
        yield* insertMany([limited("k", 2)])
        yield* takeVisits([takeOf("k", 5, 1)])
        expect(yield* updateMany([limiting(5)])).toMatchObject([{ maxVisits: 5, visitsLeft: 3 }])
        expect(yield* takeVisits([takeOf("k", 5, 2)])).toEqual([{ granted: 3, left: 0 }])
      })
    )
  })
}
