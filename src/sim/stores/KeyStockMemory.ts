import { Effect, Layer } from "effect"
import { concat, fromStrings, toStrings } from "../../keys/PackedKeys.ts"
import {
  type BatchId,
  type BatchRecord,
  KeyStock,
  type PoolClaim,
  type StockKind
} from "../../storage/keys/KeyStock.ts"
import { Fenced } from "../../storage/StorageError.ts"

const byAge = (a: BatchRecord, b: BatchRecord) => a.epoch - b.epoch || a.sequence - b.sequence

/** A batch's id among those of all shards. */
export const idOf = ({ epoch, sequence, shard }: BatchId) => `${shard}/${epoch}/${sequence}`

/** Keys that were minted ahead, of a kind of stock that remembers those that are used. */
export interface Remembering {
  readonly unused: Set<string>
  readonly used: Set<string>
}

/** The kinds that have tables of their own. */
const remembering = ["status", "two-table"] as const

/** What a `KeyStock` in memory has: the newest epoch of each shard, the keys that are free, and the open batches by their ids. */
export interface Tables {
  readonly epochs: Map<number, number>
  readonly stock: Set<string>
  readonly batches: Map<string, BatchRecord>
  readonly ahead: Readonly<Record<(typeof remembering)[number], Remembering>>
}

/** Empty tables. */
export const emptyTables = (): Tables => ({
  epochs: new Map(),
  stock: new Set(),
  batches: new Map(),
  ahead: {
    status: { unused: new Set(), used: new Set() },
    "two-table": { unused: new Set(), used: new Set() }
  }
})

/** The keys that can be taken, of whatever kind. */
export const freeKeys = ({ ahead, stock }: Pick<Tables, "ahead" | "stock">): ReadonlySet<string> => {
  const unused = Object.values(ahead).map(({ unused }) => unused)
  return unused.some(({ size }) => size > 0)
    ? new Set([stock, ...unused].flatMap((keys) => [...keys]))
    : new Set(stock)
}

/** Says which keys are taken first, as far as they are there. */
type Picked = () => ReadonlyArray<string>

/** Up to `count` keys, which leave the set. */
const takeFrom = (keys: Set<string>, count: number, picked: Picked): ReadonlyArray<string> => {
  const first = picked().filter((key) => keys.has(key))
  const taken = (first.length === 0 ? Array.from(keys) : Array.from(new Set([...first, ...keys]))).slice(
    0,
    count
  )
  taken.forEach((key) => keys.delete(key))
  return taken
}

const takeUnused = ({ unused, used }: Remembering, count: number, picked: Picked): ReadonlyArray<string> => {
  const taken = takeFrom(unused, count, picked)
  taken.forEach((key) => used.add(key))
  return taken
}

/** `KeyStock` over tables, which others may look into. `picked`: which keys are taken first, as far as they are there. */
export const makeOver = (
  { ahead, batches, epochs, stock }: Tables,
  kind: Exclude<StockKind, "file"> = "none",
  picked: Picked = () => []
): typeof KeyStock.Service => {
  const own = kind === "status" || kind === "two-table" ? ahead[kind] : undefined
  const others = remembering.map((kind) => ahead[kind]).filter((other) => other !== own)
  const fenced = <A>({ epoch, shard }: PoolClaim, body: () => A): Effect.Effect<A, Fenced> =>
    Effect.suspend(() => (epochs.get(shard) === epoch ? Effect.sync(body) : new Fenced({ shard, epoch })))
  const append = (batch: BatchId, keys: BatchRecord["keys"]) => {
    const { epoch, sequence, shard } = batch
    const before = batches.get(idOf(batch))
    const all = before === undefined ? keys : concat(before.keys, keys)
    batches.set(idOf(batch), { shard, epoch, sequence, keys: all })
  }

  return KeyStock.of({
    claim: (shard, above = 0) =>
      Effect.sync(() => {
        const epoch = Math.max(epochs.get(shard) ?? 0, above) + 1
        epochs.set(shard, epoch)
        return { shard, epoch }
      }),
    add: (keys) => Effect.sync(() => toStrings(keys).forEach((key) => stock.add(key))),
    fill: (keys) =>
      Effect.sync(() => {
        const [into, out] = own === undefined ? [stock] : [own.unused, own.used]
        const fresh = toStrings(keys).filter((key) => !out?.has(key))
        const before = into.size
        fresh.forEach((key) => into.add(key))
        return into.size - before
      }),
    take: (batch, count) =>
      fenced(batch, () => {
        const first = takeFrom(stock, count, picked)
        const rest = own === undefined ? [] : takeUnused(own, count - first.length, picked)
        const keys = [...first, ...rest]
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
    size: Effect.sync(() => stock.size + (own?.unused.size ?? 0)),
    adopt: (count) =>
      Effect.sync(() => {
        let moved = 0
        for (const other of others) {
          const keys = takeUnused(other, count - moved, picked)
          keys.forEach((key) => stock.add(key))
          moved += keys.length
        }
        return moved
      })
  })
}

/** `KeyStock` in this process's memory: the reference that other backends are compared with. */
export const make = (kind?: Exclude<StockKind, "file">) => Effect.sync(() => makeOver(emptyTables(), kind))

/** A store of its own for each build of the layer. */
export const layer = (kind?: Exclude<StockKind, "file">): Layer.Layer<KeyStock> =>
  Layer.effect(KeyStock, make(kind))
