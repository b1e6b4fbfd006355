// Where every key is that was ever minted.

import { Effect } from "effect"
import * as KeyMinter from "../src/keys/KeyMinter.ts"
import * as KeySpace from "../src/keys/KeySpace.ts"
import { toStrings } from "../src/keys/PackedKeys.ts"
import { namesOf } from "../src/storage/keys/KeyPoolRedis.ts"
import type { Unavailable } from "../test/support/services/Service.ts"
import { inDatabase, inPool, namespaceOf } from "./Stores.ts"
import type { Topology } from "./Topology.ts"

/** Keys, by where they stand. */
export interface Books {
  readonly minted: ReadonlySet<string>
  readonly stocked: ReadonlySet<string>
  /** Of all pools; more than once where a pool has a key more than once. */
  readonly pooled: ReadonlyArray<string>
  readonly recorded: ReadonlySet<string>
  /** URLs of the links with minted keys, tombstones included. */
  readonly bound: ReadonlyMap<string, string>
}

/** The ledger in numbers: each minted key is counted once, where it is furthest on its way; lost is what is nowhere. */
export interface Ledger {
  readonly minted: number
  readonly stocked: number
  readonly pooled: number
  readonly recorded: number
  readonly bound: number
  readonly lost: number
  /** Keys that stand somewhere and were never minted. */
  readonly foreign: ReadonlyArray<string>
  /** Keys in a pool that are bound: a failover or a restart brought them back, and the primary key will refuse them. */
  readonly returned: number
}

/** Adds it up. */
export const balance = ({ bound, minted, pooled, recorded, stocked }: Books): Ledger => {
  const seen = new Set<string>()
  const foreign = new Set<string>()
  const count = (keys: Iterable<string>) => {
    let counted = 0
    for (const key of keys) {
      if (!minted.has(key)) foreign.add(key)
      else if (!seen.has(key)) counted++
      seen.add(key)
    }
    return counted
  }
  const counts = {
    bound: count(bound.keys()),
    pooled: count(pooled),
    stocked: count(stocked),
    recorded: count(recorded)
  }
  const found = counts.bound + counts.pooled + counts.stocked + counts.recorded
  return {
    ...counts,
    minted: minted.size,
    lost: minted.size - found,
    foreign: [...foreign],
    returned: new Set(pooled.filter((key) => bound.has(key))).size
  }
}

interface Slot {
  readonly length: number
  readonly range: number
  readonly next: string
}

/** Every key that the watermarks say was minted; the nodes' own arithmetic says which those are. */
const mintedKeys = (keySecret: string, slots: ReadonlyArray<Slot>): ReadonlySet<string> => {
  const length = Math.min(...slots.map((slot) => slot.length), 7)
  const minter = KeyMinter.make(
    KeySpace.make("base62", length),
    new Uint8Array(Buffer.from(keySecret, "hex"))
  )
  return new Set(
    slots.flatMap((slot) =>
      Number(slot.next) === 0 ? [] : toStrings(minter.mint(slot.length, slot.range, 0, Number(slot.next)))
    )
  )
}

/** Reads all of it, from a cluster in which nothing moves. */
export const read = Effect.fn("Ledger.read")(function* (
  topology: Topology
): Effect.fn.Return<Books, Unavailable> {
  const namespace = yield* namespaceOf(topology)
  const rows = yield* inDatabase(topology, (sql) =>
    Effect.all({
      slots: sql<Slot>`SELECT length, range, next FROM key_ranges`,
      stocked: sql<{ key: string }>`SELECT key FROM keys`,
      batches: sql<{ keys: string }>`SELECT keys FROM pool_batches`,
      links: sql<{ key: string; url: string }>`SELECT key, url FROM links WHERE NOT custom`
    })
  )
  const pools = yield* Effect.forEach(topology.poolUrls, (url, shard) =>
    inPool(url, (redis) => redis.lrange(namesOf(namespace, shard).list, 0, -1))
  )
  return {
    minted: mintedKeys(topology.keySecret, rows.slots),
    stocked: new Set(rows.stocked.map(({ key }) => key)),
    pooled: pools.flat(),
    recorded: new Set(rows.batches.flatMap(({ keys }) => keys.split(" ").filter((key) => key !== ""))),
    bound: new Map(rows.links.map(({ key, url }) => [key, url]))
  }
})
