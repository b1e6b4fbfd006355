import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/** For how long new links of an owner who is gone are looked for, in milliseconds: much longer than a create takes that was under way. */
export const lookedFor_ms = 10 * 60_000

/** Links that are deleted in one step: some milliseconds of the database's time. */
export const removedAtOnce = 1_000

/**
 * The deletion of all links of owners who are gone, some at a time.
 *
 * Laws:
 * 1. What `ask` remembers stays until no link of the owner is left that is not deleted, and `lookedFor_ms` have passed: a deletion that was cut off goes on with the next call of `remove`, by whomever.
 * 2. `remove` deletes links of these owners alone. Each key is given by one call alone, no matter who asks. Changes are announced like those of `LinkStore`.
 */
export class LinkRemovals extends Context.Tag("linkmint/LinkRemovals")<
  LinkRemovals,
  {
    /** Has all links of an owner deleted. In a transaction of the caller's it is part of that. */
    readonly ask: (owner: string) => Effect.Effect<void, StorageError>
    /** Makes tombstones of up to `count` links, all of one owner: gives their keys. None where nothing is left to do, or others are at it. */
    readonly remove: (count: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  }
>() {}
