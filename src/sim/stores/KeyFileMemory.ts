import { Effect } from "effect"
import { fromStrings, toStrings } from "../../keys/PackedKeys.ts"
import { KeyFile } from "../../storage/keys/KeyFile.ts"

/** `KeyFile` over an array that outlives it, as a disk does. */
export const makeOver = (keys: Array<string>, width: number): typeof KeyFile.Service =>
  KeyFile.of({
    width,
    append: (added) => Effect.sync(() => void keys.push(...toStrings(added))),
    take: (count) => Effect.sync(() => fromStrings(keys.splice(0, count))),
    size: Effect.sync(() => keys.length)
  })
