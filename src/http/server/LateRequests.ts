import type { RequestListener } from "node:http"
import { type Clock, Duration, Effect, FiberSet, type Scope } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"

/** How often a process notes that it runs: so no standstill of {@link stillMin_ms} is missed, and none of less than half of that is taken for one. */
export const beatEvery = Duration.millis(500)

/** A process that has not run for longer was paused, or had no CPU. In milliseconds. */
const stillMin_ms = 1_000

/** How long after such a standstill the requests are read that arrived during it, in milliseconds. */
const readWithin_ms = 1_000

/**
 * How long such a request is held, and in how many waits. The end of its connection follows it in the socket's buffer, and Node 20 reports it some 3 ms after the
 * request (measured: 0.4 to 3.1 ms). Many short waits, because a timer that is late fires before the input that arrived meanwhile is read.
 */
const holdTurns = 3
const holdTurn = Duration.millis(10)

/** Notices that the process stood still, which the process itself cannot observe while it does. `now_ms` gives milliseconds that never jump. */
export class Standstills {
  readonly #now_ms: () => number
  #beaten_ms: number
  #readUntil_ms = Number.NEGATIVE_INFINITY
  #beatenBefore_ms = Number.NEGATIVE_INFINITY

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
    this.#beaten_ms = now_ms()
  }

  /** To be called every `beatEvery`. */
  beat() {
    this.#beaten_ms = this.#look()
  }

  /** Whether a request that is read now may have waited for so long that its client has given up. */
  mayBeLate(method: string | undefined): boolean {
    // A read does no harm when nobody waits for its answer.
    if (method === "GET" || method === "HEAD") return false
    return this.#look() < this.#readUntil_ms
  }

  /** The last beat before the last standstill, in milliseconds: each standstill has another one. */
  lastBeatBefore(): number {
    this.#look()
    return this.#beatenBefore_ms
  }

  /** Looks for a standstill, because a request may be read before the next beat. Gives the time. */
  #look(): number {
    const now_ms = this.#now_ms()
    if (now_ms - this.#beaten_ms > stillMin_ms) {
      this.#readUntil_ms = now_ms + readWithin_ms
      this.#beatenBefore_ms = this.#beaten_ms
    }
    return now_ms
  }
}

/** Holds requests that may be late until it is known whether their clients are still there. */
export interface LateRequests {
  /** Whether a request that is read now may have waited for so long that its client has given up. */
  readonly mayBeLate: (method: string | undefined) => boolean
  /** Waits for some 30 ms, and as long again after each further standstill. Then it calls `begin`, unless the client `isGone`. */
  readonly hold: (isGone: () => boolean, begin: () => void) => void
}

/**
 * See {@link LateRequests}. A load balancer that gave up a request during a standstill has sent it to another node, or has reported a failure. To carry it out now
 * may be wrong, as for the deletion of a key that has been bound to another link meanwhile.
 */
export const make = (clock: Clock.Clock): Effect.Effect<LateRequests, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    const standstills = new Standstills(() => monotonicNow_ms(clock))
    const beat = Effect.sync(() => standstills.beat())
    yield* Effect.forkScoped(Pulse.forever(beat, beatEvery))
    const wait = Effect.repeatN(Effect.sleep(holdTurn), holdTurns - 1)
    return {
      mayBeLate: (method) => standstills.mayBeLate(method),
      hold: (isGone, begin) => {
        // Only one short wait may be left after a standstill, which is over before the end of the connection is read.
        const waitOut: Effect.Effect<void> = Effect.suspend(() => {
          const known = standstills.lastBeatBefore()
          return Effect.flatMap(wait, () => (standstills.lastBeatBefore() === known ? Effect.void : waitOut))
        })
        run(
          Effect.map(waitOut, () => {
            if (!isGone()) begin()
          })
        )
      }
    }
  })

/** Puts {@link LateRequests} before a listener: a request whose client has gone never reaches it. */
export const holding =
  ({ hold, mayBeLate }: LateRequests, listener: RequestListener): RequestListener =>
  (request, response) => {
    if (!mayBeLate(request.method)) return void listener(request, response)
    hold(
      () => response.destroyed,
      () => listener(request, response)
    )
  }
