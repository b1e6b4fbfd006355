import { Clock, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { atMost } from "../../fibers/LruCacheOptions.ts"
import { type Ask, grant, length_ms, QuotaStore } from "../../storage/accounts/QuotaStore.ts"

/** Quotas remembered at most: of more, those that were asked about longest ago are full again too early. */
const quotasMax = 100_000

/** A quota, as it was asked for last. */
interface Asked {
  readonly ask: Ask
  readonly state: ReturnType<typeof grant>
}

/** Whether all of a quota is left, but for what refills within half a millisecond: times are whole ones. */
const isFull = ({ ask, state }: Asked, now: number): boolean =>
  grant({ ...ask, demand: 0 }, state, now).available >= ask.limit * (1 - 0.5 / length_ms[ask.period])

/** `QuotaStore` in this process's memory, by Effect's clock: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const quotas = new LRUCache<string, Asked>(atMost(quotasMax))
  return QuotaStore.of({
    leaseMany: (asks) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        asks.map((ask) => {
          const state = grant(ask, quotas.get(ask.id)?.state, now)
          quotas.set(ask.id, { ask, state })
          return state.lease
        })
      ),
    sweep: (max) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const full = [...quotas.entries()]
          .filter(([, asked]) => asked.state.fullAt <= now && isFull(asked, now))
          .slice(0, max)
        full.forEach(([id]) => quotas.delete(id))
        return full.length
      })
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<QuotaStore> = Layer.effect(QuotaStore, make)
