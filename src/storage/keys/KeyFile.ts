import { Context, type Effect } from "effect"
import type { PackedKeys } from "../../keys/PackedKeys.ts"
import type { StorageError } from "../StorageError.ts"

/**
 * A file of keys side by side, each in `width` bytes, which are appended at its end and taken from its beginning.
 *
 * Laws:
 * 1. `append` succeeds when the keys are durable. If it fails, or the machine crashes meanwhile, all of them are in the file or none is.
 * 2. What `take` gives has left the file durably: no crash of the process or the machine, and no failed call, gives it again.
 * 3. Keys come in the order in which they were appended, each once.
 */
export class KeyFile extends Context.Tag("linkmint/KeyFile")<
  KeyFile,
  {
    /** Bytes a key: shorter ones are padded; longer ones are not allowed. */
    readonly width: number
    readonly append: (keys: PackedKeys) => Effect.Effect<void, StorageError>
    /** Takes up to `count` keys. */
    readonly take: (count: number) => Effect.Effect<PackedKeys, StorageError>
    /** How many keys can be taken. */
    readonly size: Effect.Effect<number>
  }
>() {}
