import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Deferred, Effect, Layer, Option, type Redacted } from "effect"
import { bucketOf, bucketOfName } from "../../keys/Buckets.ts"
import { drawId } from "../../model/RandomId.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { KeyStock } from "../keys/KeyStock.ts"
import * as KeyStockSql from "../keys/KeyStockSql.ts"
import { GuardedCreates } from "../links/GuardedCreates.ts"
import { LinkInvalidations, type LinkInvalidationsService } from "../links/LinkInvalidations.ts"
import { LinkLifetime } from "../links/LinkLifetime.ts"
import { LinkRemovals } from "../links/LinkRemovals.ts"
import { LinkReplicas } from "../links/LinkReplicas.ts"
import { LinkStore } from "../links/LinkStore.ts"
import type { Place } from "../links/buckets/BucketPlacement.ts"
import type { DeploymentStore } from "../nodes/DeploymentStore.ts"
import * as DatabaseServers from "../sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../sql/postgres/PostgresClient.ts"
import type { StorageError } from "../StorageError.ts"
import { VisitStore } from "../visits/VisitStore.ts"
import { WebhookListeners } from "../webhooks/WebhookListeners.ts"
import type { OutboxMessages } from "../webhooks/WebhookOutbox.ts"
import { WebhookStore } from "../webhooks/WebhookStore.ts"
import { type DatabasesMismatch, DatabasesRefused } from "./FurtherDatabase.ts"
import * as LinkDatabases from "./LinkDatabases.ts"
import * as LinkOutbox from "./LinkOutbox.ts"
import { LinkCarrier, LinkDatabaseList, type ListedDatabase } from "./LinkDatabaseList.ts"
import { LinkPlaces, type LinkPlacesService } from "./LinkPlaces.ts"
import * as LinkPorts from "./LinkPorts.ts"
import * as PlacementCache from "./PlacementCache.ts"

/** The home of a bucket when it is no longer being moved. */
const homeToBe = ({ home, movingTo }: Place): number => movingTo ?? home

/** Where links are, as far as the placement is known. */
export const placesOf = (
  databases: ReadonlyArray<Pick<ListedDatabase, "isAway">>,
  { current }: Pick<PlacementCache.PlacementCache, "current">
): LinkPlacesService => {
  const laneOfBucket = (bucket: number) => {
    const { home, movingTo } = current().places[bucket]!
    return movingTo === null ? home : databases.length
  }
  const answers = (home: number) => !databases[home]!.isAway()
  const isOpen = (key: string) => {
    const { places, staying, tenures } = current()
    const { home, movingTo } = places[bucketOf(key)]!
    if (movingTo === null && answers(home)) return true
    for (const one of staying) if (answers(one)) return false
    // No bucket is better: a move ends in a moment, and where no database answers, this one may do so soon.
    return answers(home) || !tenures.some(({ buckets }, index) => buckets.length > 0 && answers(index))
  }
  return {
    databases: databases.length,
    lanes: databases.length + 1,
    laneOf: (key) => laneOfBucket(bucketOf(key)),
    laneOfName: (name) => laneOfBucket(bucketOfName(name)),
    isOpen,
    isOpenBeside: (key, name) => {
      const { places } = current()
      const its = places[bucketOf(key)]!
      const guards = places[bucketOfName(name)]!
      return homeToBe(its) === homeToBe(guards) && (its.movingTo === null || guards.movingTo !== null)
    }
  }
}

const listed = (
  databases: ReadonlyArray<Pick<ListedDatabase, "isAway" | "sql">>,
  { current }: PlacementCache.PlacementCache
): ReadonlyArray<ListedDatabase> =>
  databases.map(({ isAway, sql }, number) => ({
    number,
    sql,
    isAway,
    buckets: () => current().tenures[number]!.buckets.length
  }))

/**
 * The news of all databases. What is known of a key is as fresh as the news of its database, and of the one that it is being moved to, as long as they show that no bucket has left since the
 * placement was read: what is changed in another one may not be heard. Where buckets have come to another home, everything is forgotten: news of the former one may be missing, and none says so.
 */
export const changesOf = (
  news: ReadonlyArray<LinkInvalidationsService>,
  { current, whenMoved }: PlacementCache.PlacementCache
): LinkInvalidationsService => {
  const epochs = news.map(({ epoch = () => 0 }) => epoch)
  const isFreshIn = (now: number, home: number, { tenures }: PlacementCache.KnownPlacement) =>
    news[home]!.isFresh(now) && epochs[home]!() <= tenures[home]!.epoch
  return {
    isFresh: (now, key) => {
      const known = current()
      if (key === undefined) return news.every((_, home) => isFreshIn(now, home, known))
      const { home, movingTo } = known.places[bucketOf(key)]!
      return isFreshIn(now, home, known) && (movingTo === null || isFreshIn(now, movingTo, known))
    },
    awayFor: (now, key) => {
      const home = key === undefined ? 0 : current().places[bucketOf(key)]!.home
      return news[home]!.awayFor(now)
    },
    subscribe: (subscriber) =>
      Effect.zipRight(
        whenMoved(() => subscriber.forgetAll()),
        Effect.forEach(news, ({ subscribe }) => subscribe(subscriber), { discard: true })
      )
  }
}

/** A replica of the control database knows nothing of what is elsewhere, but rows that have left. */
const replicasOf = (
  replicas: typeof LinkReplicas.Service,
  { current }: PlacementCache.PlacementCache
): typeof LinkReplicas.Service =>
  Option.map(
    replicas,
    (findMany) => (keys) =>
      Effect.map(findMany(keys), (rows) =>
        rows.map((row, place) => (current().places[bucketOf(keys[place]!)]!.home === 0 ? row : null))
      )
  )

/** Keys that are carried at a time at most: so many are lost where who carries them dies. */
export const keysMax = 1_000

/** Everything that has to do with links over the control database, which is number 0, and those at `urls`. */
export const layer = (
  urls: ReadonlyArray<Redacted.Redacted>,
  messages: OutboxMessages,
  carrying: { readonly lost: (keys: number) => void }
): Layer.Layer<
  | GuardedCreates
  | LinkInvalidations
  | LinkLifetime
  | LinkPlaces
  | LinkRemovals
  | LinkReplicas
  | LinkStore
  | VisitStore,
  DatabasesMismatch | SqlError | StorageError,
  DeploymentStore | KeyStock | SqlClient.SqlClient | WebhookListeners | WebhookStore
> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const control = yield* SqlClient.SqlClient
      const stock = yield* KeyStock
      const webhooks = yield* WebhookStore
      const listeners = yield* WebhookListeners
      const changes = yield* LinkInvalidations
      const clock = yield* Effect.clock
      const refused = yield* Deferred.make<never, DatabasesMismatch>()
      const store = yield* LinkDatabases.placementOf(control)
      const placement = yield* PlacementCache.make(store, urls.length + 1)
      const further = yield* LinkDatabases.connectAll(
        urls,
        placement.current(),
        String(yield* drawId),
        refused
      )
      const first = yield* LinkPorts.ofDatabase({
        sql: control,
        isAway: () => changes.awayFor(monotonicNow_ms(clock)) !== undefined,
        stock,
        outbox: { messages, listeners, webhooks }
      })
      const others = yield* Effect.forEach(further, ({ isAway, sql }) =>
        Effect.gen(function* () {
          const stock = yield* Effect.provideService(KeyStockSql.make(), SqlClient.SqlClient, sql)
          const outbox = { messages, listeners, webhooks: { offer: LinkOutbox.offerTo(sql) } }
          return yield* LinkPorts.ofDatabase({ sql, isAway, stock, outbox })
        })
      )
      const databases = [first, ...others]
      const ports = yield* LinkPorts.routed(databases, placement)
      const carry = LinkOutbox.carryAll(first, others, ({ sql }) =>
        Effect.zipWith(
          LinkOutbox.carryMessages({ sql, webhooks }),
          LinkOutbox.carryKeys({ sql, control, stock, ...carrying }, keysMax),
          (one, other) => one || other
        )
      )
      return Context.make(LinkStore, ports.links).pipe(
        Context.add(GuardedCreates, ports.guarded),
        Context.add(LinkLifetime, ports.lifetime),
        Context.add(LinkRemovals, ports.removals),
        Context.add(VisitStore, ports.visits),
        Context.add(LinkPlaces, placesOf(databases, placement)),
        Context.add(LinkInvalidations, changesOf([changes, ...further.map((one) => one.changes)], placement)),
        Context.add(LinkReplicas, replicasOf(yield* LinkReplicas, placement)),
        Context.add(LinkCarrier, { carry }),
        Context.add(DatabasesRefused, Deferred.await(refused)),
        Context.add(LinkDatabaseList, listed(databases, placement))
      )
    })
  )

/** Links over the same databases for a command, which runs for a short time, and is not told of changes. What needs no further database works while one is away. */
export const layerOfCommand = (
  urls: ReadonlyArray<Redacted.Redacted>
): Layer.Layer<
  LinkRemovals | LinkStore | LinkDatabaseList,
  DatabasesMismatch | SqlError | StorageError,
  SqlClient.SqlClient
> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const control = yield* SqlClient.SqlClient
      yield* LinkDatabases.checkControl(urls.length + 1)
      const further = yield* Effect.forEach(urls, (url) =>
        Effect.map(
          Layer.build(Layer.provide(PostgresClient.layerUnboundedUnasked, DatabaseServers.layer(url))),
          (context) => Context.get(context, SqlClient.SqlClient)
        )
      )
      const placement = yield* PlacementCache.make(yield* LinkDatabases.placementOf(control), urls.length + 1)
      const isAway = () => false
      const databases = yield* Effect.forEach([control, ...further], (sql) =>
        Effect.flatMap(Effect.provideService(KeyStockSql.make(), SqlClient.SqlClient, sql), (stock) =>
          LinkPorts.ofDatabase({ sql, isAway, stock })
        )
      )
      const ports = yield* LinkPorts.routed(databases, placement)
      return Context.make(LinkStore, ports.links).pipe(
        Context.add(LinkRemovals, ports.removals),
        Context.add(LinkDatabaseList, listed(databases, placement))
      )
    })
  )
