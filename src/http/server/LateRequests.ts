import type { RequestListener } from "node:http"
import { type Clock, Duration, Effect, FiberSet, type Scope } from "effect"
import { monotonic_ms } from "../../time/MonotonicTime.ts"

/** How often a process makes sure that it runs. */
export const beatEvery = Duration.millis(250)

/** A process that has not run for longer has stood still: it was paused, or had no CPU. In milliseconds. */
const stillMin_ms = 1_000

/** How long after it the requests are read that came meanwhile, in milliseconds. */
const readWithin_ms = 1_000

/**
 * How long such a request is held, and in how many waits. The end of its connection stands right behind it and is seen some 3 ms after it on Node 20 (measured: 0.4 to
 * 3.1 ms); many short waits, because a timer that is late comes before what came in meanwhile.
 */
const holdTurns = 3
const holdTurn = Duration.millis(10)

/** How long such a request is held altogether. */
export const holdFor = Duration.times(holdTurn, holdTurns)

/** Notices that a process stood still, as none does by itself. `now_ms` gives milliseconds that never jump. */
export class Standstills {
  readonly #now_ms: () => number
  #beaten_ms: number
  #readUntil_ms = Number.NEGATIVE_INFINITY

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
    // Who only reads does no harm when nobody wants to know any more.
    if (method === "GET" || method === "HEAD") return false
    return this.#look() < this.#readUntil_ms
  }

  /** A request may be read before the next beat. Gives the time. */
  #look(): number {
    const now_ms = this.#now_ms()
    if (now_ms - this.#beaten_ms > stillMin_ms) this.#readUntil_ms = now_ms + readWithin_ms
    return now_ms
  }
}

/**
 * Does not begin what nobody waits for any more: after a standstill, requests that write are held until it has been seen whether their clients are still there. A load
 * balancer that gave one up has sent it on to another node, or said that it failed; what it asked for may be wrong by now, as the deletion of a key that has been bound again.
 */
export const holding = (
  clock: Clock.Clock,
  listener: RequestListener
): Effect.Effect<RequestListener, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    const standstills = new Standstills(() => monotonic_ms(clock))
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.delay(
          Effect.sync(() => standstills.beat()),
          beatEvery
        )
      )
    )
    return (request, response) => {
      if (!standstills.mayBeLate(request.method)) return void listener(request, response)
      const begin = Effect.sync(() => {
        if (!response.destroyed) listener(request, response)
      })
      run(Effect.repeatN(Effect.sleep(holdTurn), holdTurns - 1).pipe(Effect.zipRight(begin)))
    }
  })
