import { Duration, Effect, Either, Schedule, type Scope } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import * as BoundKeys from "./BoundKeys.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/**
 * Keys of creates that failed without being applied, as their owner says. A message that comes twice can be applied once and fail
 * the other time: so the store is asked whether they are bound before they are used again.
 */
export interface UnconfirmedKeys {
  /** Keeps keys, to ask about them later; once it closes, they are asked about at once. */
  readonly add: (keys: ReadonlyArray<string>) => Effect.Effect<void>
  /** Asks about all of them now, and gives those that are not bound. Those whose database does not answer within two seconds, however often it is asked, are lost. */
  readonly close: Effect.Effect<ReadonlyArray<string>>
}

/** Keys kept at most, some 4 MB; more than pools hold by default, and these are not refilled while the store is away. More are lost. */
const keysMax = 65_536

/** Keys are asked about after this long at least, and twice that at most. An owner's statement has come to its end by then. */
const askAfter = Duration.seconds(5)

/** How long closing waits for the store, and after what pause it asks again where that fails. */
const closeMax = Duration.seconds(2)
const askAgain = Schedule.spaced("200 millis")

/** Gives keys to `onFree` when the store says that they are not bound, and keeps the others until it answers: each database for its own. */
export const make = (
  store: typeof LinkStore.Service,
  onFree: (keys: ReadonlyArray<string>) => Effect.Effect<void>
): Effect.Effect<UnconfirmedKeys, never, Scope.Scope> =>
  Effect.gen(function* () {
    const places = yield* LinkPlaces
    let fresh: Array<string> = []
    let rested: Array<string> = []
    let closed = false

    const freeAmong = (keys: ReadonlyArray<string>) =>
      Effect.map(store.takenAmong(keys), (taken) => keys.filter((key) => !taken.has(key)))

    const askLane = (keys: ReadonlyArray<string>) =>
      Effect.flatMap(Effect.either(freeAmong(keys)), (answer) => {
        // Closing asks about all of them itself.
        if (closed || Either.isLeft(answer)) return Effect.void
        const asked = new Set(keys)
        rested = rested.filter((key) => !asked.has(key))
        return answer.right.length > 0 ? onFree(answer.right) : Effect.void
      })

    const ask = yield* SingleFlight.make(
      Effect.gen(function* () {
        if (closed) return
        yield* Parallel.forEach(BoundKeys.byLane(places, rested), askLane)
        if (closed) return
        rested = [...rested, ...fresh]
        fresh = []
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.ignore(ask.join), askAfter)))

    /** Those of a lane that are not bound. They are asked about until the store answers, and given up in the end. */
    const confirmed = (keys: ReadonlyArray<string>) =>
      Effect.retry(freeAmong(keys), askAgain).pipe(
        Effect.interruptible,
        Effect.timeout(closeMax),
        Effect.catchAllCause((cause) => {
          Metered.add(KeyMetrics.lost.unsure, keys.length)
          return Effect.as(
            Effect.logWarning(`${keys.length} keys of creates that failed are given up`, cause),
            []
          )
        })
      )
    /** Waits for keys that are being given to `onFree`. */
    const rest = Effect.as(Effect.timeoutOption(Effect.interruptible(ask.rest), closeMax), [])

    return {
      add: (keys) =>
        Effect.suspend(() => {
          if (closed)
            return Parallel.forEach(BoundKeys.byLane(places, keys), (lane) =>
              Effect.flatMap(confirmed(lane), onFree)
            )
          const room = keysMax - fresh.length - rested.length
          fresh.push(...keys.slice(0, room))
          const lost = keys.length - room
          if (lost <= 0) return Effect.void
          Metered.add(KeyMetrics.lost.unsure, lost)
          return Effect.logWarning(`${lost} keys of creates that failed are given up`)
        }),
      close: Effect.suspend(() => {
        closed = true
        const lanes = BoundKeys.byLane(places, [...rested, ...fresh])
        return Effect.map(
          Parallel.forEach([rest, ...lanes.map(confirmed)], (part) => part),
          (parts) => parts.flat()
        )
      })
    }
  })
