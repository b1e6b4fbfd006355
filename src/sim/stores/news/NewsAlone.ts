import { Context, Effect, Layer, type Scope } from "effect"
import { LinkInvalidations, type LinkInvalidationsService } from "../../../storage/links/LinkInvalidations.ts"
import * as LinkInvalidationsLocal from "../../../storage/links/LinkInvalidationsLocal.ts"
import { LinkLifetime } from "../../../storage/links/LinkLifetime.ts"
import { LinkRemovals } from "../../../storage/links/LinkRemovals.ts"

/**
 * The news of links in a process whose database nobody else has, as production has them: it hears of what its own stores end and free when their calls have ended, and of nothing else.
 * Gives the news, and the stores that announce them.
 */
export const over = <R>(
  stores: Context.Context<R | LinkLifetime | LinkRemovals>
): Effect.Effect<
  {
    readonly changes: LinkInvalidationsService
    readonly stores: Context.Context<R | LinkLifetime | LinkRemovals>
  },
  never,
  Scope.Scope
> =>
  Effect.map(Layer.build(LinkInvalidationsLocal.layer), (local) => {
    const announce = Context.get(local, LinkInvalidationsLocal.LinkAnnouncer)
    const announced = <E>(keys: Effect.Effect<ReadonlyArray<string>, E>) =>
      Effect.tap(keys, (ended) => announce(ended))
    const lifetime = Context.get(stores, LinkLifetime)
    const removals = Context.get(stores, LinkRemovals)
    return {
      changes: Context.get(local, LinkInvalidations),
      stores: stores.pipe(
        Context.add(LinkLifetime, {
          ...lifetime,
          expire: (keys) => announced(lifetime.expire(keys)),
          expireSome: (count) => announced(lifetime.expireSome(count)),
          recycle: (options) =>
            Effect.tap(lifetime.recycle(options), (freed) => announce(freed.map(({ key }) => key)))
        }),
        Context.add(LinkRemovals, { ...removals, remove: (count) => announced(removals.remove(count)) })
      )
    }
  })
