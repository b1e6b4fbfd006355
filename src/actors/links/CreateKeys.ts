import { Effect, Either } from "effect"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import type { KeyBuffer } from "../keys/KeyBuffer.ts"
import type { Unavailable } from "../Unavailable.ts"
import type { LinkWriters } from "./LinkWriters.ts"
import { retryWhileAway } from "./OwnersAway.ts"

/** Keys for creates: fewer than were asked for where no more can be had, and then why. */
export interface TakenKeys {
  readonly keys: ReadonlyArray<string>
  readonly failure: Unavailable | null
}

/** Keys that a create passes over at most, in one search for a partition that has an owner; many creates that search together pass over one each. */
const passedOverMax = 8

/**
 * Takes keys whose partitions have an owner, as far as this node knows; any keys when it knows of too few. All that wait for a lease fail together, also
 * those that came last: they go on as long as their own time lasts, which began at `start` (in `monotonicNow_ms`).
 *
 * To be run where it cannot be interrupted, so that no key is lost: its waits can be interrupted all the same.
 */
export const taking = (buffer: typeof KeyBuffer.Service, { isAway }: Pick<LinkWriters, "isAway">) => {
  /** A single key is of the preferred partition, if there is one. */
  const take = (wanted: number): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
    wanted === 1 ? Effect.map(buffer.take, (key) => [key]) : buffer.takeMany(wanted)

  return Effect.fnUntraced(function* (wanted: number, start: number) {
    const now = yield* monotonic_ms
    const keys: Array<string> = []
    const passedOver: Array<string> = []
    let failure: Unavailable | null = null
    while (keys.length < wanted) {
      const taken = yield* take(wanted - keys.length).pipe(
        retryWhileAway(start),
        Effect.either,
        Effect.onError(() => buffer.putBack([...keys, ...passedOver]))
      )
      if (Either.isLeft(taken)) {
        failure = taken.left
        break
      }
      for (const key of taken.right) {
        const isPassedOver = isAway(key, now) && passedOver.length < Math.max(passedOverMax, wanted)
        const into = isPassedOver ? passedOver : keys
        into.push(key)
      }
    }
    if (passedOver.length > 0) yield* buffer.putBack(passedOver)
    return { keys, failure } satisfies TakenKeys
  })
}
