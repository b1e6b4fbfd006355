import { Context, Effect, Layer } from "effect"
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
 * `LinkInvalidations` where no other process can change links, and each statement has ended when its answer comes: it hears at once of what its own stores announce.
 */
export const layer: Layer.Layer<LinkInvalidations | LinkAnnouncer> = Layer.effectContext(
  Effect.sync(() => {
    const subscribers = new Set<LinkChangesSubscriber>()
    return Context.make(LinkAnnouncer, (keys) =>
      subscribers.forEach((subscriber) => keys.forEach(subscriber.forget))
    ).pipe(
      Context.add(LinkInvalidations, {
        isFresh: () => true,
        awayFor: () => undefined,
        subscribe: (subscriber) =>
          Effect.acquireRelease(
            Effect.sync(() => void subscribers.add(subscriber)),
            () => Effect.sync(() => void subscribers.delete(subscriber))
          )
      })
    )
  })
)
