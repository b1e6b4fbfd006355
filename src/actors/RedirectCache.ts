import type { Sharding } from "@effect/cluster/Sharding"
import { Context, Duration, Effect, Layer, type Scope } from "effect"
import * as Batcher from "../Batcher.ts"
import * as Timeout from "../Timeout.ts"
import type { Link } from "../Link.ts"
import { freshFor_ms } from "../storage/LinkChanges.ts"
import { LinkStore } from "../storage/LinkStore.ts"
import * as LinkCache from "./LinkCache.ts"
import { fromFailure, orUnavailable, Unavailable } from "./Unavailable.ts"
import { batchMax, partitionCount, partitionOf, UrlMapping } from "./UrlMapping.ts"

/**
 * The node's cache of links in front of the `UrlMapping` actors. It holds no absences, so that a new link is visible here at once.
 */
export class RedirectCache extends Context.Tag("linkmint/RedirectCache")<
  RedirectCache,
  LinkCache.LinkCache<Unavailable>
>() {}

/** Reads that wait for one partition at most; more are refused at once. */
const queueMax = 10_000

/** How a node reads what it has not cached. */
export interface RedirectCacheOptions {
  /** In a cluster: how long a key's owner may take before the node reads the store itself. An owner can be away for some seconds. */
  readonly storeAfter?: Duration.Duration
}

/** An owner that takes longer does not answer any more: its node is paused, or gone without a trace. */
const ownerMax = Duration.seconds(1)

/**
 * A cache of at most `max` links. Misses go to the key's partition in batches, one batch of a partition at a time.
 */
export const make = (
  max: number,
  { storeAfter }: RedirectCacheOptions = {}
): Effect.Effect<typeof RedirectCache.Service, never, Sharding | LinkStore | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* LinkStore
    const clientOf = yield* UrlMapping.client
    const resolvers = yield* Effect.forEach(
      Array.from({ length: partitionCount }, (_, partition) => partition),
      (partition) =>
        Batcher.make<string, Link | null, Unavailable>({
          name: `resolve from partition ${partition}`,
          kind: "resolve",
          run: (keys) =>
            Timeout.within(orUnavailable(clientOf(String(partition)).ResolveMany({ keys })), {
              duration: ownerMax,
              onTimeout: () => ownerAway(partition)
            }),
          batchMax,
          queueMax,
          inFlightMax: 1
        })
    )
    const fromOwner = (key: string) => Effect.mapError(resolvers[partitionOf(key)]!.submit(key), fromFailure)
    const fromStore = (key: string) =>
      Effect.mapError(
        Effect.map(store.findMany([key]), ([link]) => link ?? null),
        fromFailure
      )
    return yield* LinkCache.make({
      level: "l1",
      max,
      readAge_ms: freshFor_ms,
      read: (key) =>
        storeAfter === undefined
          ? fromOwner(key)
          : Timeout.within(fromOwner(key), {
              duration: storeAfter,
              onTimeout: () => ownerAway(partitionOf(key))
            }).pipe(Effect.catchAll(() => fromStore(key)))
    })
  })

const ownerAway = (partition: number) =>
  new Unavailable({ reason: `the owner of partition ${partition} did not answer`, applied: "no" })

/** See {@link make}. */
export const layer = (
  max: number,
  options?: RedirectCacheOptions
): Layer.Layer<RedirectCache, never, Sharding | LinkStore> => Layer.scoped(RedirectCache, make(max, options))
