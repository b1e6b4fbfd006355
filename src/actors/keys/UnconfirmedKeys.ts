import { Duration, Effect, Schedule, type Scope } from "effect"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/**
 * Keys of creates that failed without being applied, as their owner says. A message that comes twice can be applied once and fail
 * the other time: so the store is asked whether they are bound before they are used again.
 */
export interface UnconfirmedKeys {
  readonly add: (keys: ReadonlyArray<string>) => Effect.Effect<void>
  /** Asks about all of them now, and gives those that are not bound. If the store does not answer within two seconds, however often it is asked, all are lost. */
  readonly close: Effect.Effect<ReadonlyArray<string>>
}

/** Keys kept at most, some 4 MB; more than pools hold by default, and these are not refilled while the store is away. More are lost. */
const keysMax = 65_536

/** Keys are asked about after this long at least, and twice that at most. An owner's statement has come to its end by then. */
const askAfter = Duration.seconds(5)

/** How long closing waits for the store, and after what pause it asks again where that fails. */
const closeMax = Duration.seconds(2)
const askAgain = Schedule.spaced("200 millis")

/** Gives keys to `onFree` when the store says that they are not bound, and keeps the others until it answers. */
export const make = (
  store: typeof LinkStore.Service,
  onFree: (keys: ReadonlyArray<string>) => Effect.Effect<void>
): Effect.Effect<UnconfirmedKeys, never, Scope.Scope> =>
  Effect.gen(function* () {
    let fresh: Array<string> = []
    let rested: Array<string> = []
    let closed = false

    const freeAmong = (keys: ReadonlyArray<string>) =>
      keys.length === 0
        ? Effect.succeed(keys)
        : Effect.map(store.takenAmong(keys), (taken) => keys.filter((key) => !taken.has(key)))

    const ask = yield* SingleFlight.make(
      Effect.gen(function* () {
        if (closed) return
        const free = yield* freeAmong(rested)
        rested = fresh
        fresh = []
        if (free.length > 0) yield* onFree(free)
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.ignore(ask.join), askAfter)))

    return {
      add: (keys) =>
        Effect.suspend(() => {
          const room = keysMax - fresh.length - rested.length
          fresh.push(...keys.slice(0, room))
          const lost = keys.length - room
          if (lost <= 0) return Effect.void
          Metered.add(KeyMetrics.lost.unsure, lost)
          return Effect.logWarning(`${lost} keys of creates that failed are given up`)
        }),
      close: Effect.suspend(() => {
        closed = true
        const free = Effect.suspend(() => freeAmong([...rested, ...fresh]))
        return Effect.zipRight(ask.rest, Effect.retry(free, askAgain))
      }).pipe(
        Effect.interruptible,
        Effect.timeout(closeMax),
        Effect.catchAllCause((cause) => {
          Metered.add(KeyMetrics.lost.unsure, rested.length + fresh.length)
          return Effect.as(Effect.logWarning("Keys of creates that failed are given up", cause), [])
        })
      )
    }
  })
