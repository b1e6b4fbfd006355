import { Command, ValidationError } from "@effect/cli"
import { FetchHttpClient } from "@effect/platform"
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql/SqlClient"
import { Config, Console, Context, Effect, Layer, Logger, LogLevel, Option, type Redacted } from "effect"
import * as Accounts from "../accounts/Accounts.ts"
import * as Sessions from "../accounts/Sessions.ts"
import * as Users from "../accounts/Users.ts"
import { AdminKey } from "../accounts/AdminKey.ts"
import { DeploymentName, layerMinter } from "../node/Deployment.ts"
import { version } from "../model/Version.ts"
import { poolInMemory, sqlite } from "../node/Node.ts"
import * as Passwords from "../accounts/Passwords.ts"
import * as Secret from "../secrets/Secret.ts"
import { messageOf, type Settings, settings as readSettings } from "../node/Settings.ts"
import * as Stock from "../node/Stock.ts"
import * as AccountStoreSql from "../storage/accounts/AccountStoreSql.ts"
import * as AuditLogSql from "../storage/accounts/AuditLogSql.ts"
import { DatabaseMark } from "../storage/nodes/DatabaseMark.ts"
import * as DatabaseMarkSql from "../storage/nodes/DatabaseMarkSql.ts"
import * as DomainStoreSql from "../storage/domains/DomainStoreSql.ts"
import * as DeploymentStore from "../storage/nodes/DeploymentStore.ts"
import * as KeyPoolRedis from "../storage/keys/KeyPoolRedis.ts"
import * as KeyRangeStoreSql from "../storage/keys/KeyRangeStoreSql.ts"
import { LinkDatabaseList } from "../storage/homes/LinkDatabaseList.ts"
import * as LinkDatabaseChecks from "../storage/homes/LinkDatabases.ts"
import * as LinkHomes from "../storage/homes/LinkHomes.ts"
import * as VisitDatabaseChecks from "../storage/homes/VisitDatabases.ts"
import * as LinkRemovalsSql from "../storage/links/LinkRemovalsSql.ts"
import * as LinkStoreSql from "../storage/links/LinkStoreSql.ts"
import * as Migrations from "../storage/sql/Migrations.ts"
import * as DatabasePresence from "../storage/sql/postgres/DatabasePresence.ts"
import * as DatabaseServers from "../storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../storage/sql/postgres/PostgresClient.ts"
import { StorageError } from "../storage/StorageError.ts"
import * as WebhookStoreSql from "../storage/webhooks/WebhookStoreSql.ts"
import { Witness } from "../storage/nodes/Witness.ts"
import * as Witnesses from "../node/Witnesses.ts"
import { commandsWith, ledger } from "./Commands.ts"
import { exportLinks } from "./ExportCommand.ts"
import { importLinks } from "./ImportCommand.ts"
import * as LinkApi from "./LinkApi.ts"
import { connections, LinkDatabases, moveBuckets } from "./MoveBuckets.ts"
import { moveVisits, VisitDatabases } from "./MoveVisits.ts"
import { plan } from "./PlanCommand.ts"
import { Refused } from "./Refused.ts"
import { skipKeys, Standstill } from "./SkipKeys.ts"

/** Fails where there is no deployment: a wrong setting should not create a new one. */
const isDeployedIn = Effect.fnUntraced(function* (dataDir: string) {
  const path = yield* Path
  const folder = path.resolve(dataDir)
  const isThere = yield* Effect.flatMap(FileSystem, (fs) => fs.exists(path.join(folder, "linkmint.db")))
  if (isThere) return
  return yield* new Refused({
    message: `There is no deployment in the data folder ${folder}, which has no linkmint.db. Set DATA_DIR, or DATABASE_URL, to what the deployment has.`
  })
})

/** See {@link isDeployedIn}. */
const isDeployedOn = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [row] = yield* sql<{ isThere: boolean }>`SELECT to_regclass('links') IS NOT NULL AS "isThere"`
  if (row!.isThere) return
  return yield* new Refused({
    message:
      "There is no deployment in the database of DATABASE_URL, which has no table of links. Set it to what the deployment has."
  })
})

/** The database, without a bound on statements: counting all links takes long. The nodes' caches follow within a second. */
const database = (settings: Settings) =>
  Option.match(settings.databaseUrl, {
    onNone: (): Layer.Layer<SqlClient, unknown, FileSystem | Path> =>
      Layer.unwrapEffect(Effect.as(isDeployedIn(settings.dataDir), sqlite(settings.dataDir, process.pid))),
    onSome: (url) =>
      Migrations.layer.pipe(
        Layer.provide(Layer.effectDiscard(isDeployedOn)),
        Layer.provideMerge(PostgresClient.layerUnbounded),
        Layer.provide(DatabaseServers.layer(url))
      )
  })

const pool = (settings: Settings) =>
  Option.match(settings.redisUrls, {
    onNone: () => poolInMemory(settings),
    onSome: (urls) =>
      Layer.unwrapEffect(
        Effect.map(DeploymentName, (namespace) => KeyPoolRedis.layer({ urls, namespace }))
      ).pipe(Layer.provide(layerMinter(settings)), Layer.provide(DeploymentStore.layer))
  })

/** The key file, where the deployment has one. */
const keyFile = (settings: Settings) =>
  Layer.unwrapEffect(
    Effect.map(
      Stock.keyFile(settings),
      Option.match({
        onNone: () => Layer.empty,
        onSome: (file) =>
          file.pipe(Layer.provide(layerMinter(settings)), Layer.provide(DeploymentStore.layer))
      })
    )
  )

/** The deployment at a standstill. On SQLite the lock of the data folder, which every command has, keeps others out. */
const standstill = (settings: Settings) =>
  Layer.effect(
    Standstill,
    Effect.gen(function* () {
      const namespace = yield* DeploymentName
      const witness = yield* Witness
      const { identity } = yield* DatabaseMark
      const control = yield* SqlClient
      const further = (yield* LinkDatabaseList).slice(1).map(({ sql }) => sql)
      const presence = (url: Redacted.Redacted) =>
        DatabasePresence.make("alone").pipe(
          Effect.provide(DatabaseServers.layer(url)),
          Effect.asVoid,
          Effect.mapError((error) =>
            error._tag === "DatabaseInUse"
              ? new Refused({ message: "Linkmint processes work on this database. Stop all of them first." })
              : new StorageError({ operation: "Standstill.hold", applied: "no", reason: error.message })
          )
        )
      return {
        // A backup can be of a former version: tables are brought up to date in what is certain to be the deployment's.
        further: Option.match(settings.databaseUrl, {
          onNone: () => Effect.succeed([]),
          onSome: () =>
            Effect.forEach(further, (sql, index) =>
              Effect.mapError(
                sql`SELECT 1`,
                ({ message }) =>
                  new Refused({
                    message: `All databases of links are needed, and database ${index + 1} does not answer: ${message}`
                  })
              )
            ).pipe(
              Effect.zipRight(LinkDatabaseChecks.checkAll(control, further)),
              Effect.zipRight(
                Effect.forEach(further, (sql) => Effect.provideService(Migrations.migrate, SqlClient, sql))
              ),
              Effect.as(further)
            )
        }),
        hold: Option.match(settings.databaseUrl, { onNone: () => Effect.void, onSome: presence }),
        emptyPools: Option.match(settings.redisUrls, {
          onNone: () => Effect.void,
          onSome: (urls) => KeyPoolRedis.forget({ urls, namespace })
        }),
        adopt: Effect.flatMap(identity, witness.adopt)
      }
    })
  ).pipe(
    Layer.provide([
      DatabaseMarkSql.layer,
      Option.match(settings.redisUrls, {
        onNone: () => Witnesses.alone(settings),
        onSome: Witnesses.clustered
      })
    ]),
    Layer.provideMerge(Layer.merge(layerMinter(settings), KeyRangeStoreSql.layer)),
    Layer.provide(DeploymentStore.layer)
  )

/** What commands need of links: in all databases that have some. Nothing is told of what they change but to nodes' caches. */
const links = (settings: Settings) =>
  settings.linkDatabaseUrls.length === 0
    ? Layer.merge(LinkStoreSql.layer, LinkRemovalsSql.layer)
    : LinkHomes.layerOfCommand(settings.linkDatabaseUrls)

/** A client for what takes long. */
const patient = (url: Redacted.Redacted) =>
  Effect.map(
    Layer.build(PostgresClient.layerBounded(connections).pipe(Layer.provide(DatabaseServers.layer(url)))),
    (context) => Context.get(context, SqlClient)
  )

/** All databases of links, which nodes work with. */
const linkDatabases = (settings: Settings) =>
  Layer.scoped(
    LinkDatabases,
    Effect.gen(function* () {
      if (Option.isNone(settings.databaseUrl) || settings.linkDatabaseUrls.length === 0) {
        return yield* new Refused({
          message:
            "There is one database of links. Set LINK_DATABASE_URLS, beside DATABASE_URL, to what the deployment has."
        })
      }
      const urls = [settings.databaseUrl.value, ...settings.linkDatabaseUrls]
      const databases = yield* Effect.forEach(urls, (url, number) =>
        Effect.map(patient(url), (sql) => [number, { sql, url }] as const)
      )
      const [control, ...further] = databases.map(([, { sql }]) => sql)
      yield* Effect.provideService(isDeployedOn, SqlClient, control!)
      yield* LinkDatabaseChecks.checkAll(control!, further)
      return new Map(databases)
    })
  )

/** All databases of links, and those of visits, which nodes work with. */
const visitDatabases = ({ databaseUrl, linkDatabaseUrls, visitDatabaseUrls }: Settings) =>
  Layer.scoped(
    VisitDatabases,
    Effect.gen(function* () {
      if (Option.isNone(databaseUrl) || visitDatabaseUrls.length === 0) {
        return yield* new Refused({
          message:
            "Visits are with their links. Set VISIT_DATABASE_URLS, beside DATABASE_URL, to what the deployment has."
        })
      }
      const links = yield* Effect.forEach([databaseUrl.value, ...linkDatabaseUrls], patient)
      const targets = yield* Effect.forEach(visitDatabaseUrls, patient)
      const [control, ...further] = links
      yield* Effect.provideService(isDeployedOn, SqlClient, control!)
      yield* LinkDatabaseChecks.checkAll(control!, further)
      yield* VisitDatabaseChecks.checkAll(control!, targets)
      return { sources: links.map((sql, number) => ({ sql, number })), targets }
    })
  )

/** The HTTP API of the deployment, or of the one that `BASE_URL` says. */
const linkApi = ({ baseUrl }: Settings) =>
  Layer.unwrapEffect(
    Config.redacted("API_KEY").pipe(
      Effect.mapError(
        () =>
          new Refused({ message: "Set API_KEY to an API key with the scopes links:read and links:write." })
      ),
      Effect.map((apiKey) => LinkApi.layer(baseUrl, apiKey))
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))

/** `npm run admin -- …` */
const admin = (settings: Settings) => {
  // Built only for a command that needs them: `--help` needs no database.
  const provided = services(settings)
  return Command.make("admin").pipe(
    Command.withDescription("Manages the deployment that the environment's settings describe"),
    Command.withSubcommands([
      plan,
      exportLinks.pipe(Command.provide(linkApi(settings))),
      importLinks.pipe(Command.provide(linkApi(settings))),
      ...commandsWith(provided),
      moveBuckets.pipe(Command.provide(linkDatabases(settings))),
      moveVisits.pipe(Command.provide(visitDatabases(settings))),
      ledger.pipe(Command.provide(Layer.merge(pool(settings), keyFile(settings))), Command.provide(provided)),
      skipKeys.pipe(Command.provide(standstill(settings)), Command.provide(provided))
    ])
  )
}

const sessions = ({ sessionIdle }: Settings) => Sessions.layer({ idle: sessionIdle })

/** The services of the commands. No API key is presented here, so the administrator's is neither needed nor drawn. */
const services = (settings: Settings) =>
  Layer.mergeAll(Layer.provide(Accounts.layer, sessions(settings)), Users.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(AccountStoreSql.layer, AuditLogSql.layer, DomainStoreSql.layer, links(settings))
    ),
    Layer.provide([
      WebhookStoreSql.layer,
      Passwords.layer,
      Layer.succeed(AdminKey, { digest: Secret.digest(""), drawn: Option.none() })
    ]),
    Layer.provideMerge(database(settings))
  )

/** Runs a command line, by the settings of the `ConfigProvider`. What it prints, the reason why it fails included, goes to the `Console`. */
export const run = (commandLine: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const settings = yield* readSettings
    yield* Command.run(admin(settings), { name: "Linkmint", version, executable: "npm run admin --" })(
      commandLine
    )
  }).pipe(
    Effect.provide(NodeContext.layer),
    Logger.withMinimumLogLevel(LogLevel.Warning),
    // Errors of the command line have been printed already.
    Effect.tapError((error) =>
      ValidationError.isValidationError(error) ? Effect.void : Console.error(messageOf(error))
    )
  )
