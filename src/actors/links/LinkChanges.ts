import { Clock, Duration, Effect } from "effect"
import * as Timeout from "../../fibers/Timeout.ts"
import type { Link, LinkChange, LinkCondition } from "../../model/Link.ts"
import { drawId } from "../../model/RandomId.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import { type Failure, orUnavailable, type Unavailable } from "../Unavailable.ts"
import { retryWhileAway, silent } from "./OwnersAway.ts"
import { RedirectCache } from "./RedirectCache.ts"
import { partitionOf, UrlMapping } from "./UrlMapping.ts"
import * as VisitTakers from "./VisitTakers.ts"

/** How a node changes links, through the owners of their partitions. */
export interface LinkChanges {
  /** Changes a link of `owner`, and gives it as it is then; `null` where there is none of that owner that is not deleted, and meets the condition if there is one. */
  readonly update: (
    key: string,
    owner: string | null,
    change: LinkChange,
    onlyIf?: LinkCondition
  ) => Effect.Effect<Link | null, Unavailable>
  /** Deletes a link; `false` where there is none, it is deleted already, or does not meet the condition. `owner`: whom to notify. */
  readonly remove: (
    key: string,
    owner?: string | null,
    onlyIf?: LinkCondition
  ) => Effect.Effect<boolean, Unavailable>
  /** Uses one visit of a link that has only so many; `false` where none is left. */
  readonly visit: (key: string) => Effect.Effect<boolean, Unavailable>
}

/** A change or a delete is answered within this, or may be tried again. */
const writeMax = Duration.seconds(4)

/** See {@link LinkChanges}. */
export const make = Effect.gen(function* () {
  const cache = yield* RedirectCache
  const clientOf = yield* UrlMapping.client
  const takers = yield* VisitTakers.make
  const ownerOf = (key: string) => clientOf(String(partitionOf(key)))

  /** Repeats what has an id, by which its owner knows it again, while the owner is away. */
  const untilOwned = <A>(call: Effect.Effect<A, Failure>) =>
    Effect.flatMap(monotonic_ms, (start) => retryWhileAway(start)(orUnavailable(call)))

  /**
   * Has a link written by its owner. Other writes of it may come between, so that what it leaves is not kept here.
   *
   * `writeMax` bounds the caller's wait, not the write of this node's cache. That ends when the owner answers: a redirect may read the row as it was before until then, and a process alone
   * has no other news of the change. The owner's answer is bounded by its queue and its store (on PostgreSQL 2 s for a connection and 4 s for an answer, on SQLite 4 s for a locked file, and the disk).
   * A node that stops does not wait for it.
   */
  const writeByOwner = <A>(key: string, call: Effect.Effect<A, Failure>) =>
    Timeout.within(
      cache.write([key], Effect.disconnect(untilOwned(call)), () => []),
      { duration: writeMax, onTimeout: silent }
    )

  const changes: LinkChanges = {
    update: Effect.fnUntraced(function* (key, owner, change, onlyIf) {
      const at = yield* Clock.currentTimeMillis
      const updateId = yield* drawId
      return yield* writeByOwner(
        key,
        ownerOf(key).Update({ key, owner, at, change, updateId, ...(onlyIf && { onlyIf }) })
      )
    }, Traced.span("Links.update")),
    remove: Effect.fnUntraced(function* (key, owner = null, onlyIf) {
      const at = yield* Clock.currentTimeMillis
      const deleteId = yield* drawId
      return yield* writeByOwner(
        key,
        ownerOf(key).Delete({ key, at, deleteId, owner, ...(onlyIf && { onlyIf }) })
      )
    }, Traced.span("Links.remove")),
    visit: (key) =>
      Effect.map(takers.take(key), ({ granted, left }) => {
        if (left === 0) cache.forget(key)
        return granted > 0
      })
  }
  return changes
})
