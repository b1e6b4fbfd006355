import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Data, Deferred, Duration, Effect, Layer, type Redacted, type Scope } from "effect"
import { TrustedTime } from "../../time/TrustedTime.ts"
import * as DeploymentStore from "../nodes/DeploymentStore.ts"
import * as Migrations from "../sql/Migrations.ts"
import * as DatabaseServers from "../sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../sql/postgres/PostgresClient.ts"
import type { StorageError } from "../StorageError.ts"

/** The databases that the settings name are not those that have what this deployment keeps there. Without a URL, which can hold a password. */
export class DatabasesMismatch extends Data.TaggedError("DatabasesMismatch")<{
  /** The setting that names them. */
  readonly setting: string
  readonly fault: string
}> {
  override get message() {
    return `${this.setting} or DATABASE_URL is wrong: ${this.fault}`
  }
}

/** What a further database has. */
export interface Kind {
  readonly setting: "LINK_DATABASE_URLS" | "VISIT_DATABASE_URLS"
  readonly has: "links" | "visits"
  /** The name of the decision in such a database which deployment and number it has. */
  readonly mark: string
  /** The name of the decision in the control database by what such databases know the deployment. */
  readonly deployment: string
}

/** Databases of links, and of visits. */
export const kinds: { readonly [Has in Kind["has"]]: Kind & { readonly has: Has } } = {
  links: {
    setting: "LINK_DATABASE_URLS",
    has: "links",
    mark: "link-database",
    deployment: "link-databases-of"
  },
  visits: {
    setting: "VISIT_DATABASE_URLS",
    has: "visits",
    mark: "visit-database",
    deployment: "visit-databases-of"
  }
}

const mismatch = ({ setting }: Kind, fault: string) => new DatabasesMismatch({ setting, fault })

/** A decision that was made before (`DeploymentStore`), in the database of a client. */
export const decisionOf = (
  sql: SqlClient.SqlClient,
  name: string
): Effect.Effect<string | undefined, SqlError> =>
  Effect.map(sql<{ value: string }>`SELECT value FROM deployment WHERE name = ${name}`, ([row]) => row?.value)

const hasDecisions = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ there: boolean }>`SELECT to_regclass('deployment') IS NOT NULL AS there`,
    ([row]) => row!.there
  )

/** Checks that the control database is no further one. */
export const checkIsControl: Effect.Effect<void, DatabasesMismatch | SqlError, SqlClient.SqlClient> =
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const kind of Object.values(kinds)) {
      const mark = yield* decisionOf(sql, kind.mark)
      if (mark === undefined) continue
      const [, number] = mark.split(" ")
      return yield* mismatch(
        kind,
        `DATABASE_URL names database ${number} of ${kind.has} of a deployment, which has no accounts. It belongs into ${kind.setting}, as number ${number}.`
      )
    }
  })

/** Which database is to be checked. */
export interface Checked {
  readonly kind: Kind
  /** Its number among those of its kind. */
  readonly number: number
  /** By what it knows the deployment. */
  readonly deployment: string
  /** Whether it may be one that is not marked yet. */
  readonly mayBeNew: boolean
}

/** Checks that a database is number `number` of its kind in the deployment, and marks it as that if it is new. */
export const check = ({ deployment, kind, mayBeNew, number }: Checked) =>
  Effect.gen(function* () {
    const { has, mark, setting } = kind
    const sql = yield* SqlClient.SqlClient
    const isNew = mismatch(
      kind,
      `database ${number} of ${setting} has nothing of this deployment: it is not the one that has that number, or no node has been started with it yet.`
    )
    // Only a node brings its tables up to date before this.
    if (!mayBeNew && !(yield* hasDecisions(sql))) return yield* isNew
    if ((yield* decisionOf(sql, "identity")) !== undefined) {
      return yield* mismatch(
        kind,
        `database ${number} of ${setting} has a deployment of its own, or is that of DATABASE_URL.`
      )
    }
    const other = has === "links" ? kinds.visits : kinds.links
    if ((yield* decisionOf(sql, other.mark)) !== undefined) {
      return yield* mismatch(kind, `database ${number} of ${setting} is one of ${other.setting}.`)
    }
    if (!mayBeNew && (yield* decisionOf(sql, mark)) === undefined) return yield* isNew
    const { decide } = yield* DeploymentStore.make
    const ours = `${deployment} ${number}`
    const decided = yield* decide(mark, ours)
    if (decided === ours) return
    const [whose, place] = decided.split(" ")
    return yield* mismatch(
      kind,
      whose === deployment
        ? `database ${number} of ${setting} is database ${place} of this deployment: their order counts.`
        : `database ${number} of ${setting} has ${has} of another deployment.`
    )
  })

/** Fails when a database that did not answer at the start turns out to be another one than it should be: then the process must not go on. By default all have been checked. */
export class DatabasesRefused extends Context.Reference<DatabasesRefused>()("linkmint/DatabasesRefused", {
  defaultValue: (): Effect.Effect<never, DatabasesMismatch> => Effect.never
}) {}

/** How often a database that does not answer at the start is tried again. */
const triedEvery = Duration.seconds(1)

/** A further database, and what is known of its servers. */
export interface FurtherDatabase {
  readonly sql: SqlClient.SqlClient
  readonly servers: DatabaseServers.DatabaseServersService
}

/** What {@link connect} is told. */
export interface Connecting extends Checked {
  readonly url: Redacted.Redacted
  /** Fails when it turns out to be another database after the start. */
  readonly refused: Deferred.Deferred<never, DatabasesMismatch>
  /** Whether it has to answer now. */
  readonly isNeeded?: boolean
}

/**
 * Connects to a further database. Nothing is asked there before its tables are up to date, and it is checked to be number `number` of the deployment: once now, and again every second in the
 * background as long as it does not answer. Its pool is closed until then. Where it is another database, this fails now, and `refused` later.
 */
export const connect = ({
  isNeeded = false,
  refused,
  url,
  ...checked
}: Connecting): Effect.Effect<FurtherDatabase, DatabasesMismatch | SqlError | StorageError, Scope.Scope> =>
  Effect.gen(function* () {
    const { kind, number } = checked
    const servers = Context.get(
      yield* Layer.build(DatabaseServers.layer(url)),
      DatabaseServers.DatabaseServers
    )
    servers.setOpen(false)
    const opening = PostgresClient.layerUnbounded.pipe(
      Layer.provide(Layer.succeed(DatabaseServers.DatabaseServers, { ...servers, isOpen: () => true }))
    )
    const open = Effect.gen(function* () {
      yield* Migrations.migrate
      yield* check(checked)
      servers.setOpen(true)
    }).pipe(Effect.provide(opening), Effect.scoped)
    const openLater = Effect.retry(Effect.delay(open, triedEvery), {
      while: ({ _tag }) => _tag !== "DatabasesMismatch"
    }).pipe(
      Effect.zipRight(Effect.logInfo(`Database ${number} of ${kind.has} can be used`)),
      Effect.catchTag("DatabasesMismatch", (error) => Deferred.fail(refused, error)),
      Effect.ignore
    )
    yield* isNeeded
      ? Effect.tapError(open, ({ _tag, message }) =>
          _tag === "DatabasesMismatch"
            ? Effect.void
            : Effect.logError(
                `Database ${number} of ${kind.has} has to answer at the first start with it: ${message}`
              )
        )
      : Effect.catchIf(
          open,
          (error): error is SqlError | StorageError => error._tag !== "DatabasesMismatch",
          ({ message }) =>
            Effect.zipRight(
              Effect.logWarning(
                `Database ${number} of ${kind.has} cannot be used yet, and is tried again every second: ${message}`
              ),
              Effect.forkScoped(openLater)
            )
        )
    const built = yield* Layer.build(
      Layer.provide(PostgresClient.layerUnasked, Layer.succeed(DatabaseServers.DatabaseServers, servers))
    )
    return { sql: Context.get(built, SqlClient.SqlClient), servers }
  })

/** Runs what keeps a session to a further database. The time is that of the control database alone. */
export const withoutTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(TrustedTime, ({ isSettled, wallAhead_ms }) =>
    Effect.provideService(effect, TrustedTime, { isSettled, wallAhead_ms, heard: () => Effect.void })
  )
