import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, Option, Redacted } from "effect"
import { adminEmail, Administrator } from "./accounts/Administrator.ts"
import { AdminKey } from "./Deployment.ts"
import * as Node from "./Node.ts"
import { label } from "./storage/RedisUrl.ts"
import * as Secret from "./Secret.ts"
import { messageOf, type Settings, settings as readSettings } from "./Settings.ts"

const placeOf = ({ nodeRole, runnerHost, runnerPort }: Settings) =>
  nodeRole === "all"
    ? `A node of a cluster, for the others at ${runnerHost}:${runnerPort}`
    : "A node of a cluster that owns no actors"

const greeting = (
  settings: Settings,
  drawnPassword: Option.Option<Redacted.Redacted>,
  drawnKey: Option.Option<Redacted.Redacted>
) =>
  [
    `Linkmint listens at http://${settings.host}:${settings.port} and gives out ${settings.baseUrl.origin}/…`,
    Option.isNone(settings.databaseUrl) ? `Data folder: ${settings.dataDir}` : "Database: PostgreSQL",
    ...Option.match(settings.redisUrls, {
      onNone: () => [],
      onSome: (urls) => [`Pools: ${urls.map(label).join(", ")}`, placeOf(settings)]
    }),
    ...Option.match(drawnPassword, {
      onNone: () => [],
      onSome: (password) => [
        `Administrator: ${adminEmail}, password shown this once: ${Redacted.value(password)}`
      ]
    }),
    ...Option.match(drawnKey, {
      onNone: () => [],
      onSome: (key) => [`Admin key, shown this once: ${Redacted.value(key)}`]
    })
  ].join("\n")

const serve = (settings: Settings, identity: Node.NodeIdentity) =>
  Layer.launch(
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { drawnPassword } = yield* Administrator
        const { drawn } = yield* AdminKey
        yield* Console.log(greeting(settings, drawnPassword, drawn))
      })
    ).pipe(Layer.provide(Node.layer(settings, identity)), Layer.provide(NodeContext.layer))
  ).pipe(
    Effect.ensuring(Console.log("Linkmint has stopped.")),
    // Nobody sees the spans.
    Effect.withTracerEnabled(false),
    Logger.withMinimumLogLevel(settings.logLevel),
    Effect.provide(settings.logFormat === "json" ? Logger.json : Logger.pretty)
  )

const main = Effect.gen(function* () {
  const settings = yield* readSettings
  const incarnation = (yield* Secret.draw(8)).toString("hex")
  return yield* serve(settings, { pid: process.pid, incarnation })
}).pipe(Effect.tapError((error) => Console.error(`Linkmint cannot start. ${messageOf(error)}`)))

NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
