import { Context, Effect, Layer, Metric, Queue } from "effect"
import { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import * as TrustedTime from "../../time/TrustedTime.ts"
import { linksExpired } from "./LinkSweep.ts"

/** Keys that wait at most; the sweep finds what is more. */
const waitingMax = 1_000

/** Ends links that were asked for and found expired, before the sweep comes by. By default that is left to the sweep. */
export class ExpiredLinks extends Context.Reference<ExpiredLinks>()("linkmint/ExpiredLinks", {
  defaultValue: (): ExpiredLinksService => ({ found: () => {} })
}) {}

/** See {@link ExpiredLinks}. */
export interface ExpiredLinksService {
  /** Tells of a link that is found expired. Waits for nothing; it may be forgotten. */
  readonly found: (key: string) => void
}

/** See {@link ExpiredLinks}. One statement at a time, for all that was found while the one before it ran. */
export const layer: Layer.Layer<ExpiredLinks, never, LinkLifetime> = Layer.scoped(
  ExpiredLinks,
  Effect.gen(function* () {
    const lifetime = yield* LinkLifetime
    const waiting = yield* Queue.dropping<string>(waitingMax)
    const end = Effect.flatMap(Queue.takeBetween(waiting, 1, waitingMax), (keys) =>
      TrustedTime.whenSettled(
        Effect.flatMap(lifetime.expire([...keys]), (ended) => Metric.incrementBy(linksExpired, ended.length))
      )
    )
    yield* Effect.forkScoped(Effect.forever(Effect.ignore(end)))
    return { found: (key) => void Queue.unsafeOffer(waiting, key) }
  })
)
