import { Entity, Sharding } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Deferred, Effect, type Fiber, FiberId, Layer, Schedule, Schema } from "effect"
import { expect } from "vitest"
import { orUnavailable } from "../../../src/actors/Unavailable.ts"
import { owned, shardsPerGroup } from "../../../src/actors/Shards.ts"
import { ClusterPlacement } from "../../../src/sim/cluster/ClusterPlacement.ts"
import { Network } from "../../../src/sim/world/Network.ts"
import { fork } from "../../../src/sim/world/ProcessServices.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { type CallFaults, VirtualServer } from "../../../src/sim/world/VirtualServer.ts"
import { World } from "../../../src/sim/world/World.ts"

/** An actor that says which process it lives in. */
const Resident = Entity.make("Resident", [Rpc.make("Where", { success: Schema.String })])

/** The three machines that runners live on. */
export const names = ["a", "b", "c"] as const
export type Name = (typeof names)[number]

export interface Answer {
  readonly actor: string
  readonly from: string
  readonly owner: string
  readonly at_us: number
}

interface Running {
  readonly process: VirtualProcess
  readonly main: Fiber.RuntimeFiber<void, unknown>
  readonly ready: Deferred.Deferred<Sharding.Sharding["Type"]>
  sharding: Sharding.Sharding["Type"] | undefined
}

const noFaults: CallFaults = { refused: 0, lost: 0, ignored: 0 }

/** Three runners of a world, and what they answered. */
export class Runners {
  readonly world: World
  readonly network: Network
  readonly server: VirtualServer
  readonly placement: ClusterPlacement
  readonly answers: Array<Answer> = []
  /** Why calls failed that were tried again. */
  readonly failures: Array<string> = []
  readonly running = new Map<Name, Running>()
  faults = noFaults
  #calls = 0

  constructor(seed: number, preemption = 0.02) {
    this.world = new World({ seed, preemption, keepTrace: false })
    this.network = new Network(this.world, {
      latency_us: { least: 200, mean: 800 },
      delay: { probability: 0.01, max_ms: 50 }
    })
    const faults = () => this.faults
    const crashPoint = () => {}
    this.server = new VirtualServer(this.world, this.network, {
      name: "database",
      faults: () => noFaults,
      answerMax_ms: 3_000,
      inOrder: true,
      crashPoint
    })
    const { network, server, world } = this
    this.placement = new ClusterPlacement({ world, network, server, faults, crashPoint })
  }

  /** Starts the runner of a machine, or starts it again. */
  start(name: Name, incarnation = 1) {
    const process = this.world.spawn(name, incarnation)
    this.world.after(0, process, () => {
      const ready = Deferred.unsafeMake<Sharding.Sharding["Type"]>(FiberId.none)
      const main = fork(process, this.#main(name, process, ready))
      main.addObserver(() => process.kill())
      this.running.set(name, { process, main, ready, sharding: undefined })
    })
  }

  startAll() {
    for (const name of names) this.start(name)
    this.runFor(8)
  }

  process(name: Name): VirtualProcess {
    return this.running.get(name)!.process
  }

  /** SIGTERM. */
  stop(name: Name) {
    const { main, process } = this.running.get(name)!
    this.world.after(0, process, () => process.post(() => main.unsafeInterruptAsFork(main.id())))
  }

  /** SIGSTOP for a time. */
  pause(name: Name, for_us: number) {
    const process = this.process(name)
    process.isPaused = true
    this.world.after(for_us, null, () => {
      process.isPaused = false
    })
  }

  /** Runs for some virtual seconds. */
  runFor(seconds: number) {
    this.world.runUntil(this.world.now_us + seconds * s_us)
  }

  /** Asks an actor from a machine, again when the way to it broke; the answer stands in `answers` when it has come. */
  ask(name: Name, actor: string) {
    const { process, ready } = this.running.get(name)!
    this.world.after(0, process, () => {
      fork(
        process,
        Effect.gen(this, function* () {
          const client = yield* Resident.client.pipe(
            Effect.provideServiceEffect(Sharding.Sharding, Deferred.await(ready))
          )
          const owner = yield* orUnavailable(client(actor).Where()).pipe(
            Effect.tapError(({ reason }) => Effect.sync(() => this.failures.push(reason))),
            Effect.retry(Schedule.spaced(50))
          )
          this.answers.push({ actor, from: process.id, owner, at_us: this.world.now_us })
        }).pipe(Effect.scoped)
      )
    })
  }

  /** Asks evenly from the machines that run, so often a second. */
  askFor(seconds: number, callsPerSecond: number) {
    const calls = seconds * callsPerSecond
    for (let call = 0; call < calls; call++) {
      this.world.after((call * s_us) / callsPerSecond, null, () => {
        const alive = names.filter((name) => this.running.get(name)?.process.isAlive === true)
        const number = this.#calls++
        const name = alive[number % alive.length]
        if (name !== undefined) this.ask(name, `actor ${number % 50}`)
      })
    }
    this.runFor(seconds)
  }

  /** The process that holds each shard in the database, by its id. */
  owners(): ReadonlyArray<string | undefined> {
    return Array.from({ length: shardsPerGroup }, (_, index) =>
      this.placement.database.holderOf(1_000_000 + index + 1)?.replace("linkmint-runner-", "")
    )
  }

  /** How many shards a process holds in the database. */
  held(id: string): number {
    return this.owners().filter((owner) => owner === id).length
  }

  /** The shards that a process holds in the database, in their order. */
  heldShards(id: string): ReadonlyArray<number> {
    return this.owners().flatMap((owner, index) => (owner === id ? [index + 1] : []))
  }

  /** The shards that a machine's runner believes that it owns, in their order. */
  believes(name: Name): ReadonlyArray<number> {
    const { sharding } = this.running.get(name)!
    return sharding === undefined ? [] : owned(sharding)
  }

  #main(name: Name, process: VirtualProcess, ready: Deferred.Deferred<Sharding.Sharding["Type"]>) {
    const resident = Resident.toLayer(
      { Where: () => Effect.succeed(process.id) },
      { maxIdleTime: "1 minute" }
    )
    const layer = resident.pipe(Layer.provideMerge(this.placement.layer(process)))
    return Effect.gen(this, function* () {
      const sharding = yield* Sharding.Sharding
      this.running.get(name)!.sharding = sharding
      yield* Deferred.succeed(ready, sharding)
      return yield* Effect.never
    }).pipe(Effect.provide(layer))
  }
}

/** All shards are held, by these processes. */
export const expectAllHeld = (runners: Runners, ids: ReadonlyArray<string>) => {
  const owners = runners.owners()
  expect(owners).not.toContain(undefined)
  expect(Array.from(new Set(owners)).toSorted()).toEqual([...ids].toSorted())
}

/** Lets JavaScript's own event loop turn, which a run holds up: the test runner gives a test file up that is not heard of for a minute. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
