import { Duration, Effect } from "effect"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import { Unavailable } from "../Unavailable.ts"

/**
 * How long a call begins new tries while owners are away, in milliseconds: such that the last one's answer, which is waited for 1.2 s,
 * comes within the 4 s that a request has.
 */
const triesMax_ms = 2_700

/** The pause between two tries: an owner that moves is back after some of them. */
export const retryAfter = Duration.millis(100)

/** What a call may fail with; see `Unavailable` for `away`. */
interface Failure {
  readonly _tag: string
  readonly away?: boolean
}

/** The failure of an owner that did not answer in time. */
export const silent = () =>
  new Unavailable({ reason: "the owner did not answer", applied: "unknown", away: true })

/** Whether a call that failed may be tried again, as long as its client waits. `start`: when it began, in `monotonicNow_ms`. */
export const mayGoOn = ({ away }: Failure, start: number): Effect.Effect<boolean> =>
  Effect.map(monotonic_ms, (now) => away === true && now - start < triesMax_ms)

/** Repeats a call whose owner is away, as long as its client waits. Not by a `Schedule`, whose driver would cost every create more than its key. */
export const retryWhileAway =
  (start: number) =>
  <A, E extends Failure, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchAll(call, (error) =>
      Effect.flatMap(mayGoOn(error, start), (goesOn) =>
        goesOn ? Effect.zipRight(Effect.sleep(retryAfter), retryWhileAway(start)(call)) : Effect.fail(error)
      )
    )
