import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Data, Duration, Effect, Layer, Logger, Option, Redacted } from "effect"
import { parseArgs } from "node:util"
import { adminEmail, Administrator } from "./accounts/Administrator.ts"
import { AdminKey } from "./accounts/AdminKey.ts"
import * as Environment from "./node/Environment.ts"
import * as FairScheduler from "./fibers/FairScheduler.ts"
import * as Metered from "./telemetry/Metered.ts"
import { visitsWaiting } from "./visits/Visits.ts"
import * as Node from "./node/Node.ts"
import * as Processes from "./node/Processes.ts"
import { DatabasesRefused } from "./storage/homes/FurtherDatabase.ts"
import * as LinkDatabases from "./storage/homes/LinkDatabases.ts"
import { DatabasePresence } from "./storage/sql/postgres/DatabasePresence.ts"
import { label } from "./storage/redis/RedisUrl.ts"
import * as Secret from "./secrets/Secret.ts"
import * as SecretFiles from "./node/SecretFiles.ts"
import { examples, messageOf, type Settings, settings as readSettings } from "./node/Settings.ts"
import * as Signals from "./terminal/Signals.ts"
import * as Tracing from "./telemetry/Tracing.ts"
import { version } from "./model/Version.ts"

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

/** Serves until it is interrupted, or until it has lost the database to another process, or links are moved to a database that it does not know. */
const serve = (settings: Settings, identity: Node.NodeIdentity) =>
  Layer.build(
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { drawnPassword } = yield* Administrator
        const { drawn } = yield* AdminKey
        yield* Console.log(greeting(settings, drawnPassword, drawn))
      })
    ).pipe(
      Layer.provideMerge(Node.layer(settings, identity)),
      Layer.provide(NodeContext.layer),
      Layer.provide(Option.match(settings.tracing, { onNone: () => Layer.empty, onSome: Tracing.layer }))
    )
  ).pipe(
    Effect.flatMap((context) =>
      Effect.flatMap(DatabasePresence, ({ lost }) =>
        Option.isNone(settings.databaseUrl)
          ? lost
          : Effect.raceFirst(
              lost,
              Effect.raceFirst(
                LinkDatabases.homesUnknown(1 + settings.linkDatabaseUrls.length),
                Effect.flatten(DatabasesRefused)
              )
            )
      ).pipe(Effect.provide(context))
    ),
    Effect.scoped
  )

/** Whether this process is to start others, which serve. */
const isFirstOfMany = ({ processes }: Settings) => processes > 1 && !Processes.isOneOfMany

/** Runs this process as a node, or starts several processes as nodes. */
const start = Effect.fnUntraced(function* (settings: Settings) {
  const { drainDelay, metricsPort, port, processes: count, runnerPort } = settings
  if (isFirstOfMany(settings)) {
    return yield* Processes.run({ count, port, runnerPort, metricsPort, drainDelay })
  }
  const incarnation = (yield* Secret.draw(8)).toString("hex")
  return yield* serve(settings, { pid: process.pid, incarnation })
})

/** The command line is invalid. */
class WrongArguments extends Data.TaggedError("WrongArguments")<{ readonly message: string }> {}

/** `--processes n` means the same as `PROCESSES`, and takes precedence over it. */
const given = Effect.try({
  try: () =>
    parseArgs({
      options: {
        processes: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" }
      }
    }).values,
  catch: (error) => new WrongArguments({ message: error instanceof Error ? error.message : String(error) })
})

const usage = () => `Usage: npm start -- [options]

Linkmint ${version}: shortens URLs, at http://localhost:8080 unless told otherwise.

  --processes N   how many nodes of a cluster to start here, as PROCESSES says
  --version       print the version
  --help          print this

Settings are environment variables; docs/settings.md has what each means. For example:

${[...examples].map(([name, example]) => `  ${name}=${example}`).join("\n")}

A secret can be in a file: ${SecretFiles.secretSettings.map(SecretFiles.fileVariable).join(", ")}.`

// Only the user of this process may read the files that it writes.
process.umask(0o077)

const run = Effect.fnUntraced(function* (processes: string | undefined) {
  const said = new Map(processes === undefined ? [] : [["PROCESSES", processes]])
  const settings = yield* Effect.withConfigProvider(readSettings, yield* Environment.provider(said))
  return yield* Effect.zipRight(
    Processes.isOneOfMany ? Effect.void : Environment.warnOfMisspelt,
    start(settings)
  ).pipe(
    // One of several processes ends with the process that started it.
    Signals.handling({
      isImpatient: !Processes.isOneOfMany,
      max: isFirstOfMany(settings)
        ? Processes.allStopMax(settings.drainDelay)
        : Duration.sum(settings.drainDelay, Processes.shutdownMax)
    }),
    Effect.onInterrupt(() => Console.log("Linkmint has stopped.")),
    Effect.withTracerEnabled(Option.isSome(settings.tracing)),
    Logger.withMinimumLogLevel(settings.logLevel),
    Effect.provide(settings.logFormat === "json" ? Logger.json : Logger.pretty)
  )
})

const main = Effect.gen(function* () {
  const { help, processes, version: asksVersion } = yield* given
  if (help) return yield* Console.log(usage())
  if (asksVersion) return yield* Console.log(version)
  return yield* run(processes)
}).pipe(
  Effect.tapError((error) => Console.error(`Linkmint cannot start. ${messageOf(error)}`)),
  FairScheduler.within
)

// After a graceful shutdown none wait. A process that ends otherwise reports how many visits it loses, where it still can.
process.on("exit", () => {
  const { value } = Metered.read(visitsWaiting)
  if (value > 0) process.stderr.write(`Dropped ${value} visits: the process ended before they were written\n`)
})

NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
