import { Clock, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { atMost } from "../../fibers/LruCacheOptions.ts"
import { grant, QuotaStore } from "../../storage/accounts/QuotaStore.ts"

/** Quotas remembered at most: of more, those that were asked about longest ago are full again too early. */
const quotasMax = 100_000

/** `QuotaStore` in this process's memory, by Effect's clock: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const states = new LRUCache<string, ReturnType<typeof grant>>(atMost(quotasMax))
  return QuotaStore.of({
    leaseMany: (asks) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        asks.map((ask) => {
          const granted = grant(ask, states.get(ask.id), now)
          states.set(ask.id, granted)
          return granted.lease
        })
      ),
    sweep: (max) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const full = [...states.entries()].filter(([, { fullAt }]) => fullAt <= now).slice(0, max)
        full.forEach(([id]) => states.delete(id))
        return full.length
      })
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<QuotaStore> = Layer.effect(QuotaStore, make)
