import type { Sharding } from "@effect/cluster"
import { Context, type Duration, Effect, Layer } from "effect"
import * as KeyBuffer from "../actors/keys/KeyBuffer.ts"
import * as KeyStocking from "../actors/keys/KeyStocking.ts"
import * as ExpiredLinks from "../actors/links/ExpiredLinks.ts"
import * as Links from "../actors/links/Links.ts"
import * as LinkSweep from "../actors/links/LinkSweep.ts"
import * as RedirectCache from "../actors/links/RedirectCache.ts"
import * as ReusedLinks from "../actors/links/ReusedLinks.ts"
import * as LinkGroupCommit from "../storage/links/LinkGroupCommit.ts"
import type { KeyMinter } from "../keys/KeyMinter.ts"
import type { KeyPool } from "../storage/keys/KeyPool.ts"
import type { KeyRangeStore } from "../storage/keys/KeyRangeStore.ts"
import type { KeyStock } from "../storage/keys/KeyStock.ts"
import type { GuardedCreates } from "../storage/links/GuardedCreates.ts"
import type { LinkLifetime } from "../storage/links/LinkLifetime.ts"
import type { LinkStore } from "../storage/links/LinkStore.ts"
import type { VisitStore } from "../storage/visits/VisitStore.ts"
import * as Visits from "../visits/Visits.ts"
import { adding } from "./Adding.ts"
import { actors, type ActorsOptions } from "./Cluster.ts"

/** Options of the parts that create, bind and find links. */
export interface CoreOptions extends ActorsOptions {
  /** Keys that the node leases from a pool at a time. */
  readonly bufferCapacity: number
  /** Links in its redirect cache. */
  readonly redirectCacheMax: number
  /** How long the cache is used while the database does not answer. */
  readonly staleRedirects: Duration.Duration
  /** Replacements for two of the parts. Only the simulation uses them. */
  readonly replaced?: {
    readonly buffer?: (buffer: typeof KeyBuffer.KeyBuffer.Service) => typeof KeyBuffer.KeyBuffer.Service
    readonly cache?: (
      cache: typeof RedirectCache.RedirectCache.Service
    ) => typeof RedirectCache.RedirectCache.Service
  }
}

/** Options of all parts between a node's stores and its HTTP service. */
export interface PartsOptions<E, R> extends CoreOptions {
  /** Places the actors. */
  readonly runner: Layer.Layer<Sharding.Sharding, E, R>
  /** How long the key of a link that has ended is not reused. */
  readonly recycleQuarantine: Duration.Duration
  /** The number of keys to keep in stock; `null` for no stock. */
  readonly keyStockTarget: number | null
  readonly visits: Parameters<typeof Visits.layer>[0]
}

const replacedBy = <I, S, E, R>(
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I, E, R>,
  replace: ((service: S) => S) | undefined
): Layer.Layer<I, E, R> =>
  replace === undefined
    ? layer
    : Layer.map(layer, (context) => Context.add(context, tag, replace(Context.get(context, tag))))

const buffer = ({ bufferCapacity, replaced }: CoreOptions) =>
  replacedBy(KeyBuffer.KeyBuffer, KeyBuffer.layer(bufferCapacity), replaced?.buffer)

const cache = ({ redirectCacheMax, replaced, staleRedirects }: CoreOptions) =>
  replacedBy(
    RedirectCache.RedirectCache,
    RedirectCache.layer(redirectCacheMax, staleRedirects),
    replaced?.cache
  )

/** The clients of the actors. */
const clients =
  (options: CoreOptions) =>
  <Has, E, R>(before: Effect.Effect<Context.Context<Has>, E, R>) =>
    before.pipe(adding(buffer(options)), adding(cache(options)), adding(Links.layer))

/** All parts of a node between its stores and its HTTP service, in the order in which they start. They stop in reverse order. */
export const parts = <E2, R2>(options: PartsOptions<E2, R2>) => {
  const { keyStockTarget, recycleQuarantine, runner, visits } = options
  return <Has, E, R>(before: Effect.Effect<Context.Context<Has>, E, R>) =>
    before.pipe(
      adding(LinkGroupCommit.links(options)),
      adding(LinkGroupCommit.guardedCreates(options)),
      adding(runner),
      adding(actors(options)),
      adding(keyStockTarget === null ? Layer.empty : KeyStocking.layer(keyStockTarget)),
      adding(LinkSweep.layer(recycleQuarantine)),
      adding(ExpiredLinks.layer),
      adding(Visits.layer(visits)),
      clients(options),
      adding(ReusedLinks.layer)
    )
}

/** The stores that the parts work on. */
type Stores =
  GuardedCreates | KeyMinter | KeyPool | KeyRangeStore | KeyStock | LinkLifetime | LinkStore | VisitStore

/** All parts as a layer over a node's stores. */
export const layer = <E, R>(options: PartsOptions<E, R>) =>
  Layer.scopedContext(parts(options)(Effect.context<Stores>()))

/** The parts that create, bind and find links, as a layer for tests of actors. */
export const layerCore = (options: CoreOptions) =>
  Layer.scopedContext(
    Effect.context<Sharding.Sharding | Exclude<Stores, LinkLifetime | VisitStore>>().pipe(
      adding(actors(options)),
      clients(options)
    )
  )
