import { Duration, Effect, type Scope } from "effect"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { Unavailable } from "../Unavailable.ts"
import type { KeyBuffer } from "./KeyBuffer.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/** Takes keys out of the node's buffer whose links can be bound now. */
export interface KeyChoice {
  /** As `KeyBuffer.takeNow`. */
  readonly takeNow: () => string | undefined
  /** As `KeyBuffer.takeMany`. `beside`: the guard together with which the links are to be bound. */
  readonly takeMany: (count: number, beside?: string) => Effect.Effect<ReadonlyArray<string>, Unavailable>
  /** Gives back keys whose links their database refused: they certainly were not bound, and will not be. For a while, keys of other databases are preferred. */
  readonly refused: (keys: ReadonlyArray<string>) => Effect.Effect<void>
  /** As `KeyBuffer.dropBound`, of the keys that are put aside as well. */
  readonly dropBound: Effect.Effect<void>
}

/** Keys that are put aside at most, because their database does not answer or refuses links, they are being moved, or a guard is elsewhere. Further ones are given up. */
export const asideMax = 10_000

/** Keys that one call takes out of the buffer at a time for a guard, and keys that it puts aside before it gives up. */
const besideAtOnce = 16
const triesMax = 4_096

/** For how long keys of other lanes are preferred to those of one that has refused links, in milliseconds. */
const avoided_ms = 1_000

/** Keys that are taken out of the buffer at a time to find one of a lane that is not avoided, and for how long nobody looks again where there was none, in milliseconds. */
const preferredAtOnce = 64
const lookAgain_ms = 200

const noneSuits = new Unavailable({
  reason: "no key is at hand whose link can be bound now",
  applied: "no",
  away: true
})

/** How long a look for bound keys goes on when the scope closes. */
const dropEndMax = Duration.seconds(2)

/** Keys that are looked at without an effect. */
const looksMax = 32

/** So many keys in a row are of one database, so that links that are bound at a time are mostly in one, and one statement binds them. */
const rowMax = 32

/**
 * Where links are in one database, every key of the buffer will do. In several, keys that will not do now are put aside, and taken first when they do. Some at a time are of one database. A database may answer and still refuse links, as with a full disk: its keys are put aside, and are avoided for a while, but taken where no other is at hand. When the scope closes they go back to the
 * buffer.
 */
export const make = (buffer: typeof KeyBuffer.Service): Effect.Effect<KeyChoice, never, Scope.Scope> =>
  Effect.gen(function* () {
    const places = yield* LinkPlaces
    if (places.databases === 1) {
      const { dropBound, putBack: refused, takeNow } = buffer
      return { dropBound, refused, takeNow, takeMany: (count: number) => buffer.takeMany(count) }
    }
    const clock = yield* Effect.clock
    /** By the lanes that they were in when they were put aside: keys of a lane mostly have the same fate. */
    const aside = Array.from({ length: places.lanes }, (): Array<string> => [])
    let size = 0
    let closed = false

    const putAside = (key: string) => {
      if (size === asideMax) return Metered.add(KeyMetrics.lost["not-open"])
      size++
      aside[places.laneOf(key)]!.push(key)
    }

    const takeOf = (lane: number): string | undefined => {
      const key = aside[lane]!.pop()
      if (key !== undefined) size--
      return key
    }

    /** Until when each lane is avoided, and any of them, in `monotonicNow_ms`. */
    const avoidedUntil = aside.map(() => Number.NEGATIVE_INFINITY)
    let someUntil = Number.NEGATIVE_INFINITY
    let lookAgainAt = Number.NEGATIVE_INFINITY

    const avoid = (lane: number) => {
      someUntil = monotonicNow_ms(clock) + avoided_ms
      avoidedUntil[lane] = someUntil
    }

    /** The lanes that are avoided now; `undefined` where none is, as nearly always. */
    const avoidedNow = (): ((lane: number) => boolean) | undefined => {
      if (someUntil === Number.NEGATIVE_INFINITY) return undefined
      const now = monotonicNow_ms(clock)
      if (now < someUntil) return (lane) => now < avoidedUntil[lane]!
      someUntil = Number.NEGATIVE_INFINITY
      return undefined
    }

    /**
     * Whether the buffer may have a key of a database that is not avoided, though none that suits is aside: of one that has keys aside it is known that they do not suit. So a deployment all of whose
     * databases refuse links, or are away, does not use up its keys.
     */
    const mayHaveOthers = (isAvoided: (lane: number) => boolean, beside?: string) =>
      monotonicNow_ms(clock) >= lookAgainAt &&
      (beside === undefined || !isAvoided(places.laneOfName(beside))) &&
      aside.some((keys, lane) => lane < places.databases && keys.length === 0 && !isAvoided(lane))

    /** The lane that has most of those keys aside that suit, as far as its last one tells. */
    const fullest = (suits: (key: string) => boolean): number | undefined => {
      if (size === 0) return undefined
      let best: number | undefined
      for (const [lane, { length }] of aside.entries()) {
        const isFuller = length > (best === undefined ? 0 : aside[best]!.length)
        if (isFuller && suits(aside[lane]!.at(-1)!)) best = lane
      }
      return best
    }

    const takeAside = (suits: (key: string) => boolean): string | undefined => {
      const lane = fullest(suits)
      return lane === undefined ? undefined : takeOf(lane)
    }

    /** The lane that keys are taken of, and how many more. */
    let lane = 0
    let left = 0

    /** The next key aside of the row, or the first of another: of the lane that has most, where that is enough for a row, or `anyway`. */
    const takeInRow = (suits: (key: string) => boolean, anyway: boolean): string | undefined => {
      const last = aside[lane]!.at(-1)
      if (left > 0 && last !== undefined && suits(last)) {
        left--
        return takeOf(lane)
      }
      const next = fullest(suits)
      if (next === undefined || (left > 0 && !anyway && aside[next]!.length < rowMax)) return undefined
      lane = next
      left = rowMax - 1
      return takeOf(lane)
    }

    /** Up to `count` keys that are aside. */
    const takeManyAside = (count: number, suits: (key: string) => boolean) => {
      const keys: Array<string> = []
      while (keys.length < count) {
        const key = takeAside(suits)
        if (key === undefined) break
        keys.push(key)
      }
      return keys
    }

    const takeAll = () => {
      size = 0
      return aside.flatMap((keys) => keys.splice(0))
    }

    const dropOnce = Effect.uninterruptibleMask((restore) => {
      const looked = takeAll()
      return restore(buffer.withoutBound(looked)).pipe(
        Effect.tapErrorCause(() => Effect.sync(() => looked.forEach(putAside))),
        Effect.map((free) => free.forEach(putAside))
      )
    })

    // The last one runs first: no drop begins any more, then none is under way, and then nothing is put aside.
    yield* Effect.addFinalizer(() => Effect.suspend(() => buffer.putBack(takeAll())))
    const drop = yield* SingleFlight.makeOutlasting(dropOnce, dropEndMax)
    yield* Effect.addFinalizer(() => Effect.sync(() => void (closed = true)))

    /** The keys that suit, without those of lanes that are avoided. */
    const preferring =
      (suits: (key: string) => boolean, isAvoided: ((lane: number) => boolean) | undefined) =>
      (key: string) =>
        suits(key) && isAvoided?.(places.laneOf(key)) !== true

    const takeMany: KeyChoice["takeMany"] = (count, beside) => {
      const suits = beside === undefined ? places.isOpen : (key: string) => places.isOpenBeside(key, beside)
      const atLeast = beside === undefined ? count : Math.max(count, besideAtOnce)
      /** `looks`: keys of lanes that are not avoided are looked for. */
      const from = (tried: number, looks: boolean): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
        Effect.flatMap(buffer.takeMany(looks ? Math.max(atLeast, preferredAtOnce) : atLeast), (taken) => {
          // Who asked waited for a lease meanwhile, and what is put aside now would stay there.
          if (closed) return Effect.zipRight(buffer.putBack(taken), noneSuits)
          const good = taken.filter(suits)
          const better = good.filter(preferring(suits, avoidedNow()))
          if (looks && better.length === 0) lookAgainAt = monotonicNow_ms(clock) + lookAgain_ms
          const chosen = new Set((better.length > 0 ? better : good).slice(0, count))
          for (const key of taken) if (!chosen.has(key)) putAside(key)
          if (chosen.size > 0) return Effect.succeed([...chosen])
          return tried < triesMax ? from(tried + taken.length, false) : noneSuits
        })
      return Effect.suspend(() => {
        if (closed) return noneSuits
        const isAvoided = avoidedNow()
        const preferred = takeManyAside(count, preferring(suits, isAvoided))
        if (preferred.length > 0) return Effect.succeed(preferred)
        const looks = isAvoided !== undefined && mayHaveOthers(isAvoided, beside)
        const known = isAvoided === undefined || looks ? [] : takeManyAside(count, suits)
        return known.length > 0 ? Effect.succeed(known) : from(0, looks)
      })
    }

    return {
      takeNow: () => {
        if (closed) return undefined
        const isAvoided = avoidedNow()
        const known = takeInRow(preferring(places.isOpen, isAvoided), isAvoided !== undefined)
        if (known !== undefined) return known
        if (isAvoided !== undefined) {
          // `takeMany` looks at many keys at once.
          if (mayHaveOthers(isAvoided)) return undefined
          const avoided = takeInRow(places.isOpen, true)
          if (avoided !== undefined) return avoided
        }
        for (let looks = 0; looks < looksMax; looks++) {
          const key = buffer.takeNow()
          if (key === undefined) break
          if (places.isOpen(key)) {
            const its = places.laneOf(key)
            if (left === 0) {
              lane = its
              left = rowMax
            }
            if (its === lane) {
              left--
              return key
            }
          }
          putAside(key)
        }
        return takeInRow(places.isOpen, true)
      },
      refused: (keys) =>
        Effect.suspend(() => {
          if (closed) return buffer.putBack(keys)
          for (const key of keys) {
            avoid(places.laneOf(key))
            putAside(key)
          }
          return Effect.void
        }),
      takeMany,
      dropBound: Effect.zipRight(
        buffer.dropBound,
        Effect.suspend(() => (closed ? Effect.void : drop.join))
      )
    }
  })
