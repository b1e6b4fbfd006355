import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Data, Effect, Layer, type Redacted, type Scope } from "effect"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { TrustedTime } from "../../time/TrustedTime.ts"
import { BucketPlacement } from "../links/BucketPlacement.ts"
import * as BucketPlacementSql from "../links/BucketPlacementSql.ts"
import type { LinkInvalidationsService } from "../links/LinkInvalidations.ts"
import * as LinkInvalidationsPostgres from "../links/LinkInvalidationsPostgres.ts"
import * as DeploymentStore from "../nodes/DeploymentStore.ts"
import { direct } from "../sql/DirectSql.ts"
import * as Migrations from "../sql/Migrations.ts"
import * as DatabaseServers from "../sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../sql/postgres/PostgresClient.ts"
import { prepared } from "../sql/SqlDialect.ts"
import * as PlacementCache from "./PlacementCache.ts"
import type { StorageError } from "../StorageError.ts"

/** The databases that the settings name are not those that have this deployment's links. Without a URL, which can hold a password. */
export class LinkDatabasesMismatch extends Data.TaggedError("LinkDatabasesMismatch")<{
  readonly fault: string
}> {
  override get message() {
    return `LINK_DATABASE_URLS or DATABASE_URL is wrong: ${this.fault}`
  }
}

/** The names of decisions: which deployment and number a database of links has, and by what it knows the deployment. */
const markName = "link-database"
const deploymentName = "link-databases-of"

const mismatch = (fault: string) => new LinkDatabasesMismatch({ fault })

const decisionOf = (sql: SqlClient.SqlClient, name: string) =>
  Effect.map(sql<{ value: string }>`SELECT value FROM deployment WHERE name = ${name}`, ([row]) => row?.value)

/** Checks that all databases that have links, or are about to get some, are among the first `count`. */
const checkHomes = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* direct(
      sql,
      "LinkDatabases.checkHomes",
      sql`${prepared(sql)}SELECT max(greatest(home, moving_to)) FROM bucket_placement`.compile()
    )
    const last = Number(row![0] ?? 0)
    if (last < count) return
    return yield* mismatch(
      `database ${last} has links of this deployment, and LINK_DATABASE_URLS names ${count - 1}. Name all of them, in their order.`
    )
  })

/**
 * Checks, before anything is written, that `DATABASE_URL` names no further database of links, and that all databases that have links are known: `count` of them. To be run on PostgreSQL, where the
 * schema is migrated.
 */
export const checkControl = (
  count: number
): Effect.Effect<void, LinkDatabasesMismatch | SqlError | StorageError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const mark = yield* decisionOf(sql, markName)
    if (mark !== undefined) {
      const [, number] = mark.split(" ")
      return yield* mismatch(
        `DATABASE_URL names database ${number} of links of a deployment, which has no accounts. It belongs into LINK_DATABASE_URLS, as number ${number}.`
      )
    }
    yield* checkHomes(count)
  })

/** Fails when buckets come to be in a database that this process does not know: then it must not go on. Looks every second. */
export const homesUnknown = (
  count: number
): Effect.Effect<never, LinkDatabasesMismatch, SqlClient.SqlClient> =>
  Effect.forever(
    Effect.delay(
      Effect.catchAll(checkHomes(count), (error) =>
        error._tag === "LinkDatabasesMismatch" ? Effect.fail(error) : Effect.void
      ),
      PlacementCache.readEvery
    )
  )

/** A further database of links. */
export interface LinkDatabaseSession {
  readonly sql: SqlClient.SqlClient
  readonly changes: LinkInvalidationsService
  readonly isAway: () => boolean
}

/** Checks that a database is number `number` of the deployment, and marks it as that if it is new. */
const check = (number: number, deployment: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if ((yield* decisionOf(sql, "identity")) !== undefined) {
      return yield* mismatch(
        `database ${number} of LINK_DATABASE_URLS has a deployment of its own, or is that of DATABASE_URL.`
      )
    }
    const { decide } = yield* DeploymentStore.make
    const ours = `${deployment} ${number}`
    const decided = yield* decide(markName, ours)
    if (decided === ours) return
    const [whose, place] = decided.split(" ")
    return yield* mismatch(
      whose === deployment
        ? `database ${number} of LINK_DATABASE_URLS is database ${place} of this deployment: their order counts.`
        : `database ${number} of LINK_DATABASE_URLS has links of another deployment.`
    )
  })

/** Connects to a further database of links, brings its tables up to date, and checks that it is number `number` of the deployment. */
export const connect = (url: Redacted.Redacted, number: number, deployment: string) =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const servers = Layer.succeed(
      DatabaseServers.DatabaseServers,
      Context.get(yield* Layer.build(DatabaseServers.layer(url)), DatabaseServers.DatabaseServers)
    )
    yield* Effect.scoped(
      Layer.build(Layer.provide(Migrations.layer, Layer.provide(PostgresClient.layerUnbounded, servers)))
    )
    const built = yield* Layer.build(Layer.provide(PostgresClient.layer, servers))
    const sql = Context.get(built, SqlClient.SqlClient)
    yield* Effect.provideService(check(number, deployment), SqlClient.SqlClient, sql)
    // The time is that of the control database alone.
    const { isSettled, wallAhead_ms } = yield* TrustedTime
    const changes = yield* LinkInvalidationsPostgres.make.pipe(
      Effect.provide(servers),
      Effect.provideService(TrustedTime, { isSettled, wallAhead_ms, heard: () => Effect.void })
    )
    const session: LinkDatabaseSession = {
      sql,
      changes,
      isAway: () => changes.awayFor(monotonicNow_ms(clock)) !== undefined
    }
    return session
  })

/** Connects to all further databases, in their order. `drawn`: by what they know this deployment, unless that is decided. */
export const connectAll = (
  urls: ReadonlyArray<Redacted.Redacted>,
  drawn: string
): Effect.Effect<
  ReadonlyArray<LinkDatabaseSession>,
  LinkDatabasesMismatch | SqlError | StorageError,
  Scope.Scope | DeploymentStore.DeploymentStore
> =>
  Effect.gen(function* () {
    const { decide } = yield* DeploymentStore.DeploymentStore
    const deployment = yield* decide(deploymentName, drawn)
    return yield* Effect.forEach(urls, (url, index) => connect(url, index + 1, deployment))
  })

/** `BucketPlacement` of the control database. */
export const placementOf = (control: SqlClient.SqlClient): Effect.Effect<typeof BucketPlacement.Service> =>
  Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, control)
