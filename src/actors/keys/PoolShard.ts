import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Schema } from "effect"
import { PackedKeys } from "../../keys/PackedKeys.ts"
import { Unavailable } from "../Unavailable.ts"

/** Keys that one `Lease` asks for at most. */
export const leaseMax = 65_536

/** Keys handed to a node, and how many the shard has left: nodes lease from the fullest one. */
export const Leased = Schema.Struct({ keys: PackedKeys, level: Schema.Number })

/** A pool shard as its owner sees it. */
export const PoolStatus = Schema.Struct({
  level: Schema.Number,
  low: Schema.Number,
  high: Schema.Number,
  epoch: Schema.Number
})

/**
 * The keeper of one pool shard; its entity id is the shard's number in decimal. It holds the shard's level between the low-water
 * and the high-water mark.
 *
 * `Lease` gives between 1 and `count` keys, to one caller each. `Return` takes back leased keys that were not used,
 * once for each `returnId`: the sender draws it, so that a message that comes twice adds nothing. `Lease` and `Status` begin a refill where the level is below
 * the low-water mark, so that a shard is filled as soon as it gets a message.
 */
export const PoolShard = Entity.make("PoolShard", [
  Rpc.make("Lease", {
    payload: { count: Schema.Int.pipe(Schema.between(1, leaseMax)) },
    success: Leased,
    error: Unavailable
  }),
  Rpc.make("Return", {
    payload: { keys: PackedKeys, returnId: Schema.Int },
    success: Schema.Void,
    error: Unavailable
  }),
  Rpc.make("Status", { success: PoolStatus, error: Unavailable })
])
