import { Duration, Effect, Layer } from "effect"
import { count, fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { KeyStock } from "../../storage/keys/KeyStock.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/** How long a shutdown waits for the database here. */
const waitMax = Duration.seconds(2)

/**
 * What becomes of a pool that ends with its process: a graceful shutdown puts its keys that are in no record into the stock. Those are keys of creates that were refused, which came back when their batch was
 * closed already; all others come again from their records. It is built before the actors and the buffer, which have stopped then, and have returned theirs.
 */
export const layer: Layer.Layer<never, never, KeyPool | KeyStock> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const pool = yield* KeyPool
    const stock = yield* KeyStock
    const putAway = Effect.fnUntraced(function* (shard: number, keys: PackedKeys) {
      const open = yield* stock.openBatches(shard)
      const recorded = new Set(open.flatMap((batch) => toStrings(batch.keys)))
      const rest = toStrings(keys).filter((key) => !recorded.has(key))
      if (rest.length > 0) yield* stock.add(fromStrings(rest))
    })
    const empty = Effect.fnUntraced(function* (shard: number) {
      const keys = yield* pool.lease(shard, yield* pool.level(shard))
      if (count(keys) === 0) return
      yield* putAway(shard, keys).pipe(
        Effect.interruptible,
        Effect.timeout(waitMax),
        Effect.tapError(() => Effect.sync(() => Metered.add(KeyMetrics.lost["return-failed"], count(keys))))
      )
    })
    yield* Effect.addFinalizer(() =>
      Effect.forEach(Array.from({ length: pool.shards }).keys(), empty).pipe(
        Effect.catchAllCause((cause) =>
          Effect.logWarning("Keys of the pool that are in no record were not put into the stock", cause)
        )
      )
    )
  })
)
