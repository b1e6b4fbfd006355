import { Duration, Effect, Layer, Queue } from "effect"
import * as Metered from "../telemetry/Metered.ts"
import { DatabasePresence } from "../storage/sql/postgres/DatabasePresence.ts"
import { Witnessed } from "../storage/nodes/Witnessed.ts"
import * as Pulse from "../time/Pulse.ts"
import { linksCreated } from "./links/LinkCreates.ts"
import { Links } from "./links/Links.ts"

/** How often a node that binds no links checks whether the database has forgotten something. */
const lookEvery = Duration.seconds(5)

/** How long the last comparison, when the node stops, may take. */
const lastMax = Duration.seconds(1)

/**
 * Compares the database with its witnesses: after each `compareEvery` in which this node has bound links, every five seconds otherwise, at once when the database was away, and once more when the node stops. So a loss
 * without a move of keys is noticed, too: only the loss of creates of less than `compareEvery` goes unnoticed, whose keys were handed out before it began.
 */
export const layer = (compareEvery: Duration.Duration): Layer.Layer<never, never, Links | Witnessed> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const { compare, look } = yield* Witnessed
      const { onRetaken } = yield* DatabasePresence
      const { created } = yield* Links
      const retaken = yield* Queue.sliding<void>(1)
      onRetaken(() => void retaken.unsafeOffer(undefined))
      let compared = Metered.read(linksCreated).count

      const ignored = Effect.catchAll((error: { readonly message: string }) =>
        Effect.logWarning(`The database is compared with its witnesses later: ${error.message}`)
      )
      const compareIfNew = Effect.suspend(() => {
        const created = Metered.read(linksCreated).count
        if (created === compared) return Effect.void
        return Effect.tap(compare, () => {
          compared = created
        })
      })
      yield* Effect.addFinalizer(() =>
        compareIfNew.pipe(Effect.interruptible, Effect.timeoutOption(lastMax), Effect.ignore)
      )
      const compareNew = Effect.gen(function* () {
        yield* created.await
        yield* Effect.sleep(compareEvery)
        created.unsafeClose()
        yield* Effect.tapError(compareIfNew, () => created.open)
      })
      yield* Effect.forkScoped(Effect.forever(ignored(compareNew)))
      yield* Effect.forkScoped(Pulse.fromNow(ignored(look), lookEvery))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Queue.take(retaken), ignored(look))))
    })
  )
