import { RunnerAddress, RunnerStorage } from "@effect/cluster"
import { it } from "@effect/vitest"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Cause, Context, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { describe, expect } from "vitest"
import * as DatabaseServers from "../../../src/storage/sql/postgres/DatabaseServers.ts"
import * as ClusterRunner from "../../../src/node/ClusterRunner.ts"
import { type PgMessage, RunnerDatabase } from "../../../src/sim/cluster/RunnerDatabase.ts"
import * as VirtualSql from "../../../src/sim/cluster/VirtualSql.ts"
import { VirtualTcp } from "../../../src/sim/cluster/VirtualTcp.ts"
import { Network } from "../../../src/sim/world/Network.ts"
import { fork } from "../../../src/sim/world/ProcessServices.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { VirtualServer } from "../../../src/sim/world/VirtualServer.ts"
import { World } from "../../../src/sim/world/World.ts"
import { describePostgres, freshDatabase } from "../../support/services/postgres/Postgres.ts"
import { makeCuttingProxy } from "../../support/CuttingProxy.ts"
import { laws, type MakeMember, type Member } from "./RunnerStorageLaws.ts"

const memberOf = (
  port: number,
  sql: Layer.Layer<SqlClient, SqlError>,
  { disconnect, silence }: Pick<Member, "disconnect" | "silence">
) => {
  const identity = { host: "node", port, listenHost: "node", role: "all" } as const
  const layer = ClusterRunner.storage.pipe(Layer.provide(sql), Layer.provide(ClusterRunner.config(identity)))
  return Effect.map(Layer.build(layer), (context) => ({
    storage: Context.get(context, RunnerStorage.RunnerStorage),
    address: RunnerAddress.make("node", port),
    disconnect,
    silence
  }))
}

const onPostgres = Effect.gen(function* () {
  const url = Redacted.make(yield* freshDatabase)
  const administrator = Context.get(yield* Layer.build(PgClient.layer({ url })), PgClient.PgClient)
  const make: MakeMember = Effect.fn(function* (port) {
    const applicationName = `runner ${port}`
    const way = yield* makeCuttingProxy(Redacted.value(url))
    const sql = Layer.provide(
      ClusterRunner.runnerSql(applicationName),
      DatabaseServers.layer(Redacted.make(way.url))
    )
    const disconnect = administrator`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = ${applicationName}`
    return yield* memberOf(port, sql, {
      disconnect: Effect.orDie(Effect.asVoid(disconnect)),
      silence: Effect.sync(way.silence)
    })
  })
  return make
})

/** Makes members in a world, each in a process of its own. */
const inWorld = (world: World): MakeMember => {
  const network = new Network(world, {
    latency_us: { least: 200, mean: 800 },
    delay: { probability: 0.01, max_ms: 50 }
  })
  const none = () => ({ refused: 0, lost: 0, ignored: 0 })
  const crashPoint = () => {}
  const server = new VirtualServer(world, network, {
    name: "database",
    faults: none,
    answerMax_ms: 3_000,
    inOrder: true,
    crashPoint
  })
  const tcp = new VirtualTcp<PgMessage>(world, network)
  const database = new RunnerDatabase(world, tcp, server)
  return (port) => {
    const applicationName = `runner ${port}`
    const process = world.spawn(applicationName, 1)
    const sql = VirtualSql.layer({
      tcp,
      process,
      machine: server.name,
      applicationName,
      faults: none,
      crashPoint
    })
    return memberOf(port, sql, {
      disconnect: Effect.sync(() => database.terminate(applicationName)),
      silence: Effect.sync(() => database.silence(applicationName))
    })
  }
}

/** Runs an effect in a world of its own, for a virtual minute at most. */
const runVirtual = (seed: number, body: (world: World) => Effect.Effect<void, unknown>) => {
  const world = new World({ seed, preemption: 0.02, keepTrace: false })
  const process = world.spawn("test", 1)
  let exit: Exit.Exit<void, unknown> = Exit.die("it did not end in a minute")
  world.after(0, process, () => {
    fork(process, body(world)).addObserver((result) => {
      exit = result
    })
  })
  world.runUntil(60 * s_us)
  world.end()
  if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
}

describe("the simulated runner storage", () => {
  for (const [title, law] of Object.entries(laws))
    it(title, () => {
      for (let seed = 1; seed <= 10; seed++)
        runVirtual(seed, (world) => Effect.scoped(law(inWorld(world), "virtual")))
    })
})

describePostgres("runner storage on PostgreSQL, as it is simulated", () => {
  for (const [title, law] of Object.entries(laws))
    it.scopedLive(title, () => Effect.flatMap(onPostgres, (make) => law(make, "real")))

  it.scopedLive(
    "has the statements of its connection wait for each other, and takes back one that waits",
    () =>
      Effect.gen(function* () {
        const servers = DatabaseServers.layer(Redacted.make(yield* freshDatabase))
        const client = Layer.provide(ClusterRunner.runnerSql("runner"), servers)
        const layer = Layer.provide(ClusterRunner.turnTaking, client)
        const sql = Context.get(yield* Layer.build(layer), SqlClient)
        const connection = yield* sql.reserve
        const ask = (text: string) => connection.executeValues(`SELECT ${text}`, [])
        const first = yield* Effect.fork(ask("pg_sleep(0.3)::text, 'first'"))
        yield* Effect.yieldNow()
        const others = yield* Effect.forEach(["second", "third", "fourth"], (name) =>
          Effect.fork(ask(`'${name}'`))
        )
        yield* Effect.yieldNow()
        // Interrupting one that is under way cancels it at the server, and with it whatever is under way there.
        yield* Fiber.interrupt(others[1]!)
        expect(yield* Fiber.join(first)).toEqual([["", "first"]])
        expect(yield* Fiber.join(others[0]!)).toEqual([["second"]])
        expect(yield* Fiber.join(others[2]!)).toEqual([["fourth"]])
      })
  )
})

describe("the laws of runner storage", () => {
  it.scoped("are broken by one that grants every shard to everybody", () =>
    Effect.gen(function* () {
      const storage = yield* RunnerStorage.makeMemory
      const make: MakeMember = (port) =>
        Effect.succeed({
          storage,
          address: RunnerAddress.make("node", port),
          disconnect: Effect.void,
          silence: Effect.void
        })
      const exit = yield* Effect.exit(laws["grants a shard to one alone"]!(make, "virtual"))
      expect(Exit.isFailure(exit)).toBe(true)
    })
  )
})
