import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import {
  conditionOf,
  type ExtrasChange,
  type Link,
  type LinkChange,
  type LinkExtras
} from "../../../src/model/Link.ts"
import { type LinkStore, type Update, updatesRemembered } from "../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

const later = 1_800_000_000_000

/** An update of an anonymous link, unless said otherwise. */
const updateOf = (key: string, updateId: number, change: LinkChange, some: Partial<Update> = {}): Update => ({
  key,
  owner: null,
  at: later,
  change,
  updateId,
  ...some
})

const everything: Required<LinkChange> = {
  url: "https://example.com/changed",
  title: "Ünter 'n „Strich\" \\ %_",
  tags: ["a", "it's"],
  validSince: 1,
  expiresAt: Number.MAX_SAFE_INTEGER,
  maxVisits: 7,
  passwordHash: "$argon2id$…",
  redirectStatus: 307,
  forwardQuery: true,
  crawlable: true,
  extras: {
    expiredUrl: "https://example.com/'over\"?\\%_",
    forwardPath: true,
    note: "it's\n\t\\n 🍃",
    archived: true
  }
}

/** The laws of `LinkStore.updateMany`, as tests of one backend. */
export const linkUpdateLaws = (title: string, open: Open<LinkStore["Type"]>): void => {
  const store = Effect.flatten(open)

  describe(`${title}: changing`, () => {
    it.scopedLive("changes what it says, and nothing else", () =>
      Effect.gen(function* () {
        const { findMany, insertMany, updateMany } = yield* store
        const other = { ...linkOf("other"), owner: "usr" }
        yield* insertMany([linkOf("k"), other])
        let row: Link = linkOf("k")
        const names = Object.keys(everything) as ReadonlyArray<keyof LinkChange>
        for (const [index, name] of names.entries()) {
          row = {
            ...row,
            [name]: everything[name],
            ...(name === "maxVisits" && { visitsLeft: 7 }),
            updatedAt: later + index
          }
          const update = updateOf("k", index, { [name]: everything[name] }, { at: later + index })
          expect(yield* updateMany([update])).toEqual([row])
          expect(yield* findMany(["k", "other"])).toEqual([row, other])
        }
        const cleared = { ...linkOf("k"), url: everything.url, updatedAt: later + 20 }
        const { url: _, ...back } = everything
        const none = Object.fromEntries(
          Object.keys(back).map((name) => [
            name,
            name === "extras"
              ? { expiredUrl: null, forwardPath: null, note: null, archived: null }
              : cleared[name as keyof typeof back]
          ])
        )
        expect(yield* updateMany([updateOf("k", 100, none, { at: later + 20 })])).toEqual([cleared])
        expect(yield* findMany(["k"])).toEqual([cleared])
      })
    )

    it.scopedLive(
      "changes the members of the extras that it says, and leaves no extras without a member",
      () =>
        Effect.gen(function* () {
          const { findMany, insertMany, updateMany } = yield* store
          const expiredUrl = "https://example.com/over"
          yield* insertMany([linkOf("k"), { ...linkOf("other"), extras: { forwardPath: true } }])
          const changes: ReadonlyArray<readonly [ExtrasChange, LinkExtras | undefined]> = [
            [{ expiredUrl: null }, undefined],
            [{ expiredUrl }, { expiredUrl }],
            [{}, { expiredUrl }],
            [{ forwardPath: true }, { expiredUrl, forwardPath: true }],
            [{ expiredUrl: null }, { forwardPath: true }],
            [{ expiredUrl, forwardPath: null }, { expiredUrl }],
            // A member is replaced as a whole.
            [
              { card: { title: "t", description: "d", image: "https://example.com/i" } },
              { expiredUrl, card: { title: "t", description: "d", image: "https://example.com/i" } }
            ],
            [{ card: { title: "u" } }, { expiredUrl, card: { title: "u" } }],
            [{ card: null }, { expiredUrl }],
            [{ expiredUrl: null, forwardPath: null }, undefined]
          ]
          for (const [index, [extras, left]] of changes.entries()) {
            const row = { ...linkOf("k"), updatedAt: later, ...(left !== undefined && { extras: left }) }
            expect(yield* updateMany([updateOf("k", index, { extras })])).toEqual([row])
            expect(yield* findMany(["k"])).toEqual([row])
          }
          const both = yield* updateMany([
            updateOf("k", 100, { extras: { expiredUrl } }),
            updateOf("other", 101, { extras: { expiredUrl } })
          ])
          expect(both.map((row) => row?.extras)).toEqual([{ expiredUrl }, { expiredUrl, forwardPath: true }])
        })
    )

    it.scopedLive("answers in the order of the questions, null where there is nothing to change", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, updateMany } = yield* store
        yield* insertMany(["z", "a", "gone"].map((key) => linkOf(key)))
        yield* insertMany([{ ...linkOf("theirs"), owner: "usr_1" }])
        yield* deleteMany([{ key: "gone", at: 5 }])
        const before = yield* findMany(["gone", "theirs", "none"])
        const answers = yield* updateMany([
          updateOf("z", 1, { title: "of z" }),
          updateOf("none", 2, { title: "x" }),
          updateOf("gone", 3, { title: "x" }),
          updateOf("theirs", 4, { title: "x" }, { owner: "usr_2" }),
          updateOf("theirs", 5, { title: "x" }, { owner: null }),
          updateOf("a", 6, { title: "of a" }, { owner: "usr_1" }),
          updateOf("a", 7, { title: "of a" })
        ])
        expect(answers.map((row) => row?.title)).toEqual([
          "of z",
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          "of a"
        ])
        expect(yield* findMany(["gone", "theirs", "none"])).toEqual(before)
        const theirs = yield* updateMany([updateOf("theirs", 8, { title: "mine" }, { owner: "usr_1" })])
        expect(theirs[0]?.title).toBe("mine")
        expect(yield* updateMany([])).toEqual([])
      })
    )

    it.scopedLive("applies several updates of a link in their order", () =>
      Effect.gen(function* () {
        const { findMany, insertMany, updateMany } = yield* store
        yield* insertMany([linkOf("k"), linkOf("l")])
        const answers = yield* updateMany([
          updateOf("k", 1, { title: "first" }),
          updateOf("l", 2, { title: "of l" }),
          updateOf("k", 3, { title: "second" }),
          updateOf("k", 4, { tags: ["t"] })
        ])
        expect(answers.map((row) => [row?.title, row?.tags])).toEqual([
          ["first", []],
          ["of l", []],
          ["second", []],
          ["second", ["t"]]
        ])
        expect((yield* findMany(["k"]))[0]).toEqual(answers[3])
      })
    )

    it.scopedLive(
      "counts what was visited of a former maxVisits, also where that is more than a lower one allows",
      () =>
        Effect.gen(function* () {
          const { insertMany, updateMany } = yield* store
          yield* insertMany([{ ...linkOf("k"), maxVisits: 10, visitsLeft: 7 }])
          const left: Array<unknown> = []
          for (const [index, maxVisits] of [12, 3, 2, 10, null, 5].entries()) {
            const [row] = yield* updateMany([updateOf("k", index, { maxVisits })])
            left.push([row?.maxVisits, row?.visitsLeft])
          }
          // The 3 that were used stay used, and none are where there was no bound.
          expect(left).toEqual([
            [12, 9],
            [3, 0],
            [2, -1],
            [10, 7],
            [null, null],
            [5, 5]
          ])
        })
    )

    it.scopedLive("never sets the time of the last change back", () =>
      Effect.gen(function* () {
        const { insertMany, updateMany } = yield* store
        yield* insertMany([linkOf("k")])
        const [row] = yield* updateMany([updateOf("k", 1, { title: "t" }, { at: 5 })])
        expect(row).toEqual({ ...linkOf("k"), title: "t" })
      })
    )

    it.scopedLive("makes the repeat of a create a conflict, also in the millisecond of that create", () =>
      Effect.gen(function* () {
        const { insertMany, updateMany } = yield* store
        const created = { ...linkOf("k"), createId: 7 }
        yield* insertMany([created])
        yield* updateMany([updateOf("k", 1, { title: "t" }, { at: created.createdAt })])
        expect(yield* insertMany([created])).toEqual([false])
      })
    )
  })

  describe(`${title}: a condition`, () => {
    const read: Link = {
      ...linkOf("k"),
      title: `it's "quoted" \\ / 🍃 é`,
      tags: ["a", `it's "quoted" \\ / 🍃 é`, ""],
      extras: { archived: true, note: "n" }
    }
    const onlyIf = conditionOf(read)
    const others: ReadonlyArray<readonly [what: string, other: Partial<Link>]> = [
      ["URL", { url: "https://example.com/other" }],
      ["title", { title: "other" }],
      ["title, which it has no more", { title: null }],
      ["tags", { tags: ["a"] }],
      ["order of the tags", { tags: read.tags.toReversed() }],
      ["archive", { extras: { note: "n" } }]
    ]
    const calmRows: ReadonlyArray<Link> = [
      read,
      { ...linkOf("k"), title: null, tags: [] },
      { ...linkOf("k"), title: "t", extras: { note: "n" } }
    ]

    it.scopedLive("is met by a link that is as it was read, also by one that was changed otherwise", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, updateMany } = yield* store
        for (const [index, calm] of calmRows.entries()) {
          const key = `k${index}`
          const onlyIf = conditionOf(calm)
          yield* insertMany([{ ...calm, key }])
          const [row] = yield* updateMany([updateOf(key, 1, { crawlable: true }, { onlyIf })])
          expect(row).toEqual({ ...calm, key, crawlable: true, updatedAt: later })
          expect(yield* updateMany([updateOf(key, 2, { tags: ["b"] }, { onlyIf })])).toMatchObject([
            { tags: ["b"] }
          ])
          expect(yield* deleteMany([{ key, at: later, onlyIf }])).toEqual([false])
          expect(
            yield* deleteMany([{ key, at: later, onlyIf: { ...onlyIf, tags: ["b"] }, deleteId: 5 }])
          ).toEqual([true])
          expect((yield* findMany([key]))[0]?.deletedAt).toBe(later)
        }
      })
    )

    for (const [what, other] of others) {
      it.scopedLive(`keeps a link with another ${what} from being changed or deleted`, () =>
        Effect.gen(function* () {
          const { deleteMany, findMany, insertMany, updateMany } = yield* store
          const row = { ...read, ...other }
          yield* insertMany([row, { ...read, key: "l" }])
          const updates = ["k", "l"].map((key) => updateOf(key, 1, { crawlable: true }, { onlyIf }))
          expect((yield* updateMany(updates)).map((link) => link?.key)).toEqual([undefined, "l"])
          const deletions = ["k", "l"].map((key) => ({ key, at: later, onlyIf }))
          expect(yield* deleteMany([...deletions, { key: "none", at: later, onlyIf }])).toEqual([
            false,
            true,
            false
          ])
          expect(yield* findMany(["k"])).toEqual([row])
        })
      )
    }

    it.scopedLive("is no matter to repeats, which are answered like the first time", () =>
      Effect.gen(function* () {
        const { deleteMany, insertMany, updateMany } = yield* store
        yield* insertMany([read])
        const update = updateOf("k", 1, { tags: ["b"] }, { onlyIf })
        for (const _ of [1, 2]) expect(yield* updateMany([update])).toMatchObject([{ tags: ["b"] }])
        const deletion = { key: "k", at: later, deleteId: 3, onlyIf: { ...onlyIf, tags: ["b"] } }
        for (const _ of [1, 2]) expect(yield* deleteMany([deletion])).toEqual([true])
      })
    )

    it.scopedLive("lets one of many at once through, and in one batch the first", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let round = 0; round < 20; round++) {
          const key = `key${round}`
          yield* stores[0].insertMany([{ ...read, key }])
          const updates = Array.from({ length: 6 }, (_, fiber) =>
            updateOf(key, fiber, { tags: [String(fiber)] }, { onlyIf })
          )
          const answers = yield* atOnce([
            Effect.map(stores[2].deleteMany([{ key, at: later, onlyIf }]), (deleted) => deleted),
            ...updates.map((update, fiber) =>
              Effect.map(stores[fiber % 3]!.updateMany([update]), (rows) => rows.map((row) => row !== null))
            )
          ])
          expect(answers.flat().filter(Boolean)).toHaveLength(1)
          yield* stores[0].insertMany([{ ...read, key: `${key}batch` }])
          const batch = updates.map((update) => ({ ...update, key: `${key}batch` }))
          expect((yield* stores[0].updateMany(batch)).map((row) => row?.tags)).toEqual([
            ["0"],
            ...batch.slice(1).map(() => undefined)
          ])
        }
      })
    )
  })

  describe(`${title}: repeats of a change`, () => {
    it.scopedLive("are answered with the row, and change nothing, also when others came between", () =>
      Effect.gen(function* () {
        const { deleteMany, findMany, insertMany, updateMany } = yield* store
        yield* insertMany([linkOf("k")])
        const first = updateOf("k", Number.MAX_SAFE_INTEGER, { url: "https://first" })
        yield* updateMany([first])
        for (let other = 1; other < updatesRemembered; other++) {
          const [row] = yield* updateMany([updateOf("k", other, { url: `https://other/${other}` })])
          const before = yield* findMany(["k"])
          expect(before).toEqual([row])
          expect(yield* updateMany([first])).toEqual(before)
          expect(yield* findMany(["k"])).toEqual(before)
        }
        yield* deleteMany([{ key: "k", at: later + 1 }])
        expect((yield* updateMany([first]))[0]).toMatchObject({ key: "k", deletedAt: later + 1 })
        expect(yield* updateMany([updateOf("k", 99, { title: "x" })])).toEqual([null])
      })
    )

    it.scopedLive("are known of the last updates, however many came before", () =>
      Effect.gen(function* () {
        const { findMany, insertMany, updateMany } = yield* store
        yield* insertMany([linkOf("k")])
        const updates = Array.from({ length: 2 * updatesRemembered }, (_, index) =>
          updateOf("k", index + 1, { title: `title ${index}` })
        )
        for (const update of updates) yield* updateMany([update])
        const before = yield* findMany(["k"])
        for (const update of updates.slice(-updatesRemembered)) {
          expect(yield* updateMany([update])).toEqual(before)
          expect(yield* findMany(["k"])).toEqual(before)
        }
      })
    )

    it.scopedLive("are known wherever they stand in a batch", () =>
      Effect.gen(function* () {
        const { findMany, insertMany, updateMany } = yield* store
        yield* insertMany([linkOf("k")])
        const [one, other] = [updateOf("k", 1, { title: "one" }), updateOf("k", 2, { title: "other" })]
        const answers = yield* updateMany([one, one, other, one])
        expect(answers.map((row) => row?.title)).toEqual(["one", "one", "other", "other"])
        expect((yield* findMany(["k"]))[0]?.title).toBe("other")
      })
    )

    it.scopedLive("that come at once are applied once, and all answered", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const keys = Array.from({ length: 40 }, (_, index) => `key${index}`)
        yield* stores[0].insertMany(keys.map((key) => ({ ...linkOf(key), maxVisits: 10, visitsLeft: 5 })))
        // Applied twice, it would not leave 15.
        const batch = keys.map((key, index) => updateOf(key, index, { maxVisits: 20 }))
        const answers = yield* atOnce(
          Array.from({ length: 9 }, (_, fiber) =>
            stores[fiber % 3]!.updateMany(fiber % 2 === 0 ? batch : batch.toReversed())
          )
        )
        expect(answers.flat().every((row) => row?.visitsLeft === 15)).toBe(true)
      })
    )
  })

  describe(`${title}: changes at once`, () => {
    it.scopedLive("of different parts of a link lose none", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        yield* stores[0].insertMany([linkOf("k")])
        const { maxVisits: _, ...parts } = everything
        yield* atOnce(
          Object.entries(parts).map(([name, value], index) =>
            stores[index % 3]!.updateMany([updateOf("k", index, { [name]: value })])
          )
        )
        expect(yield* stores[0].findMany(["k"])).toEqual([{ ...linkOf("k"), ...parts, updatedAt: later }])
      })
    )

    it.scopedLive("with its deletion leave a tombstone, and answer null to those that came after it", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let round = 0; round < 20; round++) {
          const key = `key${round}`
          yield* stores[0].insertMany([linkOf(key)])
          const changes = Array.from({ length: 4 }, (_, fiber) =>
            stores[fiber % 3]!.updateMany([updateOf(key, fiber, { title: String(fiber) })])
          )
          const deletion = stores[1].deleteMany([{ key, at: later + 1 }])
          const [deleted, ...rows] = yield* Effect.all([deletion, ...changes], { concurrency: "unbounded" })
          expect(deleted).toEqual([true])
          const [row] = yield* stores[2].findMany([key])
          expect(row?.deletedAt).toBe(later + 1)
          const titles = rows.flatMap(([row]) => (row ? [row.title] : []))
          expect(row?.title === null ? titles.length : titles.includes(row!.title)).toBe(
            row?.title === null ? 0 : true
          )
        }
      })
    )

    it.scopedLive("get done where batches meet each other in opposite orders", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const keys = Array.from({ length: 200 }, (_, index) => `key${index}`)
        yield* stores[0].insertMany(keys.map((key) => linkOf(key)))
        const answers = yield* atOnce(
          Array.from({ length: 8 }, (_, fiber) =>
            stores[fiber % 3]!.updateMany(
              (fiber % 2 === 0 ? keys : keys.toReversed()).map((key, index) =>
                updateOf(key, fiber * 1_000 + index, { title: String(fiber) })
              )
            )
          )
        )
        expect(answers.flat().filter((row) => row !== null)).toHaveLength(1_600)
      })
    )
  })
}
