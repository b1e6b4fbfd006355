import { Context, Effect, Layer, type Scope } from "effect"
import type { LinkCache } from "./LinkCache.ts"
import type { Unavailable } from "../Unavailable.ts"

/** How an owner on this node is asked for links. */
type Owner = Pick<LinkCache<Unavailable>, "ask">

/**
 * The owners of partitions that live in this process: they can be asked for links without a message, and answer just as they would to one. An actor
 * that is about to go, because its shard has moved, is asked as long as it lives.
 */
export class LocalOwners extends Context.Tag("linkmint/LocalOwners")<
  LocalOwners,
  {
    /** The owner of a partition, if it lives here. */
    readonly of: (partition: number) => Owner | undefined
    /** Makes an owner known for as long as its scope is open. */
    readonly add: (partition: number, owner: Owner) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}

/** See {@link LocalOwners}. */
export const layer: Layer.Layer<LocalOwners> = Layer.sync(LocalOwners, () => {
  const owners = new Map<number, Owner>()
  return {
    of: (partition) => owners.get(partition),
    add: (partition, owner) =>
      Effect.acquireRelease(
        Effect.sync(() => void owners.set(partition, owner)),
        // Its successor can be here before it has gone.
        () => Effect.sync(() => void (owners.get(partition) === owner && owners.delete(partition)))
      )
  }
})
