import type { Sharding } from "@effect/cluster/Sharding"
import { Clock, Context, Data, Effect, Layer, Metric, type Scope } from "effect"
import * as Batcher from "../Batcher.ts"
import type { Link } from "../Link.ts"
import { KeyBuffer } from "./KeyBuffer.ts"
import { RedirectCache } from "./RedirectCache.ts"
import { fromFailure, Unavailable } from "./Unavailable.ts"
import { batchMax, type CreateOutcome, partitionCount, partitionOf, UrlMapping } from "./UrlMapping.ts"

/** The alias has a row: it is in use, or was. */
export class AliasTaken extends Data.TaggedError("AliasTaken")<{ readonly alias: string }> {}

/** What a new link is made of. Times are milliseconds since the Unix epoch. */
export interface LinkDraft {
  readonly url: string
  /** `null`: a minted key. */
  readonly alias: string | null
  readonly expiresAt: number | null
}

/** What the node can do with links, whichever actors do it. */
export class Links extends Context.Tag("linkmint/Links")<
  Links,
  {
    /** Binds a link. When this succeeds the link is durable, and every node redirects it. */
    readonly create: (draft: LinkDraft) => Effect.Effect<Link, AliasTaken | Unavailable>
    /** The row of a key, tombstones included, `null` where there is none. */
    readonly find: (key: string) => Effect.Effect<Link | null, Unavailable>
    /** Deletes a link; `false` where there was none that was not deleted yet. */
    readonly remove: (key: string) => Effect.Effect<boolean, Unavailable>
  }
>() {}

/** Keys tried for one create. */
const keyTriesMax = 8

/** Creates that wait for one partition at most; more are refused at once. */
const queueMax = 10_000

/**
 * Minted keys that turned out to be bound. `by` tells whether an alias had the key, which is chance, or another minted key,
 * which means that a key came out of the pools twice and should stay 0.
 */
export const keyConflicts = Metric.counter("linkmint_key_conflicts_total", {
  description: "Minted keys that were bound already",
  incremental: true
})

/** Links that were bound. */
export const linksCreated = Metric.counter("linkmint_links_created_total", {
  description: "Links bound",
  incremental: true
})

const linkOf = (draft: LinkDraft, key: string, now: number): Link => ({
  key,
  url: draft.url,
  custom: draft.alias !== null,
  createdAt: now,
  updatedAt: now,
  expiresAt: draft.expiresAt,
  deletedAt: null
})

/** See {@link Links}. */
export const make: Effect.Effect<
  typeof Links.Service,
  never,
  KeyBuffer | RedirectCache | Sharding | Scope.Scope
> = Effect.gen(function* () {
  const buffer = yield* KeyBuffer
  const cache = yield* RedirectCache
  const clientOf = yield* UrlMapping.client
  const creators = yield* Effect.forEach(
    Array.from({ length: partitionCount }, (_, partition) => partition),
    (partition) =>
      Batcher.make<Link, CreateOutcome, Unavailable, never>({
        name: `create in partition ${partition}`,
        run: (links) => Effect.mapError(clientOf(String(partition)).CreateMany({ links }), fromFailure),
        batchMax,
        queueMax,
        inFlightMax: 1
      })
  )

  const bind = (link: Link) => Effect.mapError(creators[partitionOf(link.key)]!.submit(link), fromFailure)

  const createAlias = Effect.fn("Links.createAlias")(function* (draft: LinkDraft, alias: string) {
    const link = linkOf(draft, alias, yield* Clock.currentTimeMillis)
    const outcome = yield* bind(link)
    return outcome === "bound" ? link : yield* new AliasTaken({ alias })
  })

  const createMinted = Effect.fn("Links.createMinted")(function* (draft: LinkDraft) {
    for (let tries = 0; tries < keyTriesMax; tries++) {
      const key = yield* buffer.take
      const link = linkOf(draft, key, yield* Clock.currentTimeMillis)
      const outcome = yield* Effect.tapError(bind(link), (error) =>
        error.applied === "no" ? buffer.putBack(key) : Effect.void
      )
      if (outcome === "bound") return link
      const by = outcome === "taken-by-alias" ? "alias" : "key"
      yield* Metric.increment(Metric.tagged(keyConflicts, "by", by))
      if (by === "key") yield* Effect.logWarning(`Key ${key} was bound already`)
    }
    return yield* new Unavailable({
      reason: `${keyTriesMax} keys in a row were bound already`,
      applied: "no"
    })
  })

  return {
    create: (draft) =>
      Effect.tap(draft.alias === null ? createMinted(draft) : createAlias(draft, draft.alias), () =>
        Metric.increment(linksCreated)
      ),
    find: cache.get,
    remove: Effect.fn("Links.remove")(function* (key) {
      const at = yield* Clock.currentTimeMillis
      const deletion = Effect.mapError(clientOf(String(partitionOf(key))).Delete({ key, at }), fromFailure)
      return yield* cache.write([key], deletion, () => [])
    })
  }
})

/** See {@link Links}. */
export const layer: Layer.Layer<Links, never, KeyBuffer | RedirectCache | Sharding> = Layer.scoped(
  Links,
  make
)
