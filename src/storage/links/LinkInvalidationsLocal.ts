import { Context, Effect, Layer } from "effect"
import { DatabasePresence } from "../sql/postgres/DatabasePresence.ts"
import { LinkInvalidations, type LinkChangesSubscriber } from "./LinkInvalidations.ts"

/**
 * Announces changed links to the caches of this process, for a store that cannot announce them itself. Not needed for what passes through the
 * caches. Must not throw. By default nothing is called.
 */
export class LinkAnnouncer extends Context.Reference<LinkAnnouncer>()("linkmint/LinkAnnouncer", {
  defaultValue:
    () =>
    (_keys: ReadonlyArray<string>): void => {}
}) {}

/**
 * `LinkInvalidations` of a process alone: it hears at once of what its own stores announce, and is fresh as long as it is alone. Where its place at the database was lost for
 * a while, another process may have changed links.
 */
export const layer: Layer.Layer<LinkInvalidations | LinkAnnouncer> = Layer.effectContext(
  Effect.map(DatabasePresence, ({ awayFor, isHeld, onRetaken }) => {
    const subscribers = new Set<LinkChangesSubscriber>()
    onRetaken(() => subscribers.forEach(({ forgetAll }) => forgetAll()))
    return Context.make(LinkAnnouncer, (keys) =>
      subscribers.forEach((subscriber) => keys.forEach(subscriber.forget))
    ).pipe(
      Context.add(LinkInvalidations, {
        isFresh: isHeld,
        awayFor,
        subscribe: (subscriber) =>
          Effect.acquireRelease(
            Effect.sync(() => void subscribers.add(subscriber)),
            () => Effect.sync(() => void subscribers.delete(subscriber))
          )
      })
    )
  })
)
