import { Command, ValidationError } from "@effect/cli"
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { SqlClient } from "@effect/sql/SqlClient"
import { Console, Effect, Layer, Logger, LogLevel, Option } from "effect"
import * as Accounts from "../accounts/Accounts.ts"
import { AdminKey, DeploymentName, layerMinter } from "../Deployment.ts"
import { poolInMemory, sqlite } from "../Node.ts"
import * as Passwords from "../Passwords.ts"
import * as Secret from "../Secret.ts"
import { messageOf, type Settings, settings as readSettings } from "../Settings.ts"
import * as Stock from "../Stock.ts"
import * as AccountStoreSql from "../storage/AccountStoreSql.ts"
import * as DeploymentStoreSql from "../storage/DeploymentStoreSql.ts"
import * as KeyPoolRedis from "../storage/KeyPoolRedis.ts"
import * as KeyRangeStoreSql from "../storage/KeyRangeStoreSql.ts"
import * as LinkStoreSql from "../storage/LinkStoreSql.ts"
import * as Migrations from "../storage/Migrations.ts"
import * as PostgresClient from "../storage/PostgresClient.ts"
import { asStorageError } from "../storage/SqlTransaction.ts"
import { commands } from "./Commands.ts"
import { Refused } from "./Refused.ts"
import { skipKeys, Standstill } from "./SkipKeys.ts"

/** The database itself, without a bound on statements: counting all links takes its time. The nodes' caches are at most a second behind. */
const database = (settings: Settings) =>
  Option.match(settings.databaseUrl, {
    onNone: (): Layer.Layer<SqlClient, unknown, FileSystem | Path> => sqlite(settings.dataDir, process.pid),
    onSome: (url) => Migrations.layer.pipe(Layer.provideMerge(PostgresClient.layerUnbounded(url)))
  })

const pool = (settings: Settings) =>
  Option.match(settings.redisUrls, {
    onNone: () => poolInMemory(settings),
    onSome: (urls) =>
      Layer.unwrapEffect(
        Effect.map(DeploymentName, (namespace) => KeyPoolRedis.layer({ urls, namespace }))
      ).pipe(Layer.provide(layerMinter(settings)), Layer.provide(DeploymentStoreSql.layer))
  })

/** The key file of a process alone, where it has one. */
const keyFile = (settings: Settings) =>
  Layer.unwrapEffect(
    Effect.map(
      Stock.keyFile(settings),
      Option.match({
        onNone: () => Layer.empty,
        onSome: (file) =>
          file.pipe(Layer.provide(layerMinter(settings)), Layer.provide(DeploymentStoreSql.layer))
      })
    )
  )

/** The deployment at a standstill. On SQLite the lock of the data folder, which every command has, keeps others out. */
const standstill = (settings: Settings) =>
  Layer.effect(
    Standstill,
    Effect.gen(function* () {
      const namespace = yield* DeploymentName
      const sql = yield* SqlClient
      const presence = Layer.build(PostgresClient.layerPresence("alone")).pipe(
        Effect.provideService(SqlClient, sql),
        Effect.asVoid,
        Effect.catchTag(
          "DatabaseInUse",
          () => new Refused({ message: "Linkmint processes work on this database. Stop all of them first." })
        ),
        asStorageError("Standstill.hold")
      )
      return {
        hold: Option.isSome(settings.databaseUrl) ? presence : Effect.void,
        emptyPools: Option.match(settings.redisUrls, {
          onNone: () => Effect.void,
          onSome: (urls) => KeyPoolRedis.forget({ urls, namespace })
        })
      }
    })
  ).pipe(
    Layer.provideMerge(Layer.merge(layerMinter(settings), KeyRangeStoreSql.layer)),
    Layer.provide(DeploymentStoreSql.layer)
  )

/** `npm run admin -- …` */
const admin = (settings: Settings) =>
  Command.make("admin").pipe(
    Command.withDescription("Manages the deployment that the environment's settings describe"),
    Command.withSubcommands([...commands, Command.provide(skipKeys, standstill(settings))])
  )

/** What the commands work with. Nobody shows an API key here, so that the administrator's is not needed, nor drawn. */
const services = (settings: Settings) =>
  Layer.mergeAll(Accounts.layer, LinkStoreSql.layer, pool(settings), keyFile(settings)).pipe(
    Layer.provideMerge(AccountStoreSql.layer),
    Layer.provide([
      Passwords.layer,
      Layer.succeed(AdminKey, { digest: Secret.digest(""), drawn: Option.none() })
    ]),
    Layer.provideMerge(database(settings))
  )

const main = Effect.gen(function* () {
  const settings = yield* readSettings
  // Built for a command alone: whoever asks for help needs no database.
  const provided = Command.provide(admin(settings), services(settings))
  const run = Command.run(provided, { name: "Linkmint", version: "1.0.0", executable: "npm run admin --" })
  yield* run(process.argv)
}).pipe(
  Effect.provide(NodeContext.layer),
  Logger.withMinimumLogLevel(LogLevel.Warning),
  // What is wrong with the command itself has been said by then.
  Effect.tapError((error) =>
    ValidationError.isValidationError(error) ? Effect.void : Console.error(messageOf(error))
  )
)

NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
