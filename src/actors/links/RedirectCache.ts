import type { Sharding } from "@effect/cluster/Sharding"
import { Context, Duration, Effect, Exit, Layer, type Scope } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import type { Link } from "../../model/Link.ts"
import { freshFor_ms } from "../../storage/links/LinkInvalidations.ts"
import * as LinkCache from "./LinkCache.ts"
import { LinkReader } from "./LinkReader.ts"
import { LocalOwners } from "./LocalOwners.ts"
import { orUnavailable, Unavailable } from "../Unavailable.ts"
import { batchMax, ownerRest_ms, partitionCount, partitionOf, UrlMapping } from "./UrlMapping.ts"

/**
 * The node's cache of links in front of the `UrlMapping` actors. It holds no absences, so that a new link is visible here at once.
 */
export class RedirectCache extends Context.Tag("linkmint/RedirectCache")<
  RedirectCache,
  LinkCache.LinkCache<Unavailable>
>() {}

/** Reads that wait for one partition at most; more are refused at once. */
const queueMax = 10_000

/** An owner that takes longer is taken to be away, paused or on its way to another node: the store itself is read then. */
const ownerMax = Duration.millis(50)

/**
 * A cache of at most `max` links, which may be redirected for `staleMax` after the store has gone. A miss goes to the owner of the key's partition: without a message where that lives in this process, else with all others that wait
 * for it in one message, one at a time.
 */
export const make = (
  max: number,
  staleMax: Duration.Duration
): Effect.Effect<typeof RedirectCache.Service, never, Sharding | LinkReader | LocalOwners | Scope.Scope> =>
  Effect.gen(function* () {
    const { readThen: fromStore } = yield* LinkReader
    const local = yield* LocalOwners
    const clock = yield* Effect.clock
    const clientOf = yield* UrlMapping.client
    const makeBatcher = yield* Batcher.maker

    /** Asks the owner of a partition by messages, and the store where it does not answer. */
    const makeGet = (partition: number): LinkCache.GetThen<Unavailable> => {
      let awayUntil = Number.NEGATIVE_INFINITY
      const away = new Unavailable({
        reason: `the owner of partition ${partition} did not answer`,
        applied: "no",
        away: true
      })
      const resolve = (keys: ReadonlyArray<string>) =>
        Timeout.within(orUnavailable(clientOf(String(partition)).ResolveMany({ keys })), {
          duration: ownerMax,
          onTimeout: () => away
        }).pipe(
          Effect.tapError(() =>
            Effect.sync(() => {
              awayUntil = monotonicNow_ms(clock) + ownerRest_ms
            })
          )
        )
      const { submitThen } = makeBatcher<string, Link | null, Unavailable>({
        name: `resolve from partition ${partition}`,
        kind: "resolve",
        run: (keys) => (monotonicNow_ms(clock) < awayUntil ? away : resolve(keys)),
        batchMax,
        queueMax,
        inFlightMax: 1
      })
      return (key, answer, span) => {
        const isAsked = submitThen(
          key,
          (row) => (Exit.isSuccess(row) ? answer(row) : fromStore(key, answer, span)),
          span
        )
        if (!isAsked) fromStore(key, answer, span)
      }
    }
    const elsewhere = Array.from({ length: partitionCount }, (_, partition) => makeGet(partition))

    return yield* LinkCache.make<Unavailable>({
      level: "l1",
      max,
      readAge_ms: freshFor_ms,
      staleMax_ms: Duration.toMillis(staleMax),
      read: (key, answer, span) => {
        const partition = partitionOf(key)
        const read = local.of(partition)?.getThen ?? elsewhere[partition]!
        read(key, answer, span)
      }
    })
  })

/** See {@link make}. */
export const layer = (
  max: number,
  staleMax: Duration.Duration
): Layer.Layer<RedirectCache, never, Sharding | LinkReader | LocalOwners> =>
  Layer.scoped(RedirectCache, make(max, staleMax))
