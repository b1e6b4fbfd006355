import { HttpServerResponse } from "@effect/platform"
import { Context, Duration, Effect, Layer } from "effect"
import * as AllAtOnce from "../AllAtOnce.ts"
import { KeyBuffer } from "../actors/KeyBuffer.ts"
import { RedirectCache } from "../actors/RedirectCache.ts"
import { KeyMinter } from "../KeyMinter.ts"
import * as ProcessMetrics from "../ProcessMetrics.ts"
import { contentType, encode, type Family, fromEffect, type Sample } from "../PrometheusText.ts"
import { KeyPool } from "../storage/KeyPool.ts"
import { KeyRangeStore } from "../storage/KeyRangeStore.ts"
import * as Timeout from "../Timeout.ts"

/** All metrics of this node, in Prometheus' text format. */
export class Metrics extends Context.Tag("linkmint/Metrics")<
  Metrics,
  { readonly text: Effect.Effect<string> }
>() {}

/** What the stores do not tell in this time is left out. */
const noAnswer = { duration: Duration.seconds(1), onTimeout: () => Effect.void }

/** Whoever asks more often sees the same. */
const keptFor = Duration.seconds(1)

const gauge = (name: string, help: string, samples: ReadonlyArray<Sample>): ReadonlyArray<Family> =>
  samples.length === 0 ? [] : [{ name, help, type: "gauge", samples }]

const one = (value: number): ReadonlyArray<Sample> => [{ labels: {}, value }]

/** See {@link Metrics}. What Effect's metrics do not count as it happens is read when somebody asks. */
export const make = Effect.gen(function* () {
  const ranges = yield* KeyRangeStore
  const pool = yield* KeyPool
  const buffer = yield* KeyBuffer
  const cache = yield* RedirectCache
  const minter = yield* KeyMinter
  const processMetrics = ProcessMetrics.watch()

  const readStores = Effect.gen(function* () {
    const levels: Array<Sample> = []
    const minted: Array<Sample> = []
    const remaining: Array<Sample> = []
    const readRanges = Effect.map(ranges.watermarks, (marks) => {
      for (const { length, next, range } of marks) {
        const labels = { range: String(range), length: String(length) }
        minted.push({ labels, value: next })
        remaining.push({ labels, value: minter.spanOf(length, range) - next })
      }
    })
    const readLevel = (shard: number) =>
      Effect.map(pool.level(shard), (value) => void levels.push({ labels: { shard: String(shard) }, value }))
    const shards = Array.from({ length: pool.shards }, (_, shard) => readLevel(shard))
    yield* Timeout.within(AllAtOnce.forEach([readRanges, ...shards], Effect.ignore), noAnswer)
    return [
      ...gauge("linkmint_pool_keys", "Keys in a pool shard, as every node sees them", levels),
      ...gauge(
        "linkmint_key_range_minted_keys",
        "The watermark of a key range: keys that have left it",
        minted
      ),
      ...gauge("linkmint_key_range_remaining_keys", "Keys that a key range has left at a length", remaining)
    ]
  })

  const text = Effect.gen(function* () {
    const stores = yield* readStores
    const node = [
      ...gauge("linkmint_key_buffer_keys", "Keys that this node holds", one(yield* buffer.level)),
      ...gauge("linkmint_redirect_cache_links", "Links that this node has cached", one(cache.size()))
    ]
    const ofProcess = yield* Effect.promise(() => processMetrics.metrics())
    return encode([...fromEffect(), ...node, ...stores]) + ofProcess
  })
  return Metrics.of({ text: yield* Effect.cachedWithTTL(text, keptFor) })
})

/** The answer to whoever may read the metrics. */
export const response = Effect.map(
  Effect.flatMap(Metrics, ({ text }) => text),
  (text) => HttpServerResponse.text(text, { contentType, headers: { "cache-control": "no-store" } })
)

/** See {@link Metrics}. */
export const layer = Layer.effect(Metrics, make)
