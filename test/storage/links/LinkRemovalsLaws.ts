import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { LinkRemovals } from "../../../src/storage/links/LinkRemovals.ts"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import type { Open } from "../../support/Stores.ts"

/** The links, and the deletion of those of owners who are gone. */
export interface RemovalStores {
  readonly links: typeof LinkStore.Service
  readonly removals: typeof LinkRemovals.Service
}

const owned = (owner: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...linkOf(`${owner}-${String(index).padStart(3, "0")}`),
    createdAt: 1_700_000_000_000 + index,
    owner
  }))

const keysOf = (links: ReadonlyArray<{ readonly key: string }>) => links.map(({ key }) => key)

/** All keys that are given until there are none, some at a time. */
const emptied = (removals: RemovalStores["removals"], count: number) =>
  Effect.gen(function* () {
    const batches: Array<ReadonlyArray<string>> = []
    for (let keys = yield* removals.remove(count); keys.length > 0; keys = yield* removals.remove(count)) {
      batches.push(keys)
    }
    return batches
  })

/** The laws of `LinkRemovals`, as tests of one backend. */
export const linkRemovalsLaws = (open: Open<RemovalStores>): void => {
  const opened = Effect.flatten(open)

  describe("LinkRemovals", () => {
    it.scopedLive("deletes all links of owners that were asked for, some at a time, and no others", () =>
      Effect.gen(function* () {
        const { links, removals } = yield* opened
        const [one, two, other] = [owned("one", 25), owned("two", 3), owned("other", 5)]
        const anonymous = linkOf("anonymous")
        yield* links.insertMany([...one, ...two, ...other, anonymous])
        expect(yield* removals.remove(10)).toEqual([])
        yield* removals.ask("one")
        yield* removals.ask("two")
        yield* removals.ask("two")
        const batches = yield* emptied(removals, 10)
        expect(batches.map(({ length }) => length).toSorted()).toEqual([10, 10, 3, 5].toSorted())
        expect(batches.flat().toSorted()).toEqual([...keysOf(one), ...keysOf(two)].toSorted())
        for (const row of yield* links.findMany(batches.flat())) {
          expect(row).toMatchObject({ deletedAt: expect.any(Number) })
        }
        expect(yield* links.findMany([...keysOf(other), "anonymous"])).toEqual([...other, anonymous])
      })
    )

    it.scopedLive("finds a link that was being made when its owner went", () =>
      Effect.gen(function* () {
        const { links, removals } = yield* opened
        yield* removals.ask("one")
        expect(yield* removals.remove(10)).toEqual([])
        yield* links.insertMany(owned("one", 1))
        expect(yield* removals.remove(10)).toEqual(["one-000"])
      })
    )

    it.scopedLive("passes over links that are deleted already", () =>
      Effect.gen(function* () {
        const { links, removals } = yield* opened
        yield* links.insertMany(owned("one", 2))
        yield* links.deleteMany([{ key: "one-000", at: 1_700_000_000_500, deleteId: 7 }])
        yield* removals.ask("one")
        expect(yield* removals.remove(10)).toEqual(["one-001"])
        expect((yield* links.findMany(["one-000"]))[0]).toMatchObject({ deletedAt: 1_700_000_000_500 })
      })
    )

    it.scopedLive("gives each key to one of many who delete at once", () =>
      Effect.gen(function* () {
        const open_ = yield* open
        const clients = yield* Effect.replicateEffect(open_, 3)
        yield* clients[0]!.links.insertMany(owned("one", 100))
        yield* clients[0]!.removals.ask("one")
        const all = yield* Effect.forEach(clients, ({ removals }) => emptied(removals, 7), {
          concurrency: "unbounded"
        })
        const given = [...all.flat(2), ...(yield* emptied(clients[0]!.removals, 7)).flat()]
        expect(given.toSorted()).toEqual(keysOf(owned("one", 100)))
      })
    )
  })
}
