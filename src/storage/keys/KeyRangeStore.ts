import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/** Which counter: range number `range` of the keys that are `length` characters long. */
export interface RangeSlot {
  readonly length: number
  readonly range: number
}

/** Numbers `first` … `first + count − 1` of a range, counted from the range's lower end. `count` may be 0. */
export interface CounterBlock {
  readonly first: number
  readonly count: number
}

/** A range's watermark: numbers below `next` have left it. */
export interface Watermark extends RangeSlot {
  readonly next: number
}

/**
 * The durable watermark of each key range.
 *
 * A number is counted from the lower end of its range and stays below 2^53, so that it is exact in JavaScript and
 * in a signed 64-bit column; the absolute counter is the range's lower end (a bigint) plus it.
 *
 * Laws:
 * 1. Blocks that `advance` gives out for one slot never overlap, no matter who asks and however often, also when two
 *    owners ask at once and also after a `StorageError` of any kind.
 * 2. The watermark has moved durably before the block is given out.
 * 3. No block reaches `size`; a block shorter than asked for (also empty) means that the slot is used up.
 */
export class KeyRangeStore extends Context.Tag("linkmint/KeyRangeStore")<
  KeyRangeStore,
  {
    /** Moves the watermark by up to `count`, at most to `size`, and gives the numbers passed over. */
    readonly advance: (
      slot: RangeSlot,
      options: { readonly count: number; readonly size: number }
    ) => Effect.Effect<CounterBlock, StorageError>
    /** The watermarks of all slots that were ever used, in no particular order. */
    readonly watermarks: Effect.Effect<ReadonlyArray<Watermark>, StorageError>
  }
>() {}
