import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Schema } from "effect"
import { PackedKeys } from "../../keys/PackedKeys.ts"
import { Unavailable } from "../Unavailable.ts"

/** Keys that one `Mint` asks for at most. */
export const mintMax = 65_536

/** Every length of the range is used up, to the last key. */
export class RangeExhausted extends Schema.TaggedError<RangeExhausted>()("RangeExhausted", {
  range: Schema.Number
}) {}

/** What a range has handed out and has left at one key length. */
export const RangeStatus = Schema.Struct({
  length: Schema.Number,
  minted: Schema.Number,
  remaining: Schema.Number
})

/**
 * The generator of one key range; its entity id is the range's number in decimal.
 *
 * `Mint` gives keys that were never given before and never will be again: its durable watermark moves first. It gives `count` keys, fewer
 * only when the range ends, or when the store fails between two key lengths. Of keys that are drawn at random, those that are bound at that moment are left out; another one may
 * still turn out to be bound.
 */
export const KeyRange = Entity.make("KeyRange", [
  Rpc.make("Mint", {
    payload: { count: Schema.Int.pipe(Schema.between(1, mintMax)) },
    success: PackedKeys,
    error: Schema.Union(RangeExhausted, Unavailable)
  }),
  Rpc.make("Status", { success: Schema.Array(RangeStatus), error: Unavailable })
])
