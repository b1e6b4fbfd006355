import type { SqlError } from "@effect/sql/SqlError"
import { Context, Duration, Effect, Layer, Option, type Scope } from "effect"
import { Pool } from "pg"
import { LinkReplicas } from "./LinkReplicas.ts"
import { LinkStore } from "./LinkStore.ts"
import * as LinkStoreSql from "./LinkStoreSql.ts"
import { StorageError } from "../StorageError.ts"
import { numbers } from "../sql/postgres/PrimaryClient.ts"
import { DatabaseServers } from "../sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../sql/postgres/PostgresClient.ts"

/** Connections to one server. */
const connectionsMax = 4

/** How long a server may take to connect, and to answer: another one is asked then. */
const answerMax = Duration.seconds(1)

/** How long a connection that nobody uses is kept: the database is seldom away. */
const idleMax = Duration.seconds(10)

type FindMany = (typeof LinkStore.Service)["findMany"]

/** The links of one server, to which nothing is connected before it is asked. */
const storeAt = (url: string): Effect.Effect<FindMany, SqlError, Scope.Scope> => {
  const acquire = Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new Pool({
        connectionString: url,
        application_name: "linkmint-replica",
        max: connectionsMax,
        connectionTimeoutMillis: Duration.toMillis(answerMax),
        query_timeout: Duration.toMillis(answerMax),
        idleTimeoutMillis: Duration.toMillis(idleMax),
        keepAlive: true,
        types: numbers
      })
      pool.on("error", () => {})
      return pool
    }),
    (pool) => Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption(answerMax))
  )
  const layer: Layer.Layer<LinkStore, SqlError> = Layer.provide(
    LinkStoreSql.layer,
    PostgresClient.layerFromPool(acquire)
  )
  return Effect.map(Layer.build(layer), (context) => Context.get(context, LinkStore).findMany)
}

/**
 * Reads from the servers at `urls`, and from those that `DATABASE_URL` names where there are several: from the one that answered last, and each of the others once where it does not.
 */
export const make = (
  urls: ReadonlyArray<string>
): Effect.Effect<Option.Option<FindMany>, SqlError, Scope.Scope | DatabaseServers> =>
  Effect.gen(function* () {
    const servers = yield* DatabaseServers
    const stores = yield* Effect.forEach([...urls, ...(servers.urls.length > 1 ? servers.urls : [])], storeAt)
    if (stores.length === 0) return Option.none()
    let answering = 0
    const from =
      (attempt: number): FindMany =>
      (keys) => {
        const index = (answering + attempt) % stores.length
        return stores[index]!(keys).pipe(
          Effect.tap(() => Effect.sync(() => void (answering = index))),
          Effect.catchAll((error: StorageError) =>
            attempt + 1 < stores.length ? from(attempt + 1)(keys) : Effect.fail(error)
          )
        )
      }
    return Option.some<FindMany>((keys) => from(0)(keys))
  })

/** See {@link make}. */
export const layer = (urls: ReadonlyArray<string>): Layer.Layer<LinkReplicas, SqlError, DatabaseServers> =>
  Layer.scoped(LinkReplicas, make(urls))
