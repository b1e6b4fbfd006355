import { Context, type Effect } from "effect"
import type { PackedKeys } from "../../keys/PackedKeys.ts"
import type { StorageError } from "../StorageError.ts"

/**
 * A file of keys side by side, each in `width` bytes, which are put in at its end and taken from its beginning.
 *
 * Laws:
 * 1. `append` ends when the keys are durable. Where it fails, or the machine does meanwhile, they are all there or none is.
 * 2. What `take` gives was taken durably before: no crash of the process or of the machine, and no failed call, makes it come again.
 * 3. Keys come in the order in which they were put in, each once.
 */
export class KeyFile extends Context.Tag("linkmint/KeyFile")<
  KeyFile,
  {
    /** Bytes a key: shorter ones are padded, and longer ones do not go in. */
    readonly width: number
    readonly append: (keys: PackedKeys) => Effect.Effect<void, StorageError>
    /** Takes up to `count` keys. */
    readonly take: (count: number) => Effect.Effect<PackedKeys, StorageError>
    /** How many keys can be taken. */
    readonly size: Effect.Effect<number>
  }
>() {}
