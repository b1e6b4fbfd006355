import { expect, it } from "@effect/vitest"
import { type Duration, Effect } from "effect"
import { describe } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import { subjectOfLink } from "../../../src/model/Visit.ts"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import type { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import type { Open } from "../../support/Stores.ts"

/** The ports that a key passes through when its link ends, and how the store's time passes. */
export interface LifetimeStores {
  readonly links: typeof LinkStore.Service
  readonly stock: typeof KeyStock.Service
  readonly lifetime: typeof LinkLifetime.Service
  readonly pause: (duration: Duration.DurationInput) => Effect.Effect<void>
}

/** A link that ends. */
export const expiring = (key: string, expiresAt: number, more: Partial<Link> = {}): Link => ({
  ...linkOf(key),
  expiresAt,
  ...more
})

/** Long ago. */
export const past = 1_700_000_000_000

/** Asks until the quarantine is over, by whichever clock. */
export const recycled = (stores: LifetimeStores, quarantine_ms: number, wanted: number) =>
  Effect.gen(function* () {
    const keys: Array<string> = []
    const some = Effect.map(stores.lifetime.recycle({ quarantine_ms, count: 100 }), (more) =>
      keys.push(...more.map(({ key }) => key))
    )
    while (keys.length < wanted) yield* Effect.zipRight(stores.pause("20 millis"), some)
    return keys.toSorted()
  })

/** The laws of `LinkLifetime`, as tests of one backend. `databases`: over how many the links are spread, each of which gives what it is asked for. */
export const linkLifetimeLaws = (open: Open<LifetimeStores>, databases = 1): void => {
  const opened = Effect.flatten(open)

  describe("LinkLifetime: expiry", () => {
    it.scopedLive("ends links that have expired, and leaves the others alone", () =>
      Effect.gen(function* () {
        const { lifetime, links } = yield* opened
        const soon = Date.UTC(2100, 0)
        yield* links.insertMany([expiring("gone", past), expiring("soon", soon), linkOf("never")])
        expect(yield* lifetime.expire(["gone", "soon", "never", "none", "gone"])).toEqual(["gone"])
        expect(yield* lifetime.expire(["gone"])).toEqual([])
        expect(yield* lifetime.expire([])).toEqual([])
        const [gone, live, never] = yield* links.findMany(["gone", "soon", "never"])
        expect(gone).toMatchObject({
          url: linkOf("gone").url,
          expiresAt: past,
          deletedAt: expect.any(Number)
        })
        expect([live, never]).toEqual([expiring("soon", soon), linkOf("never")])
      })
    )

    it.scopedLive("ends some of all, those first that expired first", () =>
      Effect.gen(function* () {
        const { lifetime, links } = yield* opened
        yield* links.insertMany(["a", "b", "c", "d"].map((key, index) => expiring(key, past - index)))
        if (databases > 1) {
          const ended = [yield* lifetime.expireSome(1), yield* lifetime.expireSome(3)]
          expect(ended[0]!.length).toBeLessThanOrEqual(databases)
          return expect(ended.flat().toSorted()).toEqual(["a", "b", "c", "d"])
        }
        expect((yield* lifetime.expireSome(3)).toSorted()).toEqual(["b", "c", "d"])
        expect(yield* lifetime.expireSome(3)).toEqual(["a"])
        expect(yield* lifetime.expireSome(3)).toEqual([])
      })
    )

    it.scopedLive("keeps the key of a link that has ended from being bound", () =>
      Effect.gen(function* () {
        const { lifetime, links } = yield* opened
        const link = expiring("a", past, { createId: 5 })
        yield* links.insertMany([link])
        yield* lifetime.expire(["a"])
        expect(yield* links.insertMany([linkOf("a"), link])).toEqual([false, false])
        expect(yield* links.deleteMany([{ key: "a", at: past, deleteId: 1 }])).toEqual([false])
      })
    )
  })

  describe("LinkLifetime: recycling", () => {
    it.scopedLive("frees no key before its quarantine is over, counted from when the store ended it", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        yield* links.insertMany([linkOf("a"), expiring("b", past)])
        // The node that deletes may have a clock that is years late.
        yield* links.deleteMany([{ key: "a", at: past, deleteId: 1 }])
        yield* lifetime.expire(["b"])
        expect(yield* lifetime.recycle({ quarantine_ms: 60_000, count: 10 })).toEqual([])
        expect(yield* links.takenAmong(["a", "b"])).toEqual(new Set(["a", "b"]))
        expect(yield* recycled(stores, 200, 2)).toEqual(["a", "b"])
        expect(yield* links.findMany(["a", "b"])).toEqual([null, null])
      })
    )

    it.scopedLive("counts the quarantine from the deletion, not from its repeat", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const deletion = { key: "a", at: past, deleteId: 1 }
        yield* stores.links.insertMany([linkOf("a")])
        yield* stores.links.deleteMany([deletion])
        yield* stores.pause("1 second")
        expect(yield* stores.links.deleteMany([deletion])).toEqual([true])
        expect(yield* stores.lifetime.recycle({ quarantine_ms: 900, count: 10 })).toMatchObject([
          { key: "a" }
        ])
      })
    )

    it.scopedLive("gives minted keys to the stock, once, and aliases to nobody", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { links, stock } = stores
        const aliases = ["alias", "alias~4"].map((key) => ({ ...linkOf(key), custom: true }))
        yield* links.insertMany([linkOf("minted"), linkOf("further~4"), ...aliases])
        const all = ["alias", "alias~4", "further~4", "minted"]
        yield* links.deleteMany(all.map((key) => ({ key, at: past })))
        expect(yield* recycled(stores, 0, 4)).toEqual(all)
        expect(yield* stores.lifetime.recycle({ quarantine_ms: 0, count: 10 })).toEqual([])
        const claim = yield* stock.claim(1)
        const stocked = toStrings(yield* stock.take({ ...claim, sequence: 1 }, 10))
        expect(stocked.toSorted()).toEqual(["further", "minted"])
        expect(yield* links.insertMany([linkOf("alias"), linkOf("minted")])).toEqual([true, true])
      })
    )

    it.scopedLive("counts no visits of a former link for the next one of its key", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        const keys = ["alias", "minted"]
        const bind = (createdAt: number) =>
          links.insertMany(
            keys.map((key) => expiring(key, past, { createdAt, custom: key === "alias", owner: "one" }))
          )
        const ranks = Effect.map(
          links.list({ order: "visits-desc", owner: "one", limit: 10, lookedAtMax: 100 }),
          (listed) => listed.ranks
        )
        yield* bind(1)
        yield* links.rankMany(keys.map((key) => ({ key, createdAt: 1, visits: 9, lastVisit: 100 })))
        expect(yield* ranks).toEqual([9, 9])
        yield* lifetime.expire(keys)
        expect(yield* recycled(stores, 0, 2)).toEqual(keys)
        yield* bind(2)
        expect(yield* ranks).toEqual([0, 0])
      })
    )

    it.scopedLive("strikes keys from the records of open batches, which would hand them out again", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { links, stock } = stores
        const claim = yield* stock.claim(1)
        const batch = { ...claim, sequence: 1 }
        const other = { ...(yield* stock.claim(2)), sequence: 1 }
        yield* stock.record(batch, fromStrings(["first", "kept", "inside", "last"]))
        yield* stock.record(other, fromStrings(["all"]))
        const ended = ["first", "inside", "last", "all", "free"]
        const texts = ["first", "inside~2", "last~30", "all", "free"]
        yield* links.insertMany([...texts.map((key) => linkOf(key)), { ...linkOf("kept~2"), custom: true }])
        yield* links.deleteMany([...texts, "kept~2"].map((key) => ({ key, at: past })))
        expect(yield* recycled(stores, 0, 6)).toEqual([...texts, "kept~2"].toSorted())
        const keysIn = (shard: number) =>
          Effect.map(stock.openBatches(shard), (batches) => batches.flatMap(({ keys }) => toStrings(keys)))
        expect(yield* keysIn(1)).toEqual(["kept"])
        expect(yield* keysIn(2)).toEqual([])
        const next = { ...claim, sequence: 2 }
        expect(toStrings(yield* stock.take(next, 10)).toSorted()).toEqual(ended.toSorted())
      })
    )

    it.scopedLive("takes as many as it is asked for, the oldest first, and gives each to one caller", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        const keys = Array.from({ length: 40 }, (_, index) => `k${index}`)
        yield* links.insertMany(keys.map((key) => linkOf(key)))
        yield* links.deleteMany([{ key: "k7", at: past }])
        yield* stores.pause("20 millis")
        yield* links.deleteMany(keys.map((key) => ({ key, at: past })))
        const first = yield* lifetime.recycle({ quarantine_ms: 0, count: 1 })
        expect(first).toContainEqual({ key: "k7", createdAt: linkOf("k7").createdAt })
        expect(first.length).toBeLessThanOrEqual(databases)
        const all = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => lifetime.recycle({ quarantine_ms: 0, count: 3 }),
          { concurrency: "unbounded" }
        )
        expect(all.every((some) => some.length <= 3 * databases)).toBe(true)
        const given = all.flat().map(({ key }) => key)
        expect(new Set(given).size).toBe(given.length)
        expect(given.length).toBeGreaterThan(0)
        expect((yield* links.takenAmong(keys)).size).toBe(40 - first.length - given.length)
      })
    )

    it.scopedLive("remembers of what it frees that its visits are to be forgotten, until they are", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        const aliases = ["c", "c~4"].map((key) => ({ ...linkOf(key), custom: true }))
        const all = [linkOf("a"), linkOf("b~2"), ...aliases, linkOf("kept")]
        yield* links.insertMany(all)
        expect(yield* lifetime.toForget(10)).toEqual([])
        const gone = all.slice(0, 4)
        yield* links.deleteMany(gone.map(({ key }) => ({ key, at: past })))
        yield* recycled(stores, 0, 4)
        const subjects = gone.map(subjectOfLink).toSorted()
        expect((yield* lifetime.toForget(10)).toSorted()).toEqual(subjects)
        const first = yield* lifetime.toForget(1)
        expect(first.length).toBeLessThanOrEqual(databases)
        yield* lifetime.forgotten(first)
        // Once more, with what is not remembered, and nothing.
        yield* lifetime.forgotten([...first, subjectOfLink(linkOf("kept"))])
        yield* lifetime.forgotten([])
        const left = subjects.filter((subject) => !first.includes(subject))
        expect((yield* lifetime.toForget(10)).toSorted()).toEqual(left)
        yield* lifetime.forgotten(left)
        expect(yield* lifetime.toForget(10)).toEqual([])
      })
    )

    it.scopedLive("leaves an alias taken for a link that would have the visits of its former one", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        const [former, other, further] = ["c", "d", "e~4"].map((key) => ({ ...linkOf(key), custom: true }))
        const all = [former!, other!, further!]
        yield* links.insertMany(all)
        yield* links.deleteMany(all.map(({ key }) => ({ key, at: past })))
        yield* recycled(stores, 0, 3)
        const again = { ...former!, url: "https://example.com/again", createId: 2 }
        const later = { ...other!, createdAt: other!.createdAt + 1, createId: 3 }
        const minted = { ...linkOf("m"), createId: 4 }
        const batch = [again, later, { ...further!, createId: 5 }, minted]
        expect(yield* links.insertMany(batch)).toEqual([false, true, false, true])
        expect(yield* links.findMany(["c", "e~4"])).toEqual([null, null])
        yield* lifetime.forgotten([former!, further!].map(subjectOfLink))
        expect(yield* links.insertMany(batch)).toEqual([true, true, true, true])
        // Its own visits are not those of a former one when they are to be forgotten.
        expect((yield* links.findMany(["c"]))[0]).toMatchObject({ url: again.url })
      })
    )
  })
}
