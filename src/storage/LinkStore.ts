import { Context, type Effect } from "effect"
import type { Link } from "../Link.ts"
import type { StorageError } from "./StorageError.ts"

/** A deletion: which key, and when (milliseconds since the Unix epoch). */
export interface Deletion {
  readonly key: string
  readonly at: number
  /** A number that this deletion alone has, so that its repeat is known for what it is. */
  readonly deleteId?: number | undefined
}

/** Whether two deletions of one key are the same one, come twice. */
export const isSameDeletion = (one: Deletion, other: Deletion): boolean =>
  one.deleteId !== undefined && one.deleteId === other.deleteId

/** Whether two links for one key come of the same create, and the row has not been changed since. */
export const isRepeat = (one: Link, other: Link): boolean =>
  one.createId !== undefined && one.createId === other.createId && one.updatedAt === other.updatedAt

/**
 * The links, and with them the one arbiter of duplicates: the primary key.
 *
 * Laws:
 * 1. For a key, `insertMany` answers `true` at most once, whoever asks and however often, also within one batch
 *    (the first wins). `false` means that the key has a row: live, expired or tombstone. The one exception is a repeat: a link with the
 *    `createId` of the row, which has not been changed since, is answered `true` again, because messages can come twice.
 * 2. What `insertMany` and `deleteMany` answered is durable: every later read by anyone sees it.
 * 3. A batch is applied whole or not at all. A `StorageError` with `applied: "no"` left nothing behind.
 * 4. Answers come in the order of the questions, one each.
 * 5. `deleteMany` answers `true` for exactly one deletion of a row, and for its repeats, which have its `deleteId`; then the row is a
 *    tombstone for good.
 */
export class LinkStore extends Context.Tag("linkmint/LinkStore")<
  LinkStore,
  {
    /** Binds each link's key if it is free: `true` where it was bound now, `false` on a conflict. */
    readonly insertMany: (links: ReadonlyArray<Link>) => Effect.Effect<ReadonlyArray<boolean>, StorageError>
    /** Reads the rows of keys, tombstones included. */
    readonly findMany: (
      keys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Link | null>, StorageError>
    /** Turns rows into tombstones: `true` where there was one that was not yet deleted. */
    readonly deleteMany: (
      deletions: ReadonlyArray<Deletion>
    ) => Effect.Effect<ReadonlyArray<boolean>, StorageError>
    /** Which of the keys have a row of any kind. */
    readonly takenAmong: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, StorageError>
  }
>() {}
