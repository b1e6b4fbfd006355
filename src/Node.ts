import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option, type Redacted } from "effect"
import * as KeyBuffer from "./actors/KeyBuffer.ts"
import * as Links from "./actors/Links.ts"
import * as RedirectCache from "./actors/RedirectCache.ts"
import { actors, layerEmbedded } from "./Cluster.ts"
import { layerAdminKey, layerMinter } from "./Deployment.ts"
import * as HttpServer from "./http/Server.ts"
import type { Settings } from "./Settings.ts"
import * as DataFolder from "./storage/DataFolder.ts"
import * as DeploymentStoreSql from "./storage/DeploymentStoreSql.ts"
import * as KeyPoolMemory from "./storage/KeyPoolMemory.ts"
import * as KeyRangeStoreSql from "./storage/KeyRangeStoreSql.ts"
import * as KeyStockSql from "./storage/KeyStockSql.ts"
import * as LinkStoreGrouped from "./storage/LinkStoreGrouped.ts"
import * as LinkStoreSql from "./storage/LinkStoreSql.ts"
import * as Migrations from "./storage/Migrations.ts"
import * as PostgresClient from "./storage/PostgresClient.ts"
import * as SqliteClient from "./storage/SqliteClient.ts"

/** Links that a node keeps in its redirect cache: some 50 MB with URLs of 100 characters. */
const redirectCacheMax = 100_000

/** Statements of one kind that a node has under way at PostgreSQL. SQLite has one writer, so there it is one. */
const inFlightMax = 4

/** SQLite in the data folder, which belongs to this process alone. */
const sqlite = (folder: string, pid: number) =>
  Layer.unwrapEffect(
    Effect.map(DataFolder.DataFolder, ({ databaseFile }) => SqliteClient.layer(databaseFile))
  ).pipe(Layer.provide(DataFolder.layer(folder, pid)))

/** PostgreSQL, where this process is the only one at work. */
const postgres = (url: Redacted.Redacted) =>
  PostgresClient.layerSoleProcess.pipe(Layer.provideMerge(PostgresClient.layer(url)))

/** Whatever stands in the way of having the database. */
type DatabaseError = Layer.Layer.Error<ReturnType<typeof sqlite> | ReturnType<typeof postgres>>

/** The database that the settings name, migrated. */
const database = (settings: Settings, pid: number) => {
  const client: Layer.Layer<SqlClient, DatabaseError, FileSystem | Path> = Option.match(
    settings.databaseUrl,
    {
      onNone: () => sqlite(settings.dataDir, pid),
      onSome: postgres
    }
  )
  return Migrations.layer.pipe(Layer.provideMerge(client))
}

/** Every store over the SQL client. */
const stores = (settings: Settings) =>
  Layer.mergeAll(
    KeyRangeStoreSql.layer,
    KeyStockSql.layer,
    DeploymentStoreSql.layer,
    LinkStoreGrouped.layer({ inFlightMax: Option.isNone(settings.databaseUrl) ? 1 : inFlightMax }).pipe(
      Layer.provide(LinkStoreSql.layer)
    ),
    KeyPoolMemory.layer({ shards: 1, settleAfter: settings.bufferCapacity })
  )

/**
 * A whole node in this process, from the database to the listening socket. Parts stop in the reverse order of this file's
 * reading: requests first, then the buffer gives its keys back, then the actors, then the database.
 *
 * Gives the administrator's key, for the first start to show.
 */
export const layer = (settings: Settings, pid: number) => {
  const { baseUrl, defaultExpiry, host, port } = settings
  const http = HttpServer.layer({
    host,
    port,
    own: { baseUrl, port },
    defaultExpiry,
    anonymousCreates: settings.anonymousCreates
  })
  return http.pipe(
    Layer.provide(Links.layer),
    Layer.provide([KeyBuffer.layer(settings.bufferCapacity), RedirectCache.layer(redirectCacheMax)]),
    Layer.provide(actors({ pool: { low: settings.poolLow, high: settings.poolHigh } })),
    Layer.provide(layerEmbedded),
    Layer.provideMerge(layerAdminKey(settings)),
    Layer.provide(layerMinter(settings)),
    Layer.provide(stores(settings)),
    Layer.provide(database(settings, pid))
  )
}
