import { Effect, Layer } from "effect"
import { concat, fromStrings, toStrings } from "../PackedKeys.ts"
import { type BatchId, type BatchRecord, KeyStock, type PoolClaim } from "./KeyStock.ts"
import { Fenced } from "./StorageError.ts"

const byAge = (a: BatchRecord, b: BatchRecord) => a.epoch - b.epoch || a.sequence - b.sequence

/** A batch's id among those of all shards. */
export const idOf = ({ epoch, sequence, shard }: BatchId) => `${shard}/${epoch}/${sequence}`

/** What a `KeyStock` in memory has: the newest epoch of each shard, the stocked keys, and the open batches by their ids. */
export interface Tables {
  readonly epochs: Map<number, number>
  readonly stock: Set<string>
  readonly batches: Map<string, BatchRecord>
}

/** `KeyStock` over tables, which others may look into. */
export const makeOver = ({ batches, epochs, stock }: Tables): typeof KeyStock.Service => {
  const fenced = <A>({ epoch, shard }: PoolClaim, body: () => A): Effect.Effect<A, Fenced> =>
    Effect.suspend(() => (epochs.get(shard) === epoch ? Effect.sync(body) : new Fenced({ shard, epoch })))
  const append = (batch: BatchId, keys: BatchRecord["keys"]) => {
    const { epoch, sequence, shard } = batch
    const before = batches.get(idOf(batch))
    const all = before === undefined ? keys : concat(before.keys, keys)
    batches.set(idOf(batch), { shard, epoch, sequence, keys: all })
  }

  return KeyStock.of({
    claim: (shard) =>
      Effect.sync(() => {
        const epoch = (epochs.get(shard) ?? 0) + 1
        epochs.set(shard, epoch)
        return { shard, epoch }
      }),
    add: (keys) => Effect.sync(() => toStrings(keys).forEach((key) => stock.add(key))),
    take: (batch, count) =>
      fenced(batch, () => {
        const keys = [...stock].slice(0, count)
        keys.forEach((key) => stock.delete(key))
        const packed = fromStrings(keys)
        if (keys.length > 0) append(batch, packed)
        return packed
      }),
    record: (batch, keys) => fenced(batch, () => append(batch, keys)),
    openBatches: (shard) =>
      Effect.sync(() => [...batches.values()].filter((batch) => batch.shard === shard).toSorted(byAge)),
    close: (claim, closed) =>
      closed.length === 0
        ? Effect.void
        : fenced(claim, () =>
            closed.forEach((batch) => batches.delete(idOf({ ...batch, shard: claim.shard })))
          ),
    size: Effect.sync(() => stock.size)
  })
}

/** `KeyStock` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => makeOver({ epochs: new Map(), stock: new Set(), batches: new Map() }))

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<KeyStock> = Layer.effect(KeyStock, make)
