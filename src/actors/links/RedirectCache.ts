import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { freshFor_ms } from "../../storage/links/LinkInvalidations.ts"
import type { Unavailable } from "../Unavailable.ts"
import * as LinkCache from "./LinkCache.ts"
import { LinkReader } from "./LinkReader.ts"
import { LocalOwners } from "./LocalOwners.ts"
import { partitionOf } from "./UrlMapping.ts"

/**
 * The node's cache of links in front of the `UrlMapping` actors. It holds no absences, so that a new link is visible here at once.
 */
export class RedirectCache extends Context.Tag("linkmint/RedirectCache")<
  RedirectCache,
  LinkCache.LinkCache<Unavailable>
>() {}

/** Bytes of a node's cached links, by `LinkWeight`: enough for 100,000 links with URLs of 800 characters. */
const bytesMax = 128 * 1024 * 1024

/**
 * A cache of at most `max` links and {@link bytesMax}, which may be redirected for `staleMax` after the store has gone. A miss is read from the cache of the partition's owner where that
 * lives in this process, else from the store: a message to an owner elsewhere costs ten times as much as the row, which is what the owner would read.
 */
export const make = (
  max: number,
  staleMax: Duration.Duration
): Effect.Effect<typeof RedirectCache.Service, never, LinkReader | LocalOwners | Scope.Scope> =>
  Effect.gen(function* () {
    const { readThen: fromStore } = yield* LinkReader
    const local = yield* LocalOwners
    return yield* LinkCache.make<Unavailable>({
      level: "l1",
      max,
      maxBytes: bytesMax,
      readAge_ms: freshFor_ms,
      staleMax_ms: Duration.toMillis(staleMax),
      read: (key, answer, span) => {
        const read = local.of(partitionOf(key))?.getThen ?? fromStore
        read(key, answer, span)
      }
    })
  })

/** See {@link make}. */
export const layer = (
  max: number,
  staleMax: Duration.Duration
): Layer.Layer<RedirectCache, never, LinkReader | LocalOwners> =>
  Layer.scoped(RedirectCache, make(max, staleMax))
