import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Console, Data, Effect, Layer, Logger, Option, Redacted } from "effect"
import { parseArgs } from "node:util"
import { adminEmail, Administrator } from "./accounts/Administrator.ts"
import { AdminKey } from "./Deployment.ts"
import * as Node from "./Node.ts"
import * as Processes from "./Processes.ts"
import { label } from "./storage/RedisUrl.ts"
import * as Secret from "./Secret.ts"
import { messageOf, type Settings, settings as readSettings } from "./Settings.ts"
import * as Tracing from "./Tracing.ts"

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
    ).pipe(
      Layer.provide(Node.layer(settings, identity)),
      Layer.provide(NodeContext.layer),
      Layer.provide(Option.match(settings.tracing, { onNone: () => Layer.empty, onSome: Tracing.layer }))
    )
  )

/** This process as a node, or as the one that starts such processes. */
const start = Effect.fnUntraced(function* (settings: Settings) {
  const { drainDelay, metricsPort, port, processes: count, runnerPort } = settings
  if (count > 1 && !Processes.isOneOfMany) {
    return yield* Processes.run({ count, port, runnerPort, metricsPort, drainDelay })
  }
  if (Processes.isOneOfMany) yield* Processes.ignoreRepeatedSignals
  const incarnation = (yield* Secret.draw(8)).toString("hex")
  return yield* serve(settings, { pid: process.pid, incarnation })
})

/** The command line is not usable. */
class WrongArguments extends Data.TaggedError("WrongArguments")<{ readonly message: string }> {}

/** `--processes n` says what `PROCESSES` says, and goes before it. */
const given = Effect.try({
  try: () => parseArgs({ options: { processes: { type: "string" } } }).values,
  catch: (error) => new WrongArguments({ message: error instanceof Error ? error.message : String(error) })
})

const main = Effect.gen(function* () {
  const { processes } = yield* given
  const said = new Map(processes === undefined ? [] : [["PROCESSES", processes]])
  const provider = ConfigProvider.orElse(ConfigProvider.fromMap(said), () => ConfigProvider.fromEnv())
  const settings = yield* Effect.withConfigProvider(readSettings, provider)
  return yield* start(settings).pipe(
    Effect.ensuring(Console.log("Linkmint has stopped.")),
    Effect.withTracerEnabled(Option.isSome(settings.tracing)),
    Logger.withMinimumLogLevel(settings.logLevel),
    Effect.provide(settings.logFormat === "json" ? Logger.json : Logger.pretty)
  )
}).pipe(Effect.tapError((error) => Console.error(`Linkmint cannot start. ${messageOf(error)}`)))

NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
