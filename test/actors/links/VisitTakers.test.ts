import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber } from "effect"
import { describe } from "vitest"
import { partitionOf } from "../../../src/actors/links/UrlMapping.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { answersOf, StorageError } from "../../../src/storage/StorageError.ts"
import { joinInTime, freshStores, startNode } from "../../support/TestNode.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"

type TakeVisits = (typeof LinkStore.Service)["takeVisits"]

/** What becomes of the takes that come to a database. */
type Fault = (apply: ReturnType<TakeVisits>) => ReturnType<TakeVisits>

const refuses: Fault = () =>
  new StorageError({ operation: "LinkStore.takeVisits", applied: "no", reason: "it is read-only" })

/** Keys of one partition. */
const [first, second] = Array.from({ length: 1_000 }, (_, n) => `k${n}`).filter(
  (key) => partitionOf(key) === 0
) as [string, string]

const limited = (key: string, maxVisits: number) => ({ ...linkOf(key), maxVisits, visitsLeft: maxVisits })

/** A node over two databases: one has the first link, the other one the second. */
const start = Effect.gen(function* () {
  const stores = yield* freshStores()
  const faults: Array<Fault> = [(apply) => apply, (apply) => apply]
  const lanes = new Map([
    [first, 0],
    [second, 1]
  ])
  const homes = new Map(lanes)
  /** Asks each database for its links, as `LinkStoreRouted` does. */
  const takeVisits: TakeVisits = Effect.fnUntraced(function* (takes) {
    const asked = [0, 1].map((home) => takes.filter(({ key }) => homes.get(key) === home))
    const answers = yield* Effect.forEach(
      asked,
      (some, home) =>
        some.length === 0
          ? Effect.succeed(Either.right([]))
          : Effect.either(faults[home]!(stores.links.takeVisits(some))),
      { concurrency: "unbounded" }
    )
    const outcomes = takes.map((take) => {
      const home = homes.get(take.key)!
      return Either.map(answers[home]!, (taken) => taken[asked[home]!.indexOf(take)]!)
    })
    return yield* answersOf("LinkStore.takeVisits", outcomes)
  })
  const node = yield* Effect.provideService(
    startNode({ ...stores, links: { ...stores.links, takeVisits } }),
    LinkPlaces,
    {
      databases: 2,
      lanes: 3,
      laneOf: (key) => lanes.get(key) ?? 0,
      laneOfName: () => 0,
      isOpen: () => true,
      isOpenBeside: () => true
    }
  )
  yield* stores.links.insertMany([limited(first, 5), limited(second, 5)])
  const left = Effect.map(stores.links.findMany([first, second]), (rows) =>
    rows.map((row) => row?.visitsLeft)
  )
  return { faults, lanes, left, node, visit: (key: string) => Effect.either(node.links.visit(key)) }
})

describe("visits of links in several databases", () => {
  it.scoped("are granted by one that answers while another one refuses them", () =>
    Effect.gen(function* () {
      const { faults, lanes, left, visit } = yield* start
      faults[0] = refuses
      // Also where they go in one message, as by a placement that is old.
      for (const lane of [1, 0]) {
        lanes.set(second, lane)
        const visits = yield* Effect.forEach([first, second, second], visit, { concurrency: "unbounded" })
        expect(visits.map(Either.isRight)).toEqual([false, true, true])
        expect(visits.slice(1)).toEqual([Either.right(true), Either.right(true)])
      }
      expect(yield* left).toEqual([5, 1])
    })
  )

  it.scoped("do not wait for another one that does not answer", () =>
    Effect.gen(function* () {
      const { faults, left, visit } = yield* start
      const isAsked = yield* Deferred.make<void>()
      faults[0] = () => Effect.zipRight(Deferred.succeed(isAsked, undefined), Effect.never)
      const waiting = yield* Effect.fork(visit(first))
      yield* Deferred.await(isAsked)
      const visits = yield* joinInTime(yield* Effect.fork(Effect.replicateEffect(visit(second), 3)))
      expect(visits).toEqual([Either.right(true), Either.right(true), Either.right(true)])
      expect(waiting.unsafePoll()).toBeNull()
      expect(yield* left).toEqual([5, 2])
      yield* Fiber.interrupt(waiting)
    })
  )

  it.scoped("are granted when a take comes after a later one, by the way of before a move", () =>
    Effect.gen(function* () {
      const { faults, lanes, left, visit } = yield* start
      const isAsked = yield* Deferred.make<void>()
      const goesOn = yield* Deferred.make<void>()
      faults[0] = (apply) =>
        Deferred.succeed(isAsked, undefined).pipe(
          Effect.zipRight(Deferred.await(goesOn)),
          Effect.zipRight(apply)
        )
      const early = yield* Effect.fork(visit(first))
      yield* Deferred.await(isAsked)
      faults[0] = (apply) => apply
      lanes.set(first, 2)
      expect(yield* visit(first)).toEqual(Either.right(true))
      yield* Deferred.succeed(goesOn, undefined)
      expect(yield* joinInTime(early)).toEqual(Either.right(true))
      expect(yield* left).toEqual([3, 5])
    })
  )

  it.scoped("are known by the owner's cache to be used up, also where a part of them failed", () =>
    Effect.gen(function* () {
      const { faults, node } = yield* start
      const owner = node.partitionOf(first)
      const cached = Effect.map(owner.ResolveMany({ keys: [second] }), ([row]) => row?.visitsLeft)
      expect(yield* cached).toBe(5)
      faults[0] = refuses
      const takes = [first, second].map((key) => ({ key, count: 5, taker: "another node", number: 1 }))
      yield* Effect.flip(owner.Visit({ takes }))
      expect(yield* cached).toBe(0)
    })
  )
})
