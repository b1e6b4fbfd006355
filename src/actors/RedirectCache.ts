import type { Sharding } from "@effect/cluster/Sharding"
import { Context, Effect, Layer, type Scope } from "effect"
import * as Batcher from "../Batcher.ts"
import type { Link } from "../Link.ts"
import * as LinkCache from "./LinkCache.ts"
import { fromFailure, type Unavailable } from "./Unavailable.ts"
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

/** A cache of at most `max` links. Misses go to the key's partition in batches, one batch of a partition at a time. */
export const make = (
  max: number
): Effect.Effect<typeof RedirectCache.Service, never, Sharding | Scope.Scope> =>
  Effect.gen(function* () {
    const clientOf = yield* UrlMapping.client
    const resolvers = yield* Effect.forEach(
      Array.from({ length: partitionCount }, (_, partition) => partition),
      (partition) =>
        Batcher.make<string, Link | null, Unavailable, never>({
          name: `resolve from partition ${partition}`,
          run: (keys) => Effect.mapError(clientOf(String(partition)).ResolveMany({ keys }), fromFailure),
          batchMax,
          queueMax,
          inFlightMax: 1
        })
    )
    return yield* LinkCache.make({
      max,
      absentFor_ms: 0,
      read: (key) => Effect.mapError(resolvers[partitionOf(key)]!.submit(key), fromFailure)
    })
  })

/** See {@link make}. */
export const layer = (max: number): Layer.Layer<RedirectCache, never, Sharding> =>
  Layer.scoped(RedirectCache, make(max))
