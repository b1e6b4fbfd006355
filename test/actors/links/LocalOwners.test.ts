import { expect, it } from "@effect/vitest"
import { Effect, Either, Exit, Scope } from "effect"
import { describe } from "vitest"
import type * as LinkCache from "../../../src/actors/links/LinkCache.ts"
import * as LocalOwners from "../../../src/actors/links/LocalOwners.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { type CreateOutcome, partitionOf } from "../../../src/actors/links/UrlMapping.ts"
import type { Link } from "../../../src/model/Link.ts"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { PartlyFailed, StorageError } from "../../../src/storage/StorageError.ts"
import { plainRow } from "../../support/Plain.ts"

const linkOf = (key: string, custom = false): Link => ({
  ...plainRow,
  key,
  url: "https://example.com/",
  custom,
  createdAt: 1,
  updatedAt: 1
})

type Insert = (typeof LinkStore.Service)["insertMany"]

/** Over a store that binds as `insertMany` does, and has `row` of every key. */
const ownersOver = (insertMany: Insert, row: Exit.Exit<Link | null, Unavailable> = Exit.succeed(null)) =>
  LocalOwners.make(1).pipe(
    Effect.provideService(LinkStore, { insertMany } as typeof LinkStore.Service),
    Effect.provideService(LinkReader, { readThen: (_, answer) => answer(row) }),
    Effect.provideService(GuardedCreates, {} as typeof GuardedCreates.Service)
  )

const bind = ({ bindThen }: typeof LocalOwners.LocalOwners.Service, link: Link) =>
  Effect.async<CreateOutcome, Unavailable>((resume) => bindThen([link], ([outcome]) => resume(outcome!)))

/** An owner that notes what its cache is told. */
const makeOwner = () => {
  const notes: Array<string> = []
  const owner: Pick<LinkCache.LinkCache<Unavailable>, "getThen" | "beginWrite"> = {
    getThen: () => expect.unreachable(),
    beginWrite: (key) => {
      notes.push(`begin ${key}`)
      return (left) => notes.push(`end ${key}: ${left?.key ?? "nothing"}`)
    }
  }
  return { notes, owner }
}

describe("owners in this process", () => {
  it.scoped("bind the links of all partitions together, in one statement", () =>
    Effect.gen(function* () {
      const statements: Array<number> = []
      const owners = yield* ownersOver((links) =>
        Effect.sync(() => {
          statements.push(links.length)
          return links.map(() => true)
        })
      )
      const keys = Array.from({ length: 40 }, (_, n) => `key${n}`)
      expect(new Set(keys.map(partitionOf)).size).toBeGreaterThan(8)
      const outcomes = yield* Effect.forEach(keys, (key) => bind(owners, linkOf(key)), {
        concurrency: "unbounded"
      })
      expect(outcomes).toEqual(keys.map(() => "bound"))
      expect(statements).toEqual([40])
    })
  )

  it.scoped("answer a call in the order of its links, beside those of others", () =>
    Effect.gen(function* () {
      const statements: Array<ReadonlyArray<string>> = []
      const owners = yield* ownersOver((links) => {
        statements.push(links.map(({ key }) => key))
        return Effect.succeed(links.map(({ key }) => key !== "b"))
      })
      const bindMany = (keys: ReadonlyArray<string>) =>
        LocalOwners.bind(
          owners.bindThen,
          keys.map((key) => linkOf(key))
        )
      const calls = yield* Effect.all([bindMany(["a", "b", "c"]), bindMany(["d"]), bindMany(["e", "b"])], {
        concurrency: "unbounded"
      })
      const [done, taken] = [Exit.succeed("bound"), Exit.succeed("taken-by-key")]
      expect(calls).toEqual([[done, taken, done], [done], [done, taken]])
      expect(statements).toEqual([["a", "b", "c", "d", "e", "b"]])
    })
  )

  it.scoped("have their caches keep what was bound, and nothing else", () =>
    Effect.gen(function* () {
      const { notes, owner } = makeOwner()
      const owners = yield* ownersOver(
        (links) => {
          notes.push("insert")
          return Effect.succeed(links.map(({ key }) => key === "a"))
        },
        Exit.succeed(linkOf("b", true))
      )
      yield* owners.add(partitionOf("a"), owner)
      yield* owners.add(partitionOf("b"), owner)
      const outcomes = yield* Effect.all([bind(owners, linkOf("a")), bind(owners, linkOf("b"))], {
        concurrency: "unbounded"
      })
      expect(outcomes).toEqual(["bound", "taken-by-alias"])
      expect(notes).toEqual(["begin a", "begin b", "insert", "end a: a", "end b: nothing"])
    })
  )

  it.scoped.each([
    [100, true],
    [101, false]
  ] as const)("of a call with %d links, have their caches keep them: %s", ([count, isKept]) =>
    Effect.gen(function* () {
      const { notes, owner } = makeOwner()
      const owners = yield* ownersOver((links) => Effect.succeed(links.map(() => true)))
      yield* owners.add(partitionOf("k"), owner)
      const others = Array.from({ length: 1_000 }, (_, n) => linkOf(`other${n}`)).filter(
        ({ key }) => partitionOf(key) !== partitionOf("k")
      )
      yield* LocalOwners.bind(owners.bindThen, [linkOf("k"), ...others.slice(0, count - 1)])
      expect(notes).toEqual(isKept ? ["begin k", "end k: k"] : [])
    })
  )

  it.scoped.each([
    ["an alias", Exit.succeed(linkOf("k", true)), "taken-by-alias"],
    ["a minted key", Exit.succeed(linkOf("k")), "taken-by-key"],
    ["nobody any more", Exit.succeed(null), "taken-by-key"],
    ["a store that cannot say it", Exit.fail(new Unavailable({ reason: "away", applied: "no" })), "taken"]
  ] as const)("say of a key that is taken that it is held by %s", ([, row, outcome]) =>
    Effect.gen(function* () {
      const owners = yield* ownersOver((links) => Effect.succeed(links.map(() => false)), row)
      expect(yield* bind(owners, linkOf("k"))).toBe(outcome)
    })
  )

  it.scoped("fail with what the store says, and their caches forget the key", () =>
    Effect.gen(function* () {
      const { notes, owner } = makeOwner()
      const owners = yield* ownersOver(
        () => new StorageError({ operation: "LinkStore.insertMany", reason: "away", applied: "no" })
      )
      yield* owners.add(partitionOf("k"), owner)
      expect((yield* Effect.flip(bind(owners, linkOf("k")))).applied).toBe("no")
      expect(notes).toEqual(["begin k", "end k: nothing"])
    })
  )

  it.scoped("give each link its own outcome where a statement has failed in part", () =>
    Effect.gen(function* () {
      const { notes, owner } = makeOwner()
      const failed = { operation: "LinkStore.insertMany", reason: "away" }
      const owners = yield* ownersOver(
        () =>
          new PartlyFailed({
            ...failed,
            applied: "unknown",
            outcomes: [
              Either.right(true),
              Either.right(false),
              Either.left(new StorageError({ ...failed, applied: "no" })),
              Either.left(new StorageError({ ...failed, applied: "unknown" }))
            ]
          })
      )
      for (const key of "abcd") yield* owners.add(partitionOf(key), owner)
      const calls = yield* Effect.forEach(
        ["abc", "d"],
        (keys) =>
          LocalOwners.bind(
            owners.bindThen,
            [...keys].map((key) => linkOf(key))
          ),
        { concurrency: "unbounded" }
      )
      expect(calls.map((outcomes) => outcomes.map(Exit.mapError(({ applied }) => applied)))).toEqual([
        [Exit.succeed("bound"), Exit.succeed("taken-by-key"), Exit.fail("no")],
        [Exit.fail("unknown")]
      ])
      expect(notes.slice(4)).toEqual(["end a: a", "end b: nothing", "end c: nothing", "end d: nothing"])
    })
  )

  it.effect("do not know what became of a link when the node stops", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const owners = yield* Scope.extend(
        ownersOver(() => Effect.never),
        scope
      )
      const { notes, owner } = makeOwner()
      yield* Scope.extend(owners.add(partitionOf("k"), owner), scope)
      const outcomes: Array<LocalOwners.BindOutcome> = []
      owners.bindThen([linkOf("k")], (all) => outcomes.push(...all))
      while (notes.length === 0) yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      expect(outcomes.map(Exit.mapError(({ applied }) => applied))).toEqual([Exit.fail("unknown")])
      expect(notes).toEqual(["begin k", "end k: nothing"])
    })
  )

  it.scoped("refuse a link at once when too many wait", () =>
    Effect.gen(function* () {
      const owners = yield* ownersOver(() => Effect.never)
      let refused = 0
      const link = linkOf("k")
      for (let n = 0; n < 40_000; n++) {
        owners.bindThen([link], ([outcome]) => {
          if (Exit.isFailure(outcome!)) refused++
        })
      }
      expect(refused).toBeGreaterThan(0)
      expect(refused).toBeLessThan(40_000)
    })
  )
})
