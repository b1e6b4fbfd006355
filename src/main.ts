import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { ConfigError, Console, Effect, Layer, Logger, Option, Redacted } from "effect"
import { AdminKey } from "./Deployment.ts"
import * as Node from "./Node.ts"
import { faultsOf, type Settings, settings as readSettings } from "./Settings.ts"

const greeting = (settings: Settings, drawnKey: Option.Option<Redacted.Redacted>) =>
  [
    `Linkmint listens at http://${settings.host}:${settings.port} and gives out ${settings.baseUrl.origin}/…`,
    Option.isNone(settings.databaseUrl) ? `Data folder: ${settings.dataDir}` : "Database: PostgreSQL",
    ...Option.match(drawnKey, {
      onNone: () => [],
      onSome: (key) => [`Admin key, shown this once: ${Redacted.value(key)}`]
    })
  ].join("\n")

const serve = (settings: Settings) =>
  Layer.launch(
    Layer.effectDiscard(Effect.flatMap(AdminKey, ({ drawn }) => Console.log(greeting(settings, drawn)))).pipe(
      Layer.provide(Node.layer(settings, process.pid)),
      Layer.provide(NodeContext.layer)
    )
  ).pipe(
    Effect.ensuring(Console.log("Linkmint has stopped.")),
    Logger.withMinimumLogLevel(settings.logLevel),
    Effect.provide(settings.logFormat === "json" ? Logger.json : Logger.pretty)
  )

const messageOf = (error: unknown): string => {
  if (ConfigError.isConfigError(error)) {
    return ["The settings are not usable:", ...faultsOf(error).map((fault) => `  ${fault}`)].join("\n")
  }
  return error instanceof Error ? error.message : String(error)
}

const main = Effect.flatMap(readSettings, serve).pipe(
  Effect.tapError((error) => Console.error(`Linkmint cannot start. ${messageOf(error)}`))
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
