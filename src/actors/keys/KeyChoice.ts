import { Duration, Effect, type Scope } from "effect"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { Unavailable } from "../Unavailable.ts"
import type { KeyBuffer } from "./KeyBuffer.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/** Takes keys out of the node's buffer whose links can be bound now. */
export interface KeyChoice {
  /** As `KeyBuffer.takeNow`. */
  readonly takeNow: () => string | undefined
  /** As `KeyBuffer.takeMany`. `beside`: the guard together with which the links are to be bound. */
  readonly takeMany: (count: number, beside?: string) => Effect.Effect<ReadonlyArray<string>, Unavailable>
  /** As `KeyBuffer.dropBound`, of the keys that are put aside as well. */
  readonly dropBound: Effect.Effect<void>
}

/** Keys that are put aside at most, because their database does not answer, they are being moved, or a guard is elsewhere. Further ones are given up. */
export const asideMax = 10_000

/** Keys that one call takes out of the buffer at a time for a guard, and keys that it puts aside before it gives up. */
const besideAtOnce = 16
const triesMax = 4_096

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
 * Where links are in one database, every key of the buffer will do. In several, keys that will not do now are put aside, and taken first when they do. Some at a time are of one database. When the scope closes they go back to the
 * buffer.
 */
export const make = (buffer: typeof KeyBuffer.Service): Effect.Effect<KeyChoice, never, Scope.Scope> =>
  Effect.gen(function* () {
    const places = yield* LinkPlaces
    if (places.databases === 1) {
      const { dropBound, takeNow } = buffer
      return { dropBound, takeNow, takeMany: (count: number) => buffer.takeMany(count) }
    }
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
    const takeInRow = (anyway: boolean): string | undefined => {
      const last = aside[lane]!.at(-1)
      if (left > 0 && last !== undefined && places.isOpen(last)) {
        left--
        return takeOf(lane)
      }
      const next = fullest(places.isOpen)
      if (next === undefined || (left > 0 && !anyway && aside[next]!.length < rowMax)) return undefined
      lane = next
      left = rowMax - 1
      return takeOf(lane)
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

    const takeMany: KeyChoice["takeMany"] = (count, beside) => {
      const suits = beside === undefined ? places.isOpen : (key: string) => places.isOpenBeside(key, beside)
      const atOnce = beside === undefined ? count : Math.max(count, besideAtOnce)
      const from = (tried: number): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
        Effect.flatMap(buffer.takeMany(atOnce), (taken) => {
          // Who asked waited for a lease meanwhile, and what is put aside now would stay there.
          if (closed) return Effect.zipRight(buffer.putBack(taken), noneSuits)
          const good = taken.filter(suits)
          for (const key of taken) if (!suits(key)) putAside(key)
          if (good.length > count) good.splice(count).forEach(putAside)
          if (good.length > 0) return Effect.succeed(good)
          return tried < triesMax ? from(tried + taken.length) : noneSuits
        })
      return Effect.suspend(() => {
        if (closed) return noneSuits
        const keys: Array<string> = []
        while (keys.length < count) {
          const key = takeAside(suits)
          if (key === undefined) break
          keys.push(key)
        }
        return keys.length > 0 ? Effect.succeed(keys) : from(0)
      })
    }

    return {
      takeNow: () => {
        if (closed) return undefined
        const known = takeInRow(false)
        if (known !== undefined) return known
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
        return takeInRow(true)
      },
      takeMany,
      dropBound: Effect.zipRight(
        buffer.dropBound,
        Effect.suspend(() => (closed ? Effect.void : drop.join))
      )
    }
  })
