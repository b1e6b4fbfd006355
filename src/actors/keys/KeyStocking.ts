import { Singleton } from "@effect/cluster"
import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, type Layer, Schedule } from "effect"
import type { KeyMinter } from "../../keys/KeyMinter.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { count, empty } from "../../keys/PackedKeys.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { KeyStock } from "../../storage/keys/KeyStock.ts"
import * as KeyMetrics from "./KeyMetrics.ts"
import * as KeyMinting from "./KeyMinting.ts"
import { fromFailure } from "../Unavailable.ts"

/** Keys that are minted, or moved, in one statement at most: some milliseconds of the database's time. A crash may lose those that are minted. */
const batchMax = 1_000

/** Batches without a new key after which a turn ends: of keys drawn at random, more and more are known. */
const vainMax = 10

/** Batches of leftover keys that are moved in one turn at most. */
const adoptionsMax = 1_000

/** The pause between turns: with a stock to fill, and without one, when only leftover keys are looked for. */
const pauses = { filling: Duration.seconds(5), none: Duration.minutes(1) }

/**
 * The pause between batches. SQLite answers at once, and Node runs due timers before it reads its connections: this
 * is longer than a batch takes, so that requests have their turn.
 */
const batchPause = Duration.millis(50)

/** How long the singleton waits for its batch when it stops. */
const endMax = Duration.seconds(2)

/**
 * Fills the stock: on one node of the cluster at a time, keys are minted ahead until `target` are stocked, and keys that another kind of stock has left
 * are adopted. A `target` of 0 only adopts. Two nodes that fill at once mint a batch too much, at worst.
 */
export const layer = (target: number): Layer.Layer<never, never, Sharding | KeyStock | KeyMinter> =>
  Singleton.make(
    "KeyStocking",
    Effect.gen(function* () {
      const stock = yield* KeyStock
      const mint = yield* KeyMinting.make
      let start = 0
      /** Minted, and certainly not in the stock. */
      let minted = empty

      const fillSome = Effect.fnUntraced(function* (missing: number) {
        const batch = count(minted) > 0 ? minted : yield* mint(start++, Math.min(missing, batchMax))
        // Keys that may have entered the stock may have left it since: added again they would be handed out twice.
        minted = empty
        const added = yield* Effect.tapError(stock.fill(batch), ({ applied }) =>
          Effect.sync(() => {
            if (applied === "no") minted = batch
          })
        )
        Metered.add(KeyMetrics.stocked.new, added)
        Metered.add(KeyMetrics.stocked.known, count(batch) - added)
        return added
      })

      const turn = Effect.gen(function* () {
        const adopting = Effect.tap(stock.adopt(batchMax), (moved) => Metered.add(KeyMetrics.adopted, moved))
        yield* Effect.repeat(Effect.delay(adopting, batchPause), {
          while: (moved) => moved > 0,
          times: adoptionsMax
        })
        if (target === 0) return
        let missing = target - (yield* stock.size)
        for (let vain = 0; missing > 0 && vain < vainMax;) {
          const added = yield* Effect.delay(fillSome(missing), batchPause)
          missing -= added
          vain = added === 0 ? vain + 1 : 0
        }
      }).pipe(
        Effect.mapError(fromFailure),
        Effect.catchAll(({ reason }) => Effect.logWarning(`The stock of keys is filled later: ${reason}`)),
        Effect.catchAllDefect((defect) => Effect.logError("The stock of keys was not filled", defect))
      )

      // It outlasts the singleton: interrupting it would lose minted keys.
      const turns = yield* SingleFlight.makeOutlasting(turn, endMax)
      yield* Effect.repeat(turns.join, Schedule.spaced(target === 0 ? pauses.none : pauses.filling))
    }).pipe(Effect.scoped)
  )
