import { Context, type Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import type { StorageError } from "../StorageError.ts"

/** What a recycling may take: tombstones that are at least `quarantine_ms` (milliseconds) old, at most `count` of them. */
export interface Recycling {
  readonly quarantine_ms: number
  readonly count: number
}

/** A link that is no more. */
export type FreedLink = Pick<Link, "createdAt" | "key">

/** A time that the database has forgotten, in milliseconds since the Unix epoch: see `Regression`. */
export interface Forgotten {
  readonly at: number
  readonly since: number
}

/**
 * Whether nobody can have been given the key of a tombstone in a time that the database has forgotten: it would have had to be free by then, as its tombstone would have been, or its link, which stands
 * there again as it was before.
 */
export const isUnused = (
  { createdAt, endedAt }: { readonly createdAt: number; readonly endedAt: number },
  quarantine_ms: number,
  forgotten: ReadonlyArray<Forgotten>
): boolean =>
  forgotten.every(({ at, since }) =>
    endedAt <= at ? endedAt + quarantine_ms > at : createdAt > at || since + quarantine_ms > at
  )

/**
 * The end of links: those that have expired become tombstones, and tombstones are removed after the quarantine, with which their keys are
 * free again. A minted key goes back to the stock, an alias can be chosen again.
 *
 * Time is the store's own where several nodes share one, or else that of the process (`TrustedTime`): no node whose clock is wrong can end a link too early, or cut a quarantine short.
 *
 * Laws:
 * 1. A link that has not expired is left alone, and so is a tombstone before its quarantine is over, counted from when the store wrote it.
 * 2. A minted key, in whatever domain its link was, leaves the links and enters the stock in one transaction, in which it leaves the records of open batches as well: the actor that finishes such a
 *    batch would hand it out a second time.
 * 3. A minted key goes without entering the stock where it can have been given to another in a time that the database has forgotten (`DatabaseMark`), or one that its link has come from.
 * 4. Each key is given by one call alone, no matter who asks. Changes are announced like those of `LinkStore`.
 * 5. The transaction that frees a link remembers that its visits are to be forgotten (`VisitRemovals`), until `forgotten` says that they are.
 */
export class LinkLifetime extends Context.Tag("linkmint/LinkLifetime")<
  LinkLifetime,
  {
    /** Makes tombstones of the links among `keys` that have expired: gives their keys, in no particular order. */
    readonly expire: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, StorageError>
    /** The same for up to `count` links of all, those first that expired first. */
    readonly expireSome: (count: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
    /** Removes tombstones, the oldest first: gives what they were of, in no particular order. */
    readonly recycle: (options: Recycling) => Effect.Effect<ReadonlyArray<FreedLink>, StorageError>
    /** Up to `count` subjects (`Visit`) of links that were freed, whose visits are to be forgotten. */
    readonly toForget: (count: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
    /** Remembers subjects no longer: their visits are forgotten. */
    readonly forgotten: (subjects: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  }
>() {}
