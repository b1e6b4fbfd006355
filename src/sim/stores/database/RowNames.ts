import type { Watermark } from "../../../storage/keys/KeyRangeStore.ts"
import type { BatchId } from "../../../storage/keys/KeyStock.ts"
import * as KeyRangeStoreMemory from "../KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "../KeyStockMemory.ts"

/** The row of a link. */
export const linkRow = (key: string) => `links ${key}`

/** The row of a guard of a create. */
export const guardRow = (name: string) => `create_guards ${name}`

/** The row of a shard of pools. */
export const shardRow = (shard: number) => `pool_shards ${shard}`

/** The row of a range of keys. */
export const rangeRow = (slot: Omit<Watermark, "next">) => `key_ranges ${KeyRangeStoreMemory.idOf(slot)}`

/** The row of a batch of a pool. */
export const batchRow = (batch: BatchId) => `pool_batches ${KeyStockMemory.idOf(batch)}`
