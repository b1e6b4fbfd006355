import { Context, Effect } from "effect"
import { count, toStrings } from "../../../keys/PackedKeys.ts"
import { KeyRangeStore } from "../../../storage/keys/KeyRangeStore.ts"
import { type BatchId, KeyStock, type PoolClaim } from "../../../storage/keys/KeyStock.ts"
import type { Fenced, StorageError } from "../../../storage/StorageError.ts"
import { batchRow, rangeRow, shardRow } from "../database/RowNames.ts"
import { type Plan, query, statement, transaction } from "../database/Transactions.ts"
import type { DatabaseCopy } from "../DatabaseCopy.ts"
import * as KeyStockMemory from "../KeyStockMemory.ts"
import type { Call } from "./Call.ts"

const nothing = () => {}

const nameOf = ({ epoch, sequence }: Omit<BatchId, "shard">) => `${epoch}/${sequence}`

const keyRangeStore = (call: Call, by: string): typeof KeyRangeStore.Service => ({
  advance: (slot, options) =>
    call(
      "KeyRangeStore.advance",
      statement(() => [rangeRow(slot)]),
      ({ journal, ranges }) =>
        Effect.tap(ranges.advance(slot, options), ({ count, first }) => {
          if (count > 0) journal.add({ tag: "advanced", by, slot, first, count })
        })
    ),
  watermarks: call("KeyRangeStore.watermarks", query, ({ ranges }) => ranges.watermarks)
})

const close = (
  { journal, stock, tables }: DatabaseCopy,
  by: string,
  claim: PoolClaim,
  batches: ReadonlyArray<Omit<BatchId, "shard">>
) => {
  const { shard } = claim
  const open = batches.filter((batch) => tables.stocked.batches.has(KeyStockMemory.idOf({ ...batch, shard })))
  return Effect.tap(stock.close(claim, batches), () =>
    open.forEach((batch) => journal.add({ tag: "closed", by, shard, batch: nameOf(batch) }))
  )
}

const keyStock = (call: Call, by: string): typeof KeyStock.Service => {
  const recorded =
    ({ shard, ...batch }: BatchId, { journal, log }: DatabaseCopy) =>
    (keys: ReadonlyArray<string>) => {
      const { epoch } = batch
      for (const key of keys) log.changed("recorded", key, nothing)
      if (keys.length > 0) journal.add({ tag: "recorded", by, shard, epoch, batch: nameOf(batch), keys })
    }
  const inBatch = (batch: BatchId) =>
    transaction(
      () => [shardRow(batch.shard)],
      () => [batchRow(batch)]
    )
  /** Tells of a refusal. */
  const fenced = <A>(
    operation: string,
    plan: Plan,
    apply: (copy: DatabaseCopy) => Effect.Effect<A, StorageError | Fenced>
  ) =>
    call(operation, plan, (copy) =>
      Effect.tapErrorTag(apply(copy), "Fenced", ({ epoch, shard }) =>
        Effect.sync(() => copy.journal.add({ tag: "fenced", by, shard, epoch }))
      )
    )
  return {
    claim: (shard, above) =>
      call(
        "KeyStock.claim",
        statement(() => [shardRow(shard)]),
        ({ journal, stock }) =>
          Effect.tap(stock.claim(shard, above), ({ epoch }) =>
            journal.add({ tag: "claimed", by, shard, epoch })
          )
      ),
    add: (keys) =>
      call("KeyStock.add", statement(), ({ journal, stock }) =>
        Effect.tap(stock.add(keys), () => {
          if (count(keys) > 0) journal.add({ tag: "stocked", by, keys: toStrings(keys) })
        })
      ),
    fill: (keys) =>
      call("KeyStock.fill", statement(), ({ journal, stock, tables: { stocked } }) =>
        Effect.suspend(() => {
          const before = KeyStockMemory.freeKeys(stocked)
          return Effect.tap(stock.fill(keys), () => {
            const now = KeyStockMemory.freeKeys(stocked)
            const fresh = toStrings(keys).filter((key) => now.has(key) && !before.has(key))
            if (fresh.length > 0) journal.add({ tag: "stocked", by, keys: fresh })
          })
        })
      ),
    take: (batch, wanted) =>
      fenced("KeyStock.take", inBatch(batch), (copy) =>
        Effect.tap(copy.stock.take(batch, wanted), (keys) => recorded(batch, copy)(toStrings(keys)))
      ),
    record: (batch, keys) =>
      fenced("KeyStock.record", inBatch(batch), (copy) =>
        Effect.tap(copy.stock.record(batch, keys), () => recorded(batch, copy)(toStrings(keys)))
      ),
    openBatches: (shard) => call("KeyStock.openBatches", query, ({ stock }) => stock.openBatches(shard)),
    close: (claim, batches) =>
      batches.length === 0
        ? Effect.void
        : fenced(
            "KeyStock.close",
            transaction(
              () => [shardRow(claim.shard)],
              () => batches.map((batch) => batchRow({ ...batch, shard: claim.shard }))
            ),
            (copy) => close(copy, by, claim, batches)
          ),
    size: call("KeyStock.size", query, ({ stock }) => stock.size),
    adopt: (count) =>
      call("KeyStock.adopt", transaction(undefined, undefined), ({ stock }) => stock.adopt(count))
  }
}

/** The stores of ranges of keys, and of keys that are minted ahead, as a process reaches them. */
export const make = (call: Call, by: string): Context.Context<KeyRangeStore | KeyStock> =>
  Context.make(KeyRangeStore, keyRangeStore(call, by)).pipe(Context.add(KeyStock, keyStock(call, by)))
