import { Effect, Layer } from "effect"
import { concat, fromStrings, toStrings } from "../PackedKeys.ts"
import { type BatchId, type BatchRecord, KeyStock, type PoolClaim } from "./KeyStock.ts"
import { Fenced } from "./StorageError.ts"

const byAge = (a: BatchRecord, b: BatchRecord) => a.epoch - b.epoch || a.sequence - b.sequence

const idOf = ({ epoch, sequence, shard }: BatchId) => `${shard}/${epoch}/${sequence}`

/** `KeyStock` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const epochs = new Map<number, number>()
  const stock = new Set<string>()
  const batches = new Map<string, BatchRecord>()

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
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<KeyStock> = Layer.effect(KeyStock, make)
