import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { describe } from "vitest"
import type { LinkOrder, LinkQuery, LinkStore, Position } from "../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { forAll } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

type Store = LinkStore["Type"]

const newestFirst: LinkQuery = { order: "createdAt-desc", limit: 100, lookedAtMax: 1_000 }

const keysOf = (store: Store, query: Partial<LinkQuery>) =>
  Effect.map(store.list({ ...newestFirst, ...query }), ({ links }) => links.map(({ key }) => key))

/** All pages of a query one after the other, with something done in between. */
const follow = (store: Store, query: LinkQuery, meanwhile: Effect.Effect<unknown, unknown> = Effect.void) =>
  Effect.gen(function* () {
    const pages: Array<ReadonlyArray<string>> = []
    let after: Position | null = null
    do {
      const page: Effect.Effect.Success<ReturnType<Store["list"]>> = yield* store.list({
        ...query,
        ...(after !== null && { after })
      })
      pages.push(page.links.map(({ key }) => key))
      after = page.next
      if (pages.length > 1_000) throw new Error("the pages do not end")
      yield* meanwhile
    } while (after !== null)
    return pages
  })

/** The laws of `LinkStore.list`, as tests of one backend. `databases`: over how many the links are spread. */
export const linkListLaws = (title: string, open: Open<Store>, databases: number): void => {
  const store = Effect.flatten(open)
  const at = (key: string, createdAt: number, some: object = {}) => ({ ...linkOf(key), createdAt, ...some })

  describe(`${title}: listing`, () => {
    it.scopedLive("gives whole links, in the order of their creation and of their keys, either way", () =>
      Effect.gen(function* () {
        const links = yield* store
        const rows = [
          at("b", 1, { owner: "one", title: "t", tags: ["x"], expiresAt: 5 }),
          at("B", 1),
          at("a", 2, { owner: "other" }),
          at("_", 1)
        ]
        yield* links.insertMany(rows)
        expect(yield* keysOf(links, {})).toEqual(["a", "b", "_", "B"])
        expect(yield* keysOf(links, { order: "createdAt-asc" })).toEqual(["B", "_", "b", "a"])
        expect((yield* links.list({ ...newestFirst, owner: "one" })).links).toEqual([rows[0]])
      })
    )

    it.scopedLive("shows an owner's links alone, expired ones too, and no tombstones", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany([
          at("anonymous", 1),
          at("mine", 2, { owner: "one" }),
          at("gone", 3, { owner: "one" }),
          at("expired", 4, { owner: "one", expiresAt: 5 }),
          at("theirs", 5, { owner: "on" })
        ])
        yield* links.deleteMany([{ key: "gone", at: 9 }])
        expect(yield* keysOf(links, { owner: "one" })).toEqual(["expired", "mine"])
        expect(yield* keysOf(links, { owner: "nobody" })).toEqual([])
        expect(yield* keysOf(links, {})).toEqual(["theirs", "expired", "mine", "anonymous"])
      })
    )

    it.scopedLive("shows the links of a domain alone, and searches their keys without its number", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany([
          at("a", 1),
          at("a~1", 2, { custom: true }),
          at("b~1", 3),
          at("b~11", 4, { custom: true, url: "https://a.test/" }),
          at("b11", 5),
          at("_~2", 6)
        ])
        expect(yield* keysOf(links, { domain: 0 })).toEqual(["b11", "a"])
        expect(yield* keysOf(links, { domain: 1 })).toEqual(["b~1", "a~1"])
        expect(yield* keysOf(links, { domain: 11 })).toEqual(["b~11"])
        expect(yield* keysOf(links, { domain: 3 })).toEqual([])
        expect(yield* keysOf(links, { text: "11" })).toEqual(["b11"])
        expect(yield* keysOf(links, { text: "B", domain: 1 })).toEqual(["b~1"])
        const { total } = yield* links.list({ ...newestFirst, domain: 1, countedMax: 100 })
        expect(total).toEqual({ count: 2, isExact: true })
      })
    )

    it.scopedLive(
      "finds text in keys, URLs and titles, whatever its case, and takes every character as itself",
      () =>
        Effect.gen(function* () {
          const links = yield* store
          const url = "https://a.test/"
          yield* links.insertMany([
            at("Spring-1", 9, { url }),
            at("k8", 8, { url: "https://a.test/SPRING" }),
            at("k7", 7, { url, title: "Der Frühling: ÜBER 100% \\o/ a_b 🍃" }),
            at("k6", 6, { url, title: "a.b" })
          ])
          const found = (text: string) => keysOf(links, { text })
          expect(yield* found("spring")).toEqual(["Spring-1", "k8"])
          expect(yield* found("SPRING-")).toEqual(["Spring-1"])
          expect(yield* found("über")).toEqual(["k7"])
          expect(yield* found("FRÜHL")).toEqual(["k7"])
          expect(yield* found("🍃")).toEqual(["k7"])
          expect(yield* found("100%")).toEqual(["k7"])
          expect(yield* found("%")).toEqual(["k7"])
          expect(yield* found("_")).toEqual(["k7"])
          expect(yield* found("\\")).toEqual(["k7"])
          expect(yield* found("a.b")).toEqual(["k6"])
          expect(yield* found("'; --")).toEqual([])
          yield* links.updateMany([
            { key: "k6", owner: null, at: 1, updateId: 1, change: { title: "Häuser" } },
            { key: "k7", owner: null, at: 1, updateId: 2, change: { title: null } }
          ])
          expect(yield* found("HÄUS")).toEqual(["k6"])
          expect(yield* found("über")).toEqual([])
        })
    )

    it.scopedLive("finds aliases with capital letters, and no minted keys", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany([
          at("Upper~1", 9, { custom: true }),
          at("lower~1", 8, { custom: true, url: "https://a.test/Path" }),
          at("uPPer~1", 7, { custom: true }),
          at("Minted~1", 6),
          at("Upper~2", 5, { custom: true }),
          at("Upper", 4, { custom: true })
        ])
        expect(yield* keysOf(links, { hasCapitals: true, domain: 1 })).toEqual(["Upper~1", "uPPer~1"])
        expect(yield* keysOf(links, { hasCapitals: true, domain: 0 })).toEqual(["Upper"])
      })
    )

    it.scopedLive("finds a tag to the letter", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany([
          at("k9", 9, { tags: ["Spring", 'it\'s "x"'] }),
          at("k8", 8, { tags: ["spring"], title: "t" }),
          at("k7", 7, { tags: ["springs", "[1]", "1"] })
        ])
        expect(yield* keysOf(links, { tag: "spring" })).toEqual(["k8"])
        expect(yield* keysOf(links, { tag: 'it\'s "x"' })).toEqual(["k9"])
        expect(yield* keysOf(links, { tag: "1" })).toEqual(["k7"])
        expect(yield* keysOf(links, { tag: "" })).toEqual([])
        expect(yield* keysOf(links, { tag: "spring", text: "T" })).toEqual(["k8"])
        expect(yield* keysOf(links, { tag: "springs", text: "t", owner: "one" })).toEqual([])
        expect(yield* keysOf(links, { notTag: "spring" })).toEqual(["k9", "k7"])
        expect(yield* keysOf(links, { notTag: 'it\'s "x"', tag: "1" })).toEqual(["k7"])
        expect(yield* keysOf(links, { notTag: "1", tag: "1" })).toEqual([])
        expect(yield* keysOf(links, { notTag: "t", text: "T" })).toEqual(["k9", "k8", "k7"])
        const { next, total } = yield* links.list({ ...newestFirst, notTag: "1", countedMax: 9, limit: 1 })
        expect([total, next?.key]).toEqual([{ count: 2, isExact: true }, "k9"])
      })
    )

    it.scopedLive("shows archived links where they are asked for, and else both", () =>
      Effect.gen(function* () {
        const links = yield* store
        const archived = { extras: { archived: true, note: "n" } } as const
        yield* links.insertMany([
          at("a", 1, { owner: "one", ...archived }),
          at("b", 2, { owner: "one", tags: ["x"] }),
          // Nothing but the member itself archives a link.
          at("c", 3, {
            owner: "one",
            extras: { note: '"archived":true,' },
            tags: ["archived"],
            title: "archived"
          }),
          at("d", 4, { owner: "other", tags: ["x"], ...archived }),
          at("e", 5, { owner: "one", tags: ["x"], ...archived }),
          at("f", 6, archived)
        ])
        const found = Effect.fnUntraced(function* (query: Partial<LinkQuery>) {
          const all: Record<string, ReadonlyArray<string>> = {}
          for (const archived of [true, false, undefined]) {
            const page = yield* links.list({ ...newestFirst, countedMax: 100, ...query, archived })
            all[String(archived)] = page.links.map(({ key }) => key)
            expect(page.total).toEqual({ count: page.links.length, isExact: true })
            const pages = yield* follow(links, { ...newestFirst, ...query, archived, limit: 1 })
            expect(pages.flat()).toEqual(all[String(archived)])
          }
          return all
        })
        expect(yield* found({})).toEqual({
          true: ["f", "e", "d", "a"],
          false: ["c", "b"],
          undefined: ["f", "e", "d", "c", "b", "a"]
        })
        expect(yield* found({ owner: "one", order: "createdAt-asc" })).toEqual({
          true: ["a", "e"],
          false: ["b", "c"],
          undefined: ["a", "b", "c", "e"]
        })
        expect(yield* found({ owner: "other" })).toEqual({ true: ["d"], false: [], undefined: ["d"] })
        expect(yield* found({ tag: "x" })).toEqual({
          true: ["e", "d"],
          false: ["b"],
          undefined: ["e", "d", "b"]
        })
        yield* links.updateMany([
          { key: "e", owner: "one", at: 9, updateId: 1, change: { extras: { archived: null } } },
          { key: "b", owner: "one", at: 9, updateId: 2, change: { extras: { archived: true } } }
        ])
        yield* links.deleteMany([{ key: "a", at: 9 }])
        expect(yield* found({ owner: "one" })).toEqual({
          true: ["b"],
          false: ["e", "c"],
          undefined: ["e", "c", "b"]
        })
      })
    )

    it.scopedLive("orders links by what is known of their visits, those without any last", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany([
          at("a", 1, { owner: "one" }),
          at("b", 2, { owner: "one", tags: ["x"] }),
          at("c", 3, { owner: "other", tags: ["x"] }),
          at("d", 4, { owner: "one", tags: ["x"], extras: { archived: true } }),
          at("e", 5, { owner: "one", tags: ["x"] }),
          at("f", 6),
          at("g", 7, { owner: "one" })
        ])
        const rank = (key: string, createdAt: number, visits: number, lastVisit: number) => ({
          key,
          createdAt,
          visits,
          lastVisit
        })
        yield* links.rankMany([rank("a", 1, 5, 100), rank("b", 2, 7, 90), rank("c", 3, 5, 110)])
        yield* links.rankMany([
          // Numbers never fall, a former link's say nothing, and there are none of what is not there.
          rank("a", 1, 4, 120),
          rank("d", 4, 5, 90),
          rank("f", 5, 1_000, 1_000),
          rank("none", 1, 1, 1),
          rank("g", 7, 1, 1)
        ])
        yield* links.rankMany([])
        const found = Effect.fnUntraced(function* (query: Partial<LinkQuery>) {
          const wanted = { ...newestFirst, countedMax: 100, ...query }
          const page = yield* links.list(wanted)
          const keys = page.links.map(({ key }) => key)
          expect(page.total).toEqual({ count: keys.length, isExact: true })
          expect((yield* follow(links, { ...wanted, limit: 2 })).flat()).toEqual(keys)
          const bounded = yield* follow(links, { ...wanted, limit: 3, lookedAtMax: databases * 2 })
          expect(bounded.flat()).toEqual(keys)
          return keys
        })
        expect(yield* found({ order: "visits-desc" })).toEqual(["b", "d", "c", "a", "g", "f", "e"])
        expect(yield* found({ order: "lastVisit-desc" })).toEqual(["a", "c", "d", "b", "g", "f", "e"])
        expect((yield* links.list({ ...newestFirst, order: "visits-desc" })).ranks).toEqual([
          7, 5, 5, 5, 1, 0, 0
        ])
        const visits = { order: "visits-desc" } as const
        expect(yield* found({ ...visits, owner: "one" })).toEqual(["b", "d", "a", "g", "e"])
        expect(yield* found({ ...visits, owner: "other" })).toEqual(["c"])
        expect(yield* found({ ...visits, owner: "nobody" })).toEqual([])
        expect(yield* found({ ...visits, tag: "x" })).toEqual(["b", "d", "c", "e"])
        expect(yield* found({ ...visits, tag: "x", archived: false })).toEqual(["b", "c", "e"])
        expect(yield* found({ ...visits, archived: false })).toEqual(["b", "c", "a", "g", "f", "e"])
        expect(yield* found({ ...visits, archived: true })).toEqual(["d"])
        expect(yield* found({ ...visits, notTag: "x", owner: "one" })).toEqual(["a", "g"])
        yield* links.deleteMany([{ key: "b", at: 9 }])
        expect(yield* found({ ...visits, owner: "one" })).toEqual(["d", "a", "g", "e"])
        yield* links.rankMany([rank("e", 5, 6, 200), rank("b", 2, 100, 300)])
        expect(yield* found({ ...visits, owner: "one" })).toEqual(["e", "d", "a", "g"])
      })
    )

    it.scopedLive("passes over few archived links at once, and over many in as many pages as it takes", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany(
          Array.from({ length: 30 }, (_, index) =>
            at(`k${index}`, index, index % 10 === 0 ? {} : { extras: { archived: true } })
          )
        )
        const query: LinkQuery = { ...newestFirst, archived: false, limit: 2, countedMax: 100 }
        const pages = yield* follow(links, query)
        expect(pages).toEqual([["k20", "k10"], ["k0"]])
        const bounded = { ...query, lookedAtMax: 5 }
        const some = yield* follow(links, bounded)
        expect(some.flat()).toEqual(["k20", "k10", "k0"])
        expect((yield* links.list(query)).total).toEqual({ count: 3, isExact: true })
      })
    )

    it.scopedLive("looks at so many links for a page and no more, and goes on with the next one", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany(
          Array.from({ length: 20 }, (_, index) =>
            at(`k${index}`, index, { tags: index % 9 === 0 ? ["x"] : [] })
          )
        )
        const query = { ...newestFirst, tag: "x", lookedAtMax: 5 }
        if (databases > 1) {
          // Each of them looks at its share, which is of any links.
          const pages = yield* follow(links, query)
          expect(pages.flat()).toEqual(["k18", "k9", "k0"])
          expect(pages.length).toBeGreaterThan(3)
          const upwards = yield* follow(links, { ...query, order: "createdAt-asc" })
          return expect(upwards.flat()).toEqual(["k0", "k9", "k18"])
        }
        expect(yield* follow(links, query)).toEqual([["k18"], [], ["k9"], ["k0"], []])
        expect(yield* follow(links, { ...query, order: "createdAt-asc" })).toEqual([
          ["k0"],
          ["k9"],
          [],
          ["k18"],
          []
        ])
        expect(yield* follow(links, { ...query, lookedAtMax: 21, limit: 2 })).toEqual([["k18", "k9"], ["k0"]])
      })
    )

    it.scopedLive("counts the links of all pages, up to a bound, and says when there may be more", () =>
      Effect.gen(function* () {
        const links = yield* store
        yield* links.insertMany(
          Array.from({ length: 20 }, (_, index) =>
            at(`k${index}`, index, { owner: index < 15 ? "one" : "other", tags: index % 2 ? [] : ["x"] })
          )
        )
        yield* links.deleteMany([{ key: "k14", at: 30 }])
        const counted = (query: Partial<LinkQuery>) =>
          Effect.map(links.list({ ...newestFirst, limit: 3, ...query }), ({ total }) => total)
        expect(yield* counted({})).toBeUndefined()
        const exactly = (count: number) => ({ count, isExact: true })
        const atLeast = (count: number) => ({ count, isExact: false })
        expect(yield* counted({ countedMax: 100 })).toEqual(exactly(19))
        expect(yield* counted({ countedMax: 100, owner: "one" })).toEqual(exactly(14))
        expect(yield* counted({ countedMax: 100, owner: "nobody" })).toEqual(exactly(0))
        const after = { createdAt: 9, key: "k9" }
        expect(yield* counted({ countedMax: 100, owner: "one", after })).toEqual(exactly(14))
        expect(yield* counted({ countedMax: 19 })).toEqual(exactly(19))
        expect(yield* counted({ countedMax: 18 })).toEqual(atLeast(18))
        expect(yield* counted({ countedMax: 100, owner: "one", tag: "x" })).toEqual(exactly(7))
        expect(yield* counted({ countedMax: 7, owner: "one", tag: "x" })).toEqual(exactly(7))
        expect(yield* counted({ countedMax: 6, owner: "one", tag: "x" })).toEqual(atLeast(6))
        expect(yield* counted({ countedMax: 100, owner: "one", text: "K1" })).toEqual(exactly(5))
        // Not all were looked at.
        expect((yield* counted({ countedMax: 100, tag: "x", lookedAtMax: 5 }))!.isExact).toBe(false)
        expect(yield* counted({ countedMax: 100, tag: "x", lookedAtMax: 19 })).toEqual(exactly(9))
      })
    )

    it.scopedLive(
      "shows each link that is there all the time once, whatever comes and goes meanwhile",
      () =>
        forAll(
          fc.record({
            times: fc.array(fc.nat(6), { minLength: 1, maxLength: 30 }),
            comings: fc.array(fc.array(fc.nat(6), { maxLength: 4 }), { maxLength: 12 }),
            goings: fc.array(fc.nat(40), { maxLength: 12 }),
            order: fc.constantFrom<LinkOrder>("createdAt-asc", "createdAt-desc", "visits-desc"),
            limit: fc.integer({ min: 1, max: 7 }),
            isSearch: fc.boolean(),
            hides: fc.boolean(),
            lookedAtMax: fc.integer({ min: 1, max: 9 })
          }),
          ({ comings, goings, hides, isSearch, limit, lookedAtMax, order, times }) =>
            Effect.scoped(
              Effect.gen(function* () {
                const links = yield* store
                const there = times.map((createdAt, index) =>
                  at(`k${index % 7}-${index}`, createdAt, {
                    owner: "one",
                    tags: index % 2 === 0 ? ["x"] : [],
                    ...(index % 3 === 0 && { extras: { archived: true } })
                  })
                )
                yield* links.insertMany(there)
                yield* links.rankMany(
                  there
                    .map(({ createdAt, key }, index) => ({
                      key,
                      createdAt,
                      visits: index % 4,
                      lastVisit: index % 5
                    }))
                    .filter(({ lastVisit, visits }) => visits > 0 && lastVisit > 0)
                )
                const gone = new Set<string>()
                let turn = 0
                const meanwhile = Effect.gen(function* () {
                  const [coming, going] = [comings[turn] ?? [], there[goings[turn] ?? -1]?.key]
                  turn++
                  yield* links.insertMany(
                    coming.map((createdAt, index) =>
                      at(`k${index}-new-${turn}`, createdAt, { owner: "one", tags: ["x"] })
                    )
                  )
                  if (going === undefined) return
                  gone.add(going)
                  yield* links.deleteMany([{ key: going, at: 9 }])
                })
                const query = {
                  order,
                  limit,
                  lookedAtMax,
                  owner: "one",
                  ...(isSearch && { tag: "x" }),
                  ...(hides && { archived: false })
                }
                const seen = (yield* follow(links, query, meanwhile)).flat()
                expect(new Set(seen).size).toBe(seen.length)
                const wanted = there.filter(
                  ({ extras, key, tags }) =>
                    !gone.has(key) && (!isSearch || tags.length > 0) && (!hides || extras === undefined)
                )
                expect(seen).toEqual(expect.arrayContaining(wanted.map(({ key }) => key)))
              })
            ),
          { numRuns: 40 }
        ),
      // Some thousand statements, one after the other, on each of several databases.
      120_000
    )

    it.scopedLive("shows crawlers the newest links that are for them and lead on", () =>
      Effect.gen(function* () {
        const links = yield* store
        const crawlable = (key: string, createdAt: number, some: object = {}) =>
          at(key, createdAt, { crawlable: true, ...some })
        yield* links.insertMany([
          crawlable("old", 1),
          crawlable("both", 2, { validSince: 10, expiresAt: 11 }),
          crawlable("a", 3, { owner: "one" }),
          crawlable("b", 3),
          at("hidden", 4),
          crawlable("later", 5, { validSince: 11 }),
          crawlable("expired", 6, { expiresAt: 10 }),
          crawlable("used", 7, { maxVisits: 5, visitsLeft: 0 }),
          crawlable("guarded", 8, { passwordHash: "hash" }),
          crawlable("deleted", 9)
        ])
        yield* links.deleteMany([{ key: "deleted", at: 10 }])
        expect(yield* links.crawlable({ at: 10, limit: 9 })).toEqual(["b", "a", "both", "old"])
        expect(yield* links.crawlable({ at: 10, limit: 3 })).toEqual(["b", "a", "both"])
      })
    )
  })
}
