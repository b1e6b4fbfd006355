import { Entity } from "@effect/cluster"
import { Duration, Effect } from "effect"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { lengthMax } from "../../keys/KeySpace.ts"
import { concat, count, fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { KeyRangeStore } from "../../storage/keys/KeyRangeStore.ts"
import { KeyStock } from "../../storage/keys/KeyStock.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { KeyRange, RangeExhausted } from "./KeyRange.ts"
import { disableFatalDefects, fromFailure, Unavailable } from "../Unavailable.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as Traced from "../../telemetry/Traced.ts"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import * as ActorMetrics from "../ActorMetrics.ts"
import * as BoundKeys from "./BoundKeys.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/**
 * The behaviour of `KeyRange`. Its only state is which key length it found not yet used up: a cache of the store.
 *
 * When a length is used up, the same request opens the next one, for this range only.
 */
export const KeyRangeLive = KeyRange.toLayer(
  Effect.gen(function* () {
    const store = yield* KeyRangeStore
    const stock = yield* KeyStock
    const links = yield* LinkStore
    const places = yield* LinkPlaces
    const minter = yield* KeyMinter
    const range = Number((yield* Entity.CurrentAddress).entityId)
    let length = minter.space.length

    /** Removes duplicates, bound keys, and those whose database does not answer, from keys that were drawn at random. */
    const unbound = Effect.fnUntraced(function* (drawn: PackedKeys) {
      const keys = Array.from(new Set(toStrings(drawn)))
      const { failure, taken, unknown } = yield* BoundKeys.ask(links, places, keys)
      const free = keys.filter((key) => !taken.has(key) && !unknown.has(key))
      Metered.add(KeyMetrics.drawnBound, count(drawn) - free.length - unknown.size)
      if (free.length > 0) return fromStrings(free)
      if (failure !== undefined) return yield* failure
      return yield* new Unavailable({ reason: "all keys that were drawn are bound", applied: "no" })
    })

    /** Concurrent requests would only wait for each other on the range's row. */
    const oneByOne = FairSemaphore.make(1)

    const mint = Effect.fnUntraced(function* (wanted: number) {
      const parts: Array<PackedKeys> = []
      for (let left = wanted; left > 0;) {
        const size = minter.spanOf(length, range)
        const advanced = yield* Effect.either(store.advance({ length, range }, { count: left, size }))
        if (advanced._tag === "Left") {
          // What this request has minted so far has left the range, so it is given.
          if (parts.length > 0) break
          return yield* advanced.left
        }
        const block = advanced.right
        if (block.count > 0) parts.push(minter.mint(length, range, block.first, block.count))
        left -= block.count
        Metered.add(KeyMetrics.minted, block.count)
        if (left > 0 && length === lengthMax) break
        if (left > 0) length++
      }
      if (parts.length === 0) return yield* new RangeExhausted({ range })
      return minter.repeats ? yield* unbound(concat(...parts)) : concat(...parts)
    }, Traced.span("KeyRange.mint"))

    /**
     * Mints for one request. An interruption, as when the range moves or the asker gives up, does not end the wait for the store, whose answer is bounded in time: the keys
     * then go into the stock, since the numbers have left the range.
     */
    const mintForRequest = (wanted: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(mint(wanted), (keys) =>
          Effect.onInterrupt(restore(Effect.succeed(keys)), () =>
            Effect.catchAll(stock.fill(keys), ({ reason }) =>
              Effect.logWarning(`${count(keys)} keys that nobody waits for are not in the stock: ${reason}`)
            )
          )
        )
      )

    const status = Effect.map(store.watermarks, (watermarks) =>
      watermarks
        .filter((mark) => mark.range === range)
        .map(({ length, next }) => ({
          length,
          minted: next,
          remaining: minter.spanOf(length, range) - next
        }))
    )

    return ActorMetrics.watch(
      "KeyRange",
      KeyRange.of({
        Mint: ({ payload }) =>
          Effect.catchTag(oneByOne(mintForRequest(payload.count)), "StorageError", fromFailure),
        Status: () => Effect.mapError(status, fromFailure)
      })
    )
  }),
  {
    concurrency: "unbounded",
    mailboxCapacity: 256,
    disableFatalDefects,
    maxIdleTime: Duration.minutes(10)
  }
)
