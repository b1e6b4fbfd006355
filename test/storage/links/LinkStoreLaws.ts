import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { linkListLaws } from "./LinkListLaws.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { linkUpdateLaws } from "./LinkUpdateLaws.ts"
import { linkVisitLaws } from "./LinkVisitLaws.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

const keys = (count: number) => Array.from({ length: count }, (_, index) => `key${index}`)

const awkwardUrls = [
  `https://example.com/it's "quoted" \\ back\\\\slash`,
  "https://example.com/%20%s%00?q=100%&$1=:name;--",
  "https://пример.рф/zażółć/🍃?q=日本語\u2028\u00a0",
  'https://example.com/{NULL,"a"}[1]',
  `https://example.com/?${"q".repeat(2_048 - 21)}`
]

const awkwardText = `it's "quoted" \\ {NULL,a} [1] :name $1 -- %_ \u2028 日本語 🍃`

/** The laws of keys that are bound, deleted and taken. */
export const linkBindingLaws = (
  title: string,
  open: Open<LinkStore["Type"]>,
  hasFurtherDomains = true
): void => {
  const store = Effect.flatten(open)

  describe(`${title}: binding`, () => {
    it.scopedLive("binds a free key, and never a bound one again", () =>
      Effect.gen(function* () {
        const { findMany, insertMany } = yield* store
        expect(yield* insertMany([linkOf("k", "https://first")])).toEqual([true])
        expect(yield* insertMany([linkOf("k", "https://second")])).toEqual([false])
        expect(yield* findMany(["k"])).toEqual([linkOf("k", "https://first")])
      })
    )

    it.scopedLive("answers in the order of the questions, one each", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany } = yield* store
        yield* insertMany(["m", "b"].map((key) => linkOf(key)))
        const batch = ["z", "m", "a", "b", "k"].map((key) => linkOf(key))
        expect(yield* insertMany(batch)).toEqual([true, false, true, false, true])
        const found = yield* findMany(["k", "none", "a", "z", "a"])
        expect(found.map((link) => link?.key)).toEqual(["k", undefined, "a", "z", "a"])
        const deletions = ["z", "none", "a"].map((key) => ({ key, at: 1 }))
        expect(yield* deleteMany(deletions)).toEqual([true, false, true])
      })
    )

    it.scopedLive("binds a key that stands in a batch twice to the first link", () =>
      Effect.gen(function* () {
        const { findMany, insertMany } = yield* store
        const batch = [linkOf("b"), linkOf("a", "https://first"), linkOf("b"), linkOf("a", "https://second")]
        expect(yield* insertMany(batch)).toEqual([true, true, false, false])
        expect(yield* findMany(["a"])).toEqual([linkOf("a", "https://first")])
      })
    )

    it.scopedLive("does nothing with empty batches", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, takenAmong } = yield* store
        expect(yield* insertMany([])).toEqual([])
        expect(yield* findMany([])).toEqual([])
        expect(yield* deleteMany([])).toEqual([])
        expect(yield* takenAmong([])).toEqual(new Set())
      })
    )

    it.scopedLive("tells keys apart that differ by case, by a space or by an ending alone", () =>
      Effect.gen(function* () {
        const { findMany, insertMany } = yield* store
        const batch = ["abc", "ABC", "Abc", "abc ", "abcd", "ab", "_bc", "%bc"].map((key) => linkOf(key))
        expect(yield* insertMany(batch)).toEqual(batch.map(() => true))
        expect(yield* findMany(batch.map(({ key }) => key))).toEqual(batch)
        expect(yield* findMany(["aBC"])).toEqual([null])
      })
    )

    it.scopedLive("gives links back to the letter, whatever their URLs and times", () =>
      Effect.gen(function* () {
        const { findMany, insertMany } = yield* store
        const links: ReadonlyArray<Link> = [
          ...awkwardUrls.map((url, index) => linkOf(`url${index}`, url)),
          { ...linkOf("custom"), custom: true },
          { ...linkOf("times"), createdAt: 0, updatedAt: 1, expiresAt: 2 },
          {
            ...linkOf("everything"),
            owner: "usr_x",
            title: awkwardText,
            tags: [awkwardText, "null", "{}", "zażółć 🍃"],
            validSince: 1,
            maxVisits: 1_000_000_000,
            visitsLeft: 999_999_999,
            passwordHash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA",
            redirectStatus: 308,
            forwardQuery: true,
            crawlable: true,
            keyId: "key_1",
            keyRedirectsPerDay: 1_000_000_000_000,
            importedVisits: { nonBots: 1_000_000_000_000, bots: 7 },
            extras: { expiredUrl: awkwardUrls[0]!, forwardPath: true, note: `${awkwardText}\n\t` }
          },
          { ...linkOf("late"), updatedAt: Number.MAX_SAFE_INTEGER, expiresAt: Number.MAX_SAFE_INTEGER },
          { ...linkOf("tombstone"), deletedAt: 1_700_000_000_001 },
          { ...linkOf("zażółć-🍃-'\"\\%"), custom: true }
        ]
        expect(yield* insertMany(links)).toEqual(links.map(() => true))
        expect(yield* findMany(links.map(({ key }) => key))).toEqual(links)
      })
    )

    it.scopedLive("takes 1,000 links in a batch", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, takenAmong } = yield* store
        const links = keys(1_000).map((key) => linkOf(key, `https://example.com/${"x".repeat(2_000)}${key}`))
        const isThird = (_: Link, index: number) => index % 3 === 0
        expect((yield* insertMany(links.filter(isThird))).every((bound) => bound)).toBe(true)
        expect(yield* insertMany(links)).toEqual(links.map((link, index) => !isThird(link, index)))
        expect(yield* findMany(keys(1_000))).toEqual(links)
        expect((yield* takenAmong(keys(2_000))).size).toBe(1_000)
        const deleted = yield* deleteMany(keys(1_000).map((key) => ({ key, at: 5 })))
        expect(deleted.every((done) => done)).toBe(true)
      })
    )
  })

  describe(`${title}: repeats`, () => {
    const created: Link = { ...linkOf("k"), createId: Number.MAX_SAFE_INTEGER }

    it.scopedLive("are answered like the first time, and change nothing", () =>
      Effect.gen(function* () {
        const { findMany, insertMany } = yield* store
        for (const _ of [1, 2, 3]) expect(yield* insertMany([created])).toEqual([true])
        expect(yield* insertMany([{ ...created, createId: 1 }, linkOf("k")])).toEqual([false, false])
        expect(yield* findMany(["k"])).toEqual([linkOf("k")])
      })
    )

    it.scopedLive("are known wherever they stand in a batch", () =>
      Effect.gen(function* () {
        const { findMany, insertMany } = yield* store
        expect(yield* insertMany([created, linkOf("other"), created])).toEqual([true, true, true])
        const strangers = [{ ...created, createId: 1 }, linkOf("k", "https://other")]
        expect(yield* insertMany([...strangers, created, strangers[0]!, created])).toEqual([
          false,
          false,
          true,
          false,
          true
        ])
        expect(yield* findMany(["k"])).toEqual([linkOf("k")])
      })
    )

    it.scopedLive("are conflicts when the link has been deleted meanwhile, or never was that one", () =>
      Effect.gen(function* () {
        const { deleteMany, insertMany } = yield* store
        yield* insertMany([created])
        yield* deleteMany([{ key: "k", at: 1_800_000_000_000 }])
        expect(yield* insertMany([created])).toEqual([false])
        yield* insertMany([linkOf("without")])
        expect(yield* insertMany([{ ...linkOf("without"), createId: 7 }, linkOf("without")])).toEqual([
          false,
          false
        ])
      })
    )

    it.scopedLive(
      "of a deletion are answered like the first time wherever they stand, and those of others are not",
      () =>
        Effect.gen(function* () {
          const { deleteMany, findMany, insertMany } = yield* store
          yield* insertMany([created, linkOf("l")])
          const [mine, others] = [
            { key: "k", at: 1_800_000_000_000, deleteId: Number.MAX_SAFE_INTEGER },
            { key: "k", at: 1_800_000_000_001, deleteId: 8 }
          ]
          expect(yield* deleteMany([mine, { key: "l", at: 5 }, mine])).toEqual([true, true, true])
          for (const _ of [1, 2]) expect(yield* deleteMany([mine])).toEqual([true])
          const nameless = { key: "k", at: mine.at }
          expect(yield* deleteMany([others, nameless, mine, others, mine])).toEqual([
            false,
            false,
            true,
            false,
            true
          ])
          expect(yield* deleteMany([{ key: "l", at: 5, deleteId: 9 }])).toEqual([false])
          expect((yield* findMany(["k"]))[0]?.deletedAt).toBe(mine.at)
        })
    )

    it.scopedLive("are all answered alike when they come at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const batch = keys(50).map((key, createId) => ({ ...linkOf(key), createId }))
        const answers = yield* atOnce(
          Array.from({ length: 9 }, (_, fiber) =>
            stores[fiber % 3]!.insertMany(fiber % 2 === 0 ? batch : batch.toReversed())
          )
        )
        expect(answers.flat().every((bound) => bound)).toBe(true)
        expect(yield* stores[0].findMany(keys(50))).toEqual(keys(50).map((key) => linkOf(key)))
      })
    )
  })

  describe(`${title}: deleting`, () => {
    it.scopedLive("turns a link into a tombstone that keeps its key", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, takenAmong } = yield* store
        yield* insertMany([linkOf("k"), linkOf("other")])
        expect(yield* deleteMany([{ key: "k", at: 1_800_000_000_000 }])).toEqual([true])
        const tombstone = { ...linkOf("k"), deletedAt: 1_800_000_000_000, updatedAt: 1_800_000_000_000 }
        expect(yield* findMany(["k", "other"])).toEqual([tombstone, linkOf("other")])
        expect(yield* insertMany([linkOf("k", "https://second")])).toEqual([false])
        expect(yield* findMany(["k"])).toEqual([tombstone])
        expect(yield* takenAmong(["k"])).toEqual(new Set(["k"]))
      })
    )

    if (hasFurtherDomains) {
      it.scopedLive("binds a minted key in one domain alone, and aliases in each", () =>
        Effect.gen(function* () {
          const { findMany, insertMany } = yield* store
          const alias = (key: string) => ({ ...linkOf(key), custom: true })
          const bindEach = (...links: ReadonlyArray<Link>) =>
            Effect.forEach(links, (link) => Effect.map(insertMany([link]), ([isBound]) => isBound))
          const first = { ...linkOf("one~2"), createId: 1 }
          expect(yield* bindEach(first, linkOf("one"), linkOf("one~3"), first)).toEqual([
            true,
            false,
            false,
            true
          ])
          expect(yield* bindEach(linkOf("two"), linkOf("two~1"), linkOf("two~12"))).toEqual([
            true,
            false,
            false
          ])
          expect(yield* bindEach(alias("a"), alias("a~1"), alias("one"), alias("two~1"))).toEqual([
            true,
            true,
            true,
            true
          ])
          expect(yield* bindEach(linkOf("a~2"), linkOf("two-more"))).toEqual([false, true])
          // In one batch as well.
          expect(
            (yield* insertMany([linkOf("c~2"), linkOf("b"), linkOf("c"), linkOf("c~1")])).filter(Boolean)
              .length
          ).toBe(2)
          expect((yield* findMany(["c", "c~1", "c~2"])).filter((row) => row !== null).length).toBe(1)
        })
      )
    }

    it.scopedLive("keeps a minted key that a further domain has, and not the alias of one", () =>
      Effect.gen(function* () {
        const { deleteMany, insertMany, takenAmong } = yield* store
        yield* insertMany([
          linkOf("minted~2"),
          linkOf("ended~31"),
          { ...linkOf("alias~2"), custom: true },
          linkOf("longer-than~2"),
          { ...linkOf("both~1"), custom: true },
          linkOf("both~2")
        ])
        yield* deleteMany([{ key: "ended~31", at: 1_800_000_000_000 }])
        const asked = ["alias", "minted", "longer", "mint", "ended", "both", "minted~", "free"]
        expect(yield* takenAmong(asked)).toEqual(new Set(["minted", "ended", "both"]))
        expect(yield* insertMany([linkOf("minted~2"), linkOf("alias~3")])).toEqual([false, true])
        expect(yield* takenAmong(["alias"])).toEqual(new Set(["alias"]))
      })
    )

    it.scopedLive(
      "deletes a link once, also when a batch says it twice: the first deletion gives its time",
      () =>
        Effect.gen(function* () {
          const { deleteMany, findMany, insertMany } = yield* store
          yield* insertMany(keys(20).map((key) => linkOf(key)))
          const first = keys(20).map((key) => ({ key, at: 10 }))
          const second = keys(20).map((key) => ({ key, at: 20 }))
          const answers = yield* deleteMany([...first, ...second])
          expect(answers).toEqual([...first.map(() => true), ...second.map(() => false)])
          expect(yield* deleteMany(second)).toEqual(second.map(() => false))
          const times = (yield* findMany(keys(20))).map((link) => [link?.deletedAt, link?.updatedAt])
          expect(times).toEqual(first.map(() => [10, 10]))
        })
    )

    it.scopedLive("makes no tombstone of a key that has no link", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany } = yield* store
        expect(yield* deleteMany([{ key: "k", at: 1 }])).toEqual([false])
        expect(yield* findMany(["k"])).toEqual([null])
        expect(yield* insertMany([linkOf("k")])).toEqual([true])
      })
    )

    it.scopedLive("tells which keys are taken: by live, expired and deleted links", () =>
      Effect.gen(function* () {
        const { deleteMany, insertMany, takenAmong } = yield* store
        yield* insertMany([linkOf("live"), { ...linkOf("expired"), expiresAt: 1 }, linkOf("deleted")])
        yield* deleteMany([{ key: "deleted", at: 1 }])
        const asked = ["free", "live", "LIVE", "expired", "deleted", "live"]
        expect(yield* takenAmong(asked)).toEqual(new Set(["live", "expired", "deleted"]))
      })
    )
  })

  describe(`${title}: many at once`, () => {
    it.scopedLive("shows every client what another was told", () =>
      Effect.gen(function* () {
        const client = yield* open
        const [a, b] = yield* Effect.all([client, client])
        for (const key of keys(30)) {
          yield* a.insertMany([linkOf(key)])
          expect(yield* b.findMany([key])).toEqual([linkOf(key)])
          expect(yield* b.deleteMany([{ key, at: 7 }])).toEqual([true])
          expect((yield* a.findMany([key]))[0]?.deletedAt).toBe(7)
        }
      })
    )

    it.scopedLive("binds each key once, to the link that was told so, no matter who asks", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const batches = Array.from({ length: 12 }, (_, fiber) =>
          keys(100).map((key) => linkOf(key, `https://example.com/${fiber}`))
        )
        const answers = yield* atOnce(batches.map((batch, fiber) => stores[fiber % 3]!.insertMany(batch)))
        const winners = keys(100).map((_, index) => {
          const told = answers.flatMap((answer, fiber) => (answer[index] === true ? [fiber] : []))
          expect(told).toHaveLength(1)
          return batches[told[0]!]![index]!
        })
        expect(yield* stores[0].findMany(keys(100))).toEqual(winners)
      })
    )

    it.scopedLive("deletes each link once, no matter who asks, at the time that was told so", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        yield* stores[0].insertMany(keys(100).map((key) => linkOf(key)))
        const answers = yield* atOnce(
          Array.from({ length: 12 }, (_, fiber) =>
            stores[fiber % 3]!.deleteMany(keys(100).map((key) => ({ key, at: fiber })))
          )
        )
        const found = yield* stores[0].findMany(keys(100))
        found.forEach((link, index) => {
          expect(answers.flatMap((answer, fiber) => (answer[index] === true ? [fiber] : []))).toEqual([
            link?.deletedAt
          ])
        })
      })
    )

    it.scopedLive("gets batches done that meet each other in opposite orders", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let round = 0; round < 6; round++) {
          const up = keys(600).map((key) => `${key}/${round}`)
          const orders = [up, up.toReversed(), up, up.toReversed()]
          const inserted = yield* atOnce(
            orders.map((order, fiber) => stores[fiber % 3]!.insertMany(order.map((key) => linkOf(key))))
          )
          expect(inserted.flat().filter((bound) => bound)).toHaveLength(600)
          const deleted = yield* atOnce(
            orders.map((order, fiber) =>
              stores[fiber % 3]!.deleteMany(order.map((key) => ({ key, at: fiber })))
            )
          )
          expect(deleted.flat().filter((done) => done)).toHaveLength(600)
        }
      })
    )
  })
}

/** The laws of the operations that write, and of what is found then: all that a layer between a store and its callers can change which leaves lists alone. */
export const linkWriteLaws = (title: string, open: Open<LinkStore["Type"]>): void => {
  linkBindingLaws(title, open)
  linkUpdateLaws(title, open)
  linkVisitLaws(title, open)
}

/** The laws of `LinkStore`, as tests of one backend. `databases`: over how many the links are spread. */
export const linkStoreLaws = (title: string, open: Open<LinkStore["Type"]>, databases = 1): void => {
  linkWriteLaws(title, open)
  linkListLaws(title, open, databases)
}
