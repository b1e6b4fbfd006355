import { Sharding } from "@effect/cluster"
import { Context, Duration, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import * as KeyBuffer from "../../src/actors/keys/KeyBuffer.ts"
import { KeyRange } from "../../src/actors/keys/KeyRange.ts"
import { followersMax } from "../../src/actors/keys/KeyRing.ts"
import * as LocalOwners from "../../src/actors/links/LocalOwners.ts"
import type { LinkDraft } from "../../src/actors/links/LinkDraft.ts"
import * as Links from "../../src/actors/links/Links.ts"
import { PoolShard } from "../../src/actors/keys/PoolShard.ts"
import * as RedirectCache from "../../src/actors/links/RedirectCache.ts"
import { partitionOf, UrlMapping } from "../../src/actors/links/UrlMapping.ts"
import { layerEmbedded } from "../../src/node/Cluster.ts"
import * as Parts from "../../src/node/Parts.ts"
import * as KeyMinter from "../../src/keys/KeyMinter.ts"
import { rangeCount } from "../../src/keys/KeyRanges.ts"
import { GuardedCreates } from "../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesMemory from "../../src/sim/stores/GuardedCreatesMemory.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { fromStrings, toStrings } from "../../src/keys/PackedKeys.ts"
import { KeyPool } from "../../src/storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../src/storage/keys/KeyPoolMemory.ts"
import { KeyRangeStore } from "../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "../../src/sim/stores/KeyRangeStoreMemory.ts"
import { KeyStock } from "../../src/storage/keys/KeyStock.ts"
import * as KeyStockMemory from "../../src/sim/stores/KeyStockMemory.ts"
import { LinkStore } from "../../src/storage/links/LinkStore.ts"
import * as LinkStoreMemory from "../../src/sim/stores/LinkStoreMemory.ts"
import * as Faults from "./ActorFaults.ts"
import { plainDraft } from "./Plain.ts"

/** What outlives a node. */
export interface Stores {
  readonly ranges: typeof KeyRangeStore.Service
  readonly stock: typeof KeyStock.Service
  readonly links: typeof LinkStore.Service
  readonly pool: typeof KeyPool.Service
  readonly minter: typeof KeyMinter.KeyMinter.Service
}

/** Sizes of a node, in keys; small ones, so that a few keys go through everything. */
export interface Sizes {
  readonly capacity: number
  readonly low: number
  readonly high: number
}

const sizesDefault: Sizes = { capacity: 8, low: 10, high: 40 }

/** The minter of the default deployment, under a secret that is none. */
export const realMinter = KeyMinter.make(KeySpace.make("base62", 7), new Uint8Array(16))

/**
 * A minter of ranges of `span` counters at each length, whose keys can be read: the range in hexadecimal, then the counter.
 */
export const tinyMinter = (span: number, length: number): typeof KeyMinter.KeyMinter.Service => ({
  space: KeySpace.make("base62", length),
  ranges: rangeCount,
  repeats: false,
  spanOf: () => span,
  mint: (length, range, first, count) =>
    fromStrings(
      Array.from(
        { length: count },
        (_, index) => range.toString(16) + String(first + index).padStart(length - 1, "0")
      )
    )
})

/** An empty pool in memory: what a process has after it was started. */
export const freshPool = (sizes: Partial<Sizes & { shards: number }> = {}) =>
  KeyPoolMemory.make({
    shards: sizes.shards ?? 1,
    settleAfter: followersMax(sizes.capacity ?? sizesDefault.capacity)
  })

/** Empty stores in memory. */
export const freshStores = (
  sizes: Partial<Sizes & { shards: number }> = {},
  minter: Stores["minter"] = realMinter
): Effect.Effect<Stores> =>
  Effect.all({
    ranges: KeyRangeStoreMemory.make,
    stock: KeyStockMemory.make(),
    links: LinkStoreMemory.make,
    pool: freshPool(sizes),
    minter: Effect.succeed(minter)
  })

/** Lets all fibers that do not wait for time go on until they wait. */
export const others = Effect.repeatN(Effect.yieldNow(), 200)

/** Waits for a fiber while time passes, in steps of 0.1 s, five seconds at most: for waits whose length is not the test's concern. */
export const joinInTime = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    yield* others
    for (let step = 0; fiber.unsafePoll() === null && step < 50; step++) {
      yield* TestClock.adjust("100 millis")
      yield* others
    }
    return fiber.unsafePoll() === null
      ? yield* Effect.dieMessage("it does not end in time")
      : yield* Fiber.join(fiber)
  })

/** How long a node may take to stop, in seconds: a lease that is under way, and what actors are still asked for. */
const stopMax = 15

/** Closes a node's scope. Time passes meanwhile where something has to be given up. */
const close = (scope: Scope.CloseableScope): Effect.Effect<void> =>
  Effect.gen(function* () {
    const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
    yield* others
    for (let second = 0; closing.unsafePoll() === null && second < stopMax; second++) {
      yield* TestClock.adjust("1 seconds")
      yield* others
    }
    if (closing.unsafePoll() === null) return yield* Effect.dieMessage("the node does not stop")
  })

/** Keys that ever left the ranges. */
export const minted = (stores: Stores): Effect.Effect<number> =>
  stores.ranges.watermarks.pipe(
    Effect.map((marks) => marks.reduce((sum, { next }) => sum + next, 0)),
    Effect.orDie
  )

/** What a node is given of stores, under faults. */
export const ports = (stores: Stores, faults: Faults.Faults) =>
  Context.make(KeyRangeStore, faults.over("KeyRangeStore", stores.ranges)).pipe(
    Context.add(KeyStock, faults.over("KeyStock", stores.stock)),
    Context.add(LinkStore, faults.over("LinkStore", stores.links)),
    Context.add(KeyPool, faults.over("KeyPool", stores.pool)),
    Context.add(GuardedCreates, GuardedCreatesMemory.makeOver(new Map(), stores.links)),
    Context.add(KeyMinter.KeyMinter, stores.minter)
  )

/** Statements of one kind at once. */
const inFlightMax = 4

/** All owners live in other processes, as far as the node knows. */
export const ownersElsewhere = Layer.map(LocalOwners.layer(inFlightMax), (context) =>
  Context.add(context, LocalOwners.LocalOwners, {
    ...Context.get(context, LocalOwners.LocalOwners),
    of: () => undefined
  })
)

/** A buffer of its own that leases from a node's pool shards. It closes with the scope, and the node lives on. */
export const bufferOver = (
  stores: Stores,
  { faults, sharding }: Pick<TestNode, "faults" | "sharding">,
  capacity: number
) =>
  KeyBuffer.make(capacity).pipe(
    Effect.provide(ports(stores, faults)),
    Effect.provideService(Sharding.Sharding, sharding)
  )

/**
 * Starts a node of real actors over the stores. It stops with the scope, or before:
 * - `stop`: in order; what it holds goes back.
 * - `kill`: as by `kill -9`, right where it stands. Nothing that it has not done yet reaches a store.
 */
export const startNode = (
  stores: Stores,
  sizes: Partial<Sizes> = {},
  localOwners = LocalOwners.layer(inFlightMax)
): Effect.Effect<TestNode, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { capacity, high, low } = { ...sizesDefault, ...sizes }
    const faults = yield* Faults.make
    const scope = yield* Scope.make()
    const stop = yield* Effect.cached(close(scope))
    yield* Effect.addFinalizer(() => Effect.zipRight(faults.kill, stop))
    const given = ports(stores, faults)
    const context = yield* Parts.layerCore({
      inFlightMax,
      localOwners,
      pool: { low, high },
      bufferCapacity: capacity,
      redirectCacheMax: 1_000,
      staleRedirects: Duration.minutes(1)
    }).pipe(
      Layer.provideMerge(layerEmbedded),
      Layer.provide(Layer.succeedContext(given)),
      Layer.buildWithScope(scope)
    )
    const clients = yield* Effect.provide(
      Effect.all({ shard: PoolShard.client, range: KeyRange.client, partition: UrlMapping.client }),
      context
    )
    return {
      sharding: Context.get(context, Sharding.Sharding),
      links: Context.get(context, Links.Links),
      buffer: Context.get(context, KeyBuffer.KeyBuffer),
      cache: Context.get(context, RedirectCache.RedirectCache),
      guards: Context.get(given, GuardedCreates),
      shard: (shard = 0) => clients.shard(String(shard)),
      range: (range) => clients.range(String(range)),
      partitionOf: (key) => clients.partition(String(partitionOf(key))),
      faults,
      stop,
      kill: Effect.zipRight(faults.kill, stop)
    }
  })

type Client<E extends { readonly client: unknown }> =
  E["client"] extends Effect.Effect<(id: string) => infer C, infer _E, infer _R> ? C : never

/** A running node, and its faults. */
export interface TestNode {
  /** What clients of its actors need. */
  readonly sharding: typeof Sharding.Sharding.Service
  readonly links: typeof Links.Links.Service
  readonly buffer: typeof KeyBuffer.KeyBuffer.Service
  readonly cache: typeof RedirectCache.RedirectCache.Service
  readonly guards: typeof GuardedCreates.Service
  readonly shard: (shard?: number) => Client<typeof PoolShard>
  readonly range: (range: number) => Client<typeof KeyRange>
  readonly partitionOf: (key: string) => Client<typeof UrlMapping>
  readonly faults: Faults.Faults
  readonly stop: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
}

/**
 * Takes all keys that a pool shard can give without a refill. A healthy owner finishes the batches that stand recorded first, all of them as any number has room; with a low-water mark of 0 it begins
 * no refill, which would be cut off by its stop and leave its keys recorded and not pushed.
 */
export const drain = (stores: Stores, shard = 0): Effect.Effect<ReadonlyArray<string>> =>
  startNode(stores, { low: 0, high: Number.MAX_SAFE_INTEGER }).pipe(
    Effect.flatMap((owner) => owner.shard(shard).Status()),
    Effect.scoped,
    Effect.zipRight(stores.pool.lease(shard, Number.MAX_SAFE_INTEGER)),
    Effect.map(toStrings),
    Effect.orDie
  )

/** A draft of a link with a minted key, or an alias. */
export const draft = (alias: string | null = null, expiresAt: number | null = null): LinkDraft => ({
  ...plainDraft,
  url: `https://example.com/${alias ?? ""}`,
  alias,
  expiresAt
})
