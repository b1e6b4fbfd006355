import { Context, Duration, Effect, Layer } from "effect"
import { DomainStore } from "../../storage/domains/DomainStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import { monotonic_ms, monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { type KnownDomains, readEvery } from "./Domains.ts"

/** How long all nodes may take to go by what is noted of a domain: each reads it within a second, and that may take a while. */
const knownAfter_ms = 2 * Duration.toMillis(readEvery)

/** How old what a node has read may be while it goes by it. It is less than what the others wait, as clocks do not run alike. */
const readAgeMax_ms = 1.5 * Duration.toMillis(readEvery)

/** Which domains may have aliases of several segments: a path of several segments costs a look-up for each alias there that it may have. */
export interface LongAliasesService {
  /** Whether a domain may have some, by what this node has read. */
  readonly areIn: (domain: number) => boolean
  /** Whether others may go by what this node has not read, as the database does not answer it: then any domain may have some. */
  readonly isBehind: () => boolean
  /**
   * To be done before such an alias is bound in a domain. The first one is noted for all nodes, for good, and waits for 2 s where there may be others, so that all of them find it when it is
   * bound.
   */
  readonly prepare: (domain: number) => Effect.Effect<void, StorageError>
}

/** See {@link LongAliasesService}. By default all domains may have some. */
export class LongAliases extends Context.Reference<LongAliases>()("linkmint/LongAliases", {
  defaultValue: (): LongAliasesService => ({
    areIn: () => true,
    isBehind: () => false,
    prepare: () => Effect.void
  })
}) {}

/** See {@link LongAliasesService}. `isAlone`: whether there can be no other node. */
export const make = (
  known: KnownDomains,
  isAlone: boolean
): Effect.Effect<LongAliasesService, never, DomainStore> =>
  Effect.gen(function* () {
    const store = yield* DomainStore
    const clock = yield* Effect.clock
    /** From when on all nodes go by a domain's having some, on `monotonic_ms`, by its number. */
    const knownFrom_ms = new Map<number, number>()
    const begun_ms = yield* monotonic_ms
    for (const domain of known.longAliasesIn) knownFrom_ms.set(domain, begun_ms + knownAfter_ms)
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const note = Effect.fnUntraced(function* (domain: number) {
      if (knownFrom_ms.has(domain)) return
      yield* store.addLongAliases(domain)
      yield* known.refresh(store)
      knownFrom_ms.set(domain, (yield* monotonic_ms) + (isAlone ? 0 : knownAfter_ms))
    }, oneAtATime.withPermits(1))

    return {
      areIn: (domain) => known.longAliasesIn.has(domain),
      isBehind: () => !isAlone && monotonicNow_ms(clock) - known.readAt_ms > readAgeMax_ms,
      prepare: Effect.fnUntraced(function* (domain) {
        if (!knownFrom_ms.has(domain)) yield* note(domain)
        const left_ms = knownFrom_ms.get(domain)! - (yield* monotonic_ms)
        if (left_ms > 0) yield* Effect.sleep(Duration.millis(left_ms))
      })
    }
  })

/** See {@link make}. */
export const layer = (known: KnownDomains, isAlone: boolean): Layer.Layer<LongAliases, never, DomainStore> =>
  Layer.effect(LongAliases, make(known, isAlone))
