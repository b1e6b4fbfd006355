import { expect, it } from "@effect/vitest"
import { type Duration, Effect } from "effect"
import { describe } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import {
  abandon,
  begin,
  type Beginning,
  type GuardedCreates,
  settle
} from "../../../src/storage/links/GuardedCreates.ts"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import type { Open } from "../../support/Stores.ts"

/** The ports that a guarded create passes through, and how the store's time passes. */
export interface GuardedStores {
  readonly links: typeof LinkStore.Service
  readonly guarded: typeof GuardedCreates.Service
  readonly pause: (duration: Duration.DurationInput) => Effect.Effect<void>
}

const hour_ms = 3_600_000

const beginning = (token: number, more: Partial<Beginning> = {}): Beginning => ({
  name: "g",
  token,
  fingerprint: "f",
  lease_ms: hour_ms,
  keep_ms: 24 * hour_ms,
  ...more
})

const guarded = (key: string, token: number, name = "g") => ({
  link: { ...linkOf(key), createId: token },
  guards: [{ name, token }],
  answer: `answer ${key}`
})

/** The laws of `GuardedCreates`, as tests of one backend. */
export const guardedCreatesLaws = (title: string, open: Open<GuardedStores>): void => {
  const opened = Effect.flatten(open)

  describe(title, () => {
    it.scopedLive("begins a guard once, and tells the others that one is at it", () =>
      Effect.gen(function* () {
        const { guarded: guards } = yield* opened
        const states = yield* Effect.forEach([1, 2, 3, 4], (token) => begin(guards, beginning(token)), {
          concurrency: "unbounded"
        })
        expect(states.filter(({ _tag }) => _tag === "Begun")).toHaveLength(1)
        expect(states.filter(({ _tag }) => _tag === "Running")).toHaveLength(3)
        expect(yield* begin(guards, beginning(5, { fingerprint: "other" }))).toEqual({
          _tag: "Running",
          fingerprint: "f"
        })
        expect(yield* begin(guards, beginning(6, { name: "another" }))).toEqual({ _tag: "Begun" })
      })
    )

    it.scopedLive("binds one link under a guard, and keeps its answer", () =>
      Effect.gen(function* () {
        const { guarded: guards, links } = yield* opened
        yield* begin(guards, beginning(1))
        const batch = [guarded("a", 1), guarded("b", 1)]
        expect(yield* guards.bindMany(batch)).toEqual(["bound", "superseded"])
        expect(yield* guards.bindMany(batch)).toEqual(["bound", "superseded"])
        expect(yield* guards.bindMany([guarded("c", 2)])).toEqual(["superseded"])
        // A second try of the same create, to which a forgetful pool has given the first one's key.
        const sameKey = { ...guarded("a", 1), answer: "made later" }
        expect(yield* guards.bindMany([sameKey])).toEqual(["superseded"])
        expect(yield* links.takenAmong(["a", "b", "c"])).toEqual(new Set(["a"]))
        expect(yield* begin(guards, beginning(2))).toEqual({
          _tag: "Settled",
          fingerprint: "f",
          key: "a",
          answer: "answer a"
        })
      })
    )

    it.scopedLive("lets a create whose key has a row go on with another", () =>
      Effect.gen(function* () {
        const { guarded: guards, links } = yield* opened
        yield* links.insertMany([linkOf("a")])
        yield* begin(guards, beginning(1))
        expect(yield* guards.bindMany([guarded("a", 1)])).toEqual(["taken"])
        expect(yield* guards.bindMany([guarded("b", 1)])).toEqual(["bound"])
      })
    )

    it.scopedLive("refuses links of one who was taken for lost, however late they come", () =>
      Effect.gen(function* () {
        const { guarded: guards, links, pause } = yield* opened
        yield* begin(guards, beginning(1))
        expect(yield* begin(guards, beginning(2))).toMatchObject({ _tag: "Running" })
        yield* pause("30 millis")
        expect(yield* begin(guards, beginning(2, { lease_ms: 10 }))).toEqual({ _tag: "Begun" })
        expect(yield* guards.bindMany([guarded("late", 1), guarded("new", 2)])).toEqual([
          "superseded",
          "bound"
        ])
        expect(yield* settle(guards, { name: "g", token: 1 }, "late")).toBe(false)
        yield* abandon(guards, { name: "g", token: 1 })
        expect(yield* links.takenAmong(["late", "new"])).toEqual(new Set(["new"]))
        // What is settled is not taken over because its lease is over.
        expect(yield* begin(guards, beginning(3, { lease_ms: 0 }))).toMatchObject({ key: "new" })
      })
    )

    it.scopedLive("makes one link of many at once, whoever takes over from whom", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let round = 0; round < 10; round++) {
          const name = `round${round}`
          const attempt = (token: number) =>
            Effect.gen(function* () {
              const { guarded: guards } = stores[token % 3]!
              const state = yield* begin(guards, beginning(token, { name, lease_ms: 0 }))
              if (state._tag !== "Begun") return "superseded"
              const [outcome] = yield* guards.bindMany([guarded(`${name}-${token}`, token, name)])
              return outcome
            })
          const outcomes = yield* Effect.forEach([1, 2, 3, 4, 5, 6], attempt, { concurrency: "unbounded" })
          expect(outcomes.filter((outcome) => outcome === "bound")).toHaveLength(1)
          const keys = [1, 2, 3, 4, 5, 6].map((token) => `${name}-${token}`)
          expect((yield* stores[0].links.takenAmong(keys)).size).toBe(1)
        }
      })
    )

    it.scopedLive("needs all guards of a link, and settles all", () =>
      Effect.gen(function* () {
        const { guarded: guards } = yield* opened
        yield* begin(guards, beginning(1))
        const both = {
          ...guarded("a", 1),
          guards: [
            { name: "g", token: 1 },
            { name: "h", token: 2 }
          ]
        }
        expect(yield* guards.bindMany([both])).toEqual(["superseded"])
        yield* begin(guards, beginning(2, { name: "h" }))
        expect(yield* guards.bindMany([both])).toEqual(["bound"])
        expect(yield* begin(guards, beginning(9))).toMatchObject({ key: "a" })
        expect(yield* begin(guards, beginning(9, { name: "h" }))).toMatchObject({ key: "a" })
      })
    )

    it.scopedLive(
      "settles a guard without a link, forgets one that is abandoned, and begins one in place of a key",
      () =>
        Effect.gen(function* () {
          const { guarded: guards } = yield* opened
          yield* begin(guards, beginning(1))
          expect(yield* settle(guards, { name: "g", token: 1 }, "409")).toBe(true)
          expect(yield* settle(guards, { name: "g", token: 1 }, "again")).toBe(false)
          expect(yield* begin(guards, beginning(2))).toMatchObject({
            _tag: "Settled",
            key: null,
            answer: "409"
          })
          expect(yield* guards.bindMany([guarded("a", 1)])).toEqual(["superseded"])

          // With the key of a link that is in another database: when that has ended, the guard is begun in its place.
          yield* begin(guards, beginning(6, { name: "f" }))
          expect(yield* guards.settleMany([{ name: "f", token: 6, answer: "201", key: "e" }])).toEqual([true])
          expect(yield* begin(guards, beginning(7, { name: "f" }))).toMatchObject({ key: "e", answer: "201" })
          expect(yield* begin(guards, beginning(7, { name: "f", replaces: "e" }))).toEqual({ _tag: "Begun" })

          yield* begin(guards, beginning(3, { name: "h" }))
          yield* abandon(guards, { name: "h", token: 3 })
          expect(yield* begin(guards, beginning(4, { name: "h" }))).toEqual({ _tag: "Begun" })
          yield* guards.bindMany([guarded("b", 4, "h")])
          expect(yield* begin(guards, beginning(5, { name: "h", replaces: "c" }))).toMatchObject({ key: "b" })
          expect(yield* begin(guards, beginning(5, { name: "h", replaces: "b" }))).toEqual({ _tag: "Begun" })
        })
    )

    it.scopedLive(
      "binds nothing that comes after its guard was given up, and gives up none that was settled",
      () =>
        Effect.gen(function* () {
          const { guarded: guards, links } = yield* opened
          yield* begin(guards, beginning(1))
          expect(yield* abandon(guards, { name: "g", token: 1 })).toBe(true)
          expect(yield* guards.bindMany([guarded("late", 1)])).toEqual(["superseded"])
          yield* begin(guards, beginning(2))
          expect(yield* guards.bindMany([guarded("late", 1), guarded("new", 2)])).toEqual([
            "superseded",
            "bound"
          ])
          expect(yield* abandon(guards, { name: "g", token: 2 })).toBe(false)
          expect(yield* links.takenAmong(["late", "new"])).toEqual(new Set(["new"]))
        })
    )

    it.scopedLive("answers each question of a batch as if it came alone, also those about one guard", () =>
      Effect.gen(function* () {
        const { guarded: guards, links, pause } = yield* opened
        yield* begin(guards, beginning(1, { name: "old" }))
        yield* begin(guards, beginning(2, { name: "bound" }))
        yield* guards.bindMany([guarded("a", 2, "bound")])
        yield* pause("30 millis")
        const names = ["new", "old", "bound", "left", "new", "bound"]
        const more: ReadonlyArray<Partial<Beginning>> = [{}, {}, {}, { lease_ms: 0 }, {}, { replaces: "a" }]
        const states = yield* guards.beginMany(
          names.map((name, index) => beginning(10 + index, { name, fingerprint: `${index}`, ...more[index] }))
        )
        expect(states).toEqual([
          { _tag: "Begun" },
          { _tag: "Running", fingerprint: "f" },
          { _tag: "Settled", fingerprint: "f", key: "a", answer: "answer a" },
          { _tag: "Begun" },
          { _tag: "Running", fingerprint: "0" },
          { _tag: "Begun" }
        ])
        const held = ["new", "old", "bound", "left", "none", "new"]
        const tokens = [10, 9, 15, 13, 1, 10]
        const batch = held.map((name, index) => ({ name, token: tokens[index]! }))
        expect(
          yield* guards.settleMany(batch.slice(0, 3).map((guard) => ({ ...guard, answer: guard.name })))
        ).toEqual([true, false, true])
        expect(yield* guards.abandonMany(batch)).toEqual([false, false, false, true, false, false])
        const after = yield* guards.beginMany(held.map((name, index) => beginning(20 + index, { name })))
        expect(after).toMatchObject([
          { key: null, answer: "new", fingerprint: "0" },
          { _tag: "Running" },
          { key: null, answer: "bound" },
          { _tag: "Begun" },
          { _tag: "Begun" },
          { answer: "new" }
        ])
        const bound = yield* guards.bindMany([
          guarded("b", 23, "left"),
          guarded("c", 23, "left"),
          guarded("d", 24, "none"),
          guarded("e", 1, "old")
        ])
        expect(bound).toEqual(["bound", "superseded", "bound", "bound"])
        expect(yield* links.takenAmong(["a", "b", "c", "d", "e"])).toEqual(new Set(["a", "b", "d", "e"]))
        expect(yield* guards.beginMany([])).toEqual([])
        expect(yield* guards.settleMany([])).toEqual([])
        expect(yield* guards.abandonMany([])).toEqual([])
      })
    )

    it.scopedLive("settles of two answers to one guard the first, as it gives up a guard once", () =>
      Effect.gen(function* () {
        const { guarded: guards } = yield* opened
        yield* guards.beginMany([beginning(1), beginning(2, { name: "h" })])
        const answers = ["first", "second"].map((answer) => ({ name: "g", token: 1, answer }))
        expect(yield* guards.settleMany(answers)).toEqual([true, false])
        expect(yield* begin(guards, beginning(3))).toMatchObject({ answer: "first" })
        const twice = [1, 2].map(() => ({ name: "h", token: 2 }))
        expect(yield* guards.abandonMany(twice)).toEqual([true, false])
      })
    )

    it.scopedLive("lets batches of many clients pass each other in any order", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
        const orders = [names, names.toReversed(), [...names.slice(25), ...names.slice(0, 25)]]
        const begun = yield* Effect.forEach(
          stores,
          ({ guarded: guards }, index) =>
            Effect.gen(function* () {
              const order = orders[index]!
              const states = yield* guards.beginMany(order.map((name) => beginning(index, { name })))
              const mine = order.filter((_, place) => states[place]!._tag === "Begun")
              const held = order.map((name) => ({ name, token: index }))
              const settled = yield* guards.settleMany(held.map((guard) => ({ ...guard, answer: "a" })))
              expect(order.filter((_, place) => settled[place]!)).toEqual(mine)
              expect((yield* guards.abandonMany(held)).some(Boolean)).toBe(false)
              return mine
            }),
          { concurrency: "unbounded" }
        )
        expect(begun.flat().toSorted()).toEqual(names.toSorted())
      })
    )

    it.scopedLive("keeps a settled guard for its time, and drops those that are too old", () =>
      Effect.gen(function* () {
        const { guarded: guards, pause } = yield* opened
        yield* begin(guards, beginning(1))
        yield* settle(guards, { name: "g", token: 1 }, "a")
        yield* pause("30 millis")
        expect(yield* guards.drop(hour_ms, 10)).toBe(0)
        expect(yield* begin(guards, beginning(2, { keep_ms: 10 }))).toEqual({ _tag: "Begun" })
        yield* begin(guards, beginning(3, { name: "h" }))
        yield* pause("30 millis")
        expect(yield* guards.drop(10, 1)).toBe(1)
        expect(yield* guards.drop(10, 10)).toBe(1)
        expect(yield* begin(guards, beginning(4))).toEqual({ _tag: "Begun" })
      })
    )

    it.scopedLive("finds an owner's newest link of a URL that is live and has no extras", () =>
      Effect.gen(function* () {
        const { guarded: guards, links } = yield* opened
        const url = "https://example.com/"
        const of = (key: string, more: Partial<Link>): Link => ({ ...linkOf(key, url), owner: "me", ...more })
        const mine = of("mine", {})
        yield* links.insertMany([
          mine,
          of("newer", { createdAt: 1_800_000_000_000, expiresAt: 1_900_000_000_000 }),
          of("used", { createdAt: 1_850_000_000_000, maxVisits: 3, visitsLeft: 0 }),
          of("deleted", { createdAt: 1_860_000_000_000 }),
          of("pending", { createdAt: 1_865_000_000_000, validSince: 2_000_000_000_000 }),
          of("extra", { createdAt: 1_870_000_000_000, extras: { forwardPath: true } }),
          of("theirs", { owner: "other" }),
          of("nobodys", { owner: null }),
          of("elsewhere", { url: "https://example.com/elsewhere" })
        ])
        yield* links.deleteMany([{ key: "deleted", at: 1 }])
        expect(yield* guards.findByUrl("me", url, 1_899_999_999_999)).toMatchObject({ key: "newer" })
        expect(yield* guards.findByUrl("me", url, 1_900_000_000_000)).toEqual(mine)
        expect(yield* guards.findByUrl("me", url, 2_000_000_000_000)).toMatchObject({ key: "pending" })
        expect(yield* guards.findByUrl("nobody", url, 1)).toBeNull()
        yield* links.insertMany([{ ...mine, key: "newest~1", createdAt: mine.createdAt + 1_000_000 }])
        expect(yield* guards.findByUrl("me", url, 1_900_000_000_000)).toEqual(mine)
      })
    )
  })
}
