import { expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, type Scope } from "effect"
import type { LinkCache } from "../../../src/actors/links/LinkCache.ts"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import { weightOf } from "../../../src/actors/links/LinkWeight.ts"
import { LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import * as RedirectCache from "../../../src/actors/links/RedirectCache.ts"
import { partitionCount } from "../../../src/actors/links/UrlMapping.ts"
import type { Link } from "../../../src/model/Link.ts"
import { type Rule, routingLengthMax } from "../../../src/model/Rules.ts"
import * as LinkInvalidationsLocal from "../../../src/storage/links/LinkInvalidationsLocal.ts"
import { plainRow } from "../../support/Plain.ts"
import { freshStores, startNode } from "../../support/TestNode.ts"

const budget = 128 * 1024 * 1024

/** With more text than most links have. */
const ordinary: Omit<Link, "key"> = {
  ...plainRow,
  url: "https://www.example.com/".padEnd(300, "x"),
  title: "A title",
  tags: ["one", "two"],
  custom: false,
  createdAt: 1,
  updatedAt: 1
}

const networks = Array.from({ length: 20 }, (_, number) => `2001:${number}::`)

const longest: Omit<Link, "key"> = {
  ...ordinary,
  url: "https://www.example.com/".padEnd(2_048, "x"),
  title: "ж".repeat(256),
  tags: Array.from({ length: 20 }, (_, number) => "ж".repeat(62) + String(number).padStart(2, "0")),
  passwordHash: "x".repeat(100),
  extras: {
    expiredUrl: "https://www.example.com/".padEnd(2_048, "x"),
    card: {
      title: "ж".repeat(256),
      description: "ж".repeat(512),
      image: "https://www.example.com/".padEnd(2_048, "x")
    },
    note: "ж".repeat(1_024),
    rules: Array.from({ length: 20 }, (): Rule => ({ url: "https://example.com/", when: { networks } }))
  }
}

/** Writes rows into a cache, and gives the keys of those that it then has. */
const fill = (cache: LinkCache<never>, row: Omit<Link, "key">, count: number): ReadonlyArray<string> => {
  const keys = Array.from({ length: count }, (_, number) => `k${number}`)
  for (const key of keys) cache.beginWrite(key)({ ...row, key })
  return keys.filter((key) => cache.getNow(key) !== undefined)
}

const bytesOf = (cache: LinkCache<never>, keys: ReadonlyArray<string>): number =>
  keys.reduce((sum, key) => sum + weightOf(cache.getNow(key)!), 0)

const redirectCache = (max: number) =>
  RedirectCache.make(max, Duration.zero).pipe(
    Effect.provideService(LocalOwners, { of: () => undefined } as unknown as typeof LocalOwners.Service),
    Effect.provideService(LinkReader, { readThen: () => expect.unreachable() }),
    Effect.provide(LinkInvalidationsLocal.layer)
  ) as Effect.Effect<LinkCache<never>, never, Scope.Scope>

/** The cache of the owner of one partition. */
const ownerCache = Effect.gen(function* () {
  const caches: Array<unknown> = []
  const owners = Layer.succeed(LocalOwners, {
    of: () => undefined,
    add: (_, cache) => Effect.sync(() => void caches.push(cache)),
    bindThen: () => expect.unreachable(),
    bindGuarded: () => expect.unreachable()
  })
  const node = yield* startNode(yield* freshStores(), {}, owners)
  yield* node.partitionOf("k").ResolveMany({ keys: ["k"] })
  return caches[0] as LinkCache<never>
})

it.scoped("a node's cache holds 100,000 ordinary links", () =>
  Effect.gen(function* () {
    const cache = yield* redirectCache(100_000)
    expect(fill(cache, ordinary, 100_001).length).toBe(100_000)
    expect(cache.getNow("k0")).toBeUndefined()
  })
)

it.scoped("a node's cache holds no more of the longest links than its bytes allow", () =>
  Effect.gen(function* () {
    const cache = yield* redirectCache(100_000)
    const kept = fill(cache, longest, 5_000)
    expect(bytesOf(cache, kept)).toBeLessThanOrEqual(budget)
    expect(bytesOf(cache, kept)).toBeGreaterThan(0.99 * budget)
    expect(kept.at(-1)).toBe("k4999")
  })
)

it.scoped("the caches of partitions' owners hold 4,096 ordinary links each", () =>
  Effect.gen(function* () {
    expect(fill(yield* ownerCache, ordinary, 4_097).length).toBe(4_096)
  })
)

it.scoped("the caches of partitions' owners hold no more of the longest links than their share allows", () =>
  Effect.gen(function* () {
    const cache = yield* ownerCache
    const kept = fill(cache, longest, 1_000)
    expect(bytesOf(cache, kept)).toBeLessThanOrEqual(budget / partitionCount)
    expect(kept.at(-1)).toBe("k999")
  })
)

it("a link's weight has all of its texts, and what is compiled of its rules", () => {
  const { extras, ...withoutExtras } = { ...longest, key: "k" }
  const { rules = [], ...texts } = extras!
  expect(JSON.stringify(rules).length).toBeLessThan(routingLengthMax)
  expect(weightOf({ ...ordinary, key: "k" })).toBeLessThan(1_024)
  expect(weightOf(withoutExtras)).toBeGreaterThan(2_048 + 2 * (256 + 20 * 64))
  const textsAlone = weightOf({ ...withoutExtras, extras: texts }) - weightOf(withoutExtras)
  expect(textsAlone).toBeGreaterThan(2 * (2_048 + 256 + 512 + 2_048 + 1_024))
  // 20 rules with 20 networks each take 128 KB where they are compiled.
  expect(weightOf({ ...longest, key: "k" }) - textsAlone).toBeGreaterThan(128_000)
})
