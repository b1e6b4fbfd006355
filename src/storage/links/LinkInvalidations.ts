import { Context, Effect, type Scope } from "effect"

/**
 * News of links that were changed or deleted, from whichever node: what lets nodes cache links.
 *
 * The store announces a change in the transaction that makes it, so a change is never made without being announced.
 *
 * Laws:
 * 1. While `isFresh(now)` holds, every change that was committed `freshFor_ms` or longer before `now` has reached the subscribers.
 *    A process that was paused, or has lost its connection, is not fresh until it has caught up.
 * 2. When changes may have been missed, subscribers are made to forget everything before `isFresh` holds again.
 *
 * By default there is no news: a process alone makes every change itself.
 */
export class LinkInvalidations extends Context.Reference<LinkInvalidations>()("linkmint/LinkInvalidations", {
  defaultValue: (): LinkInvalidationsService => ({
    isFresh: () => true,
    awayFor: () => undefined,
    subscribe: () => Effect.void
  })
}) {}

/** See {@link LinkInvalidations}. */
export interface LinkInvalidationsService {
  /** Whether what a cache that follows the news has of a key may be used at `now`, of `monotonicNow_ms`; without a key, of any. */
  readonly isFresh: (now: number, key?: string) => boolean
  /**
   * For how long there has been no news of a key at `now`, in milliseconds, where the store itself does not answer: two questions in a row, the second put after the first had failed. `undefined` while it
   * answers, or nobody has asked it twice, as right after a pause of this process.
   */
  readonly awayFor: (now: number, key?: string) => number | undefined
  /**
   * The epoch of the store (`LinkEpoch`), no longer before `now` than `freshFor_ms` while `isFresh(now)` holds: under a placement that has a lower one, buckets may have left and been changed
   * elsewhere. Absent where no other process changes links.
   */
  readonly epoch?: () => number
  /** Subscribes for as long as the scope is open. Both are called without a fiber and must not throw. */
  readonly subscribe: (subscriber: LinkChangesSubscriber) => Effect.Effect<void, never, Scope.Scope>
}

/** What a cache does with the news. */
export interface LinkChangesSubscriber {
  readonly forget: (key: string) => void
  readonly forgetAll: () => void
}

/** How old the news may be that a cache relies on, in milliseconds: below the second within which a change must hold everywhere. */
export const freshFor_ms = 750
