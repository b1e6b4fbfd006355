import { Effect, Layer } from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import {
  concat,
  count,
  empty,
  fromStrings,
  type PackedKeys,
  slice,
  toStrings
} from "../../keys/PackedKeys.ts"
import { KeyFile } from "./KeyFile.ts"
import { type BatchId, KeyStock } from "./KeyStock.ts"
import { StorageError } from "../StorageError.ts"

/** How many keys are read from the file ahead of their use: `high` at a time, when there are fewer than `low`. */
export interface Preload {
  readonly low: number
  readonly high: number
}

/**
 * `KeyStock` that keeps keys minted ahead in a file, over one in a database for everything else: keys that are too long for the file, free keys, claims and
 * records.
 *
 * Keys are read ahead into memory, and have left the file then. A process that is killed loses those that it had not yet recorded in a batch: at most `high`, and
 * those of the batch that was under way. A graceful shutdown puts them back.
 */
export const make = Effect.fnUntraced(function* (
  base: typeof KeyStock.Service,
  file: typeof KeyFile.Service,
  preload: Preload
) {
  let ahead: PackedKeys = empty
  let closed = false
  const taking = FairSemaphore.make(1)

  /** A file that cannot be read counts as empty: the missing keys are minted. */
  const read = (wanted: number) =>
    Effect.catchAll(file.take(wanted), ({ reason }) =>
      Effect.as(Effect.logWarning(`The key file was not read: ${reason}`), empty)
    )

  /** Up to `wanted` keys. The file is read whenever fewer than `low` are left in memory. */
  const next = Effect.fnUntraced(function* (wanted: number) {
    let keys = empty
    for (;;) {
      const some = Math.min(wanted - count(keys), count(ahead))
      keys = concat(keys, slice(ahead, 0, some))
      ahead = slice(ahead, some, count(ahead))
      if (count(ahead) >= preload.low) return keys
      const more = yield* read(preload.high - count(ahead))
      if (count(more) === 0) return keys
      ahead = concat(ahead, more)
    }
  })

  /** Keys that are in no batch are nowhere else: they are recorded, or put back. */
  const recordNext = (batch: BatchId, wanted: number) =>
    Effect.gen(function* () {
      if (closed) return empty
      const keys = yield* next(wanted)
      if (count(keys) === 0) return keys
      yield* Effect.tapError(base.record(batch, keys), (error) =>
        Effect.sync(() => {
          if (error._tag === "Fenced" || error.applied === "no") ahead = concat(keys, ahead)
        })
      )
      return keys
    }).pipe(taking, Effect.uninterruptible)

  /** After the take that is under way: its keys would be nowhere else. */
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closed = true
      return count(ahead) === 0 ? Effect.void : file.append(ahead)
    }).pipe(
      taking,
      Effect.tapError(({ reason }) =>
        Effect.logWarning(`${count(ahead)} keys did not get back into the key file: ${reason}`)
      ),
      Effect.ignore
    )
  )

  return KeyStock.of({
    ...base,
    fill: Effect.fn("KeyStock.fill")(function* (keys) {
      const all = toStrings(keys)
      const fitting = all.filter((key) => key.length <= file.width)
      const others = all.filter((key) => key.length > file.width)
      const added = others.length === 0 ? 0 : yield* base.fill(fromStrings(others))
      // Some have been added then, and must not be added again.
      const append = Effect.mapError(file.append(fromStrings(fitting)), (error) =>
        others.length === 0 ? error : new StorageError({ ...error, applied: "unknown" })
      )
      if (fitting.length > 0) yield* append
      return added + fitting.length
    }),
    take: Effect.fn("KeyStock.take")(function* (batch, wanted) {
      const first = yield* base.take(batch, wanted)
      const missing = wanted - count(first)
      return missing === 0 ? first : concat(first, yield* recordNext(batch, missing))
    }),
    size: Effect.map(Effect.all([base.size, file.size]), ([rest, inFile]) => rest + inFile + count(ahead))
  })
})

/** `KeyStock` that adopts the keys of a file which is not filled any more. */
export const makeLeft = (
  base: typeof KeyStock.Service,
  file: typeof KeyFile.Service
): typeof KeyStock.Service => ({
  ...base,
  adopt: Effect.fn("KeyStock.adopt")(function* (wanted) {
    const keys = yield* file.take(wanted)
    if (count(keys) === 0) return yield* base.adopt(wanted)
    yield* base.add(keys)
    return count(keys)
  })
})

/** See {@link makeLeft}. */
export const layerLeft: Layer.Layer<KeyStock, never, KeyFile | KeyStock> = Layer.effect(
  KeyStock,
  Effect.map(Effect.all([KeyStock, KeyFile]), ([base, file]) => makeLeft(base, file))
)

/** See {@link make}. The `KeyStock` below is the one in the database. */
export const layer = (preload: Preload): Layer.Layer<KeyStock, never, KeyFile | KeyStock> =>
  Layer.scoped(
    KeyStock,
    Effect.flatMap(Effect.all([KeyStock, KeyFile]), ([base, file]) => make(base, file, preload))
  )
