import { Effect, Exit, Layer, type Scope } from "effect"
import * as Concurrent from "../../fibers/Concurrent.ts"
import { toStrings } from "../../keys/PackedKeys.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import * as KeyPoolShard from "../../storage/keys/KeyPoolShard.ts"
import { StorageError } from "../../storage/StorageError.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { asStorageError } from "./StoreCalls.ts"
import type { VirtualRedis } from "./VirtualRedis.ts"

/** How long connecting may take, and the least and the greatest pause before it is tried again; as `RedisClient` has them. */
const connectMax_us = 1_000 * ms_us
const pauseMin_us = 50 * ms_us
const pauseMax_us = 500 * ms_us

/**
 * A process's connection to one Redis, as `RedisClient` looks after it: given up when a call was not answered or could not be sent, and made
 * again. Without one, calls fail at once.
 */
class Connection {
  readonly #redis: VirtualRedis
  readonly #process: VirtualProcess
  readonly #chance: Chance
  readonly #forget: () => void
  readonly #whenTried: Array<() => void> = []
  #isOpen = true
  #isConnected = false
  #isTried = false
  /** Which connection this is, or would be: what is heard of an earlier one means nothing any more. */
  #number = 0
  #reason = "not connected yet"

  constructor(redis: VirtualRedis, process: VirtualProcess) {
    this.#redis = redis
    this.#process = process
    this.#chance = process.world.chance("connections of Redis")
    this.#forget = redis.open(() => this.#reset())
    process.whenDead(this.#forget)
    this.#connect(pauseMin_us)
  }

  /** Waits until connecting was tried once. */
  readonly tried = Effect.async<void>((resume) => {
    if (this.#isTried) resume(Effect.void)
    else this.#whenTried.push(() => resume(Effect.void))
  })

  readonly send = <A>(operation: string, apply: () => A): Effect.Effect<A, StorageError> =>
    Effect.suspend(() => {
      const { server } = this.#redis
      if (!this.#isConnected) {
        server.unsent(this.#process, operation)
        const reason = `${server.name}: no connection (${this.#reason})`
        return Effect.fail(new StorageError({ operation, applied: "no", reason }))
      }
      const number = this.#number
      return Effect.mapError(server.call(this.#process, operation, apply), (failed) => {
        this.#lose(number, failed.reason)
        return asStorageError(failed)
      })
    })

  close() {
    this.#isOpen = false
    this.#isConnected = false
    this.#reason = "closed"
    this.#forget()
  }

  /** The server has stopped: it says so, if the way is not cut. */
  #reset() {
    if (!this.#isConnected || !this.#process.isAlive) return
    const number = this.#number
    const { network, name } = this.#redis.server
    network.deliver(name, this.#process.name, () =>
      this.#process.post(() => this.#lose(number, "the connection was reset"))
    )
  }

  #lose(number: number, reason: string) {
    if (number !== this.#number || !this.#isConnected) return
    this.#isConnected = false
    this.#reason = reason
    this.#process.world.tell(this.#process.id, "Redis lost", `${this.#redis.server.name}: ${reason}`)
    this.#connectIn(pauseMin_us, pauseMin_us)
  }

  #connectIn(pause_us: number, next_us: number) {
    this.#process.world.after(pause_us, this.#process, () => this.#process.post(() => this.#connect(next_us)))
  }

  /** `pause_us`: how long it waits when it fails, or so. */
  #connect(pause_us: number) {
    if (!this.#isOpen) return
    const { server } = this.#redis
    const { name, network, world } = server
    const process = this.#process
    const number = ++this.#number
    const done = (problem: string | undefined) => {
      if (number !== this.#number || this.#isConnected || !this.#isOpen) return
      timer.isCancelled = true
      this.#isConnected = problem === undefined
      this.#isTried = true
      this.#whenTried.splice(0).forEach((then) => then())
      if (problem === undefined) return
      this.#number++
      this.#reason = problem
      const jitter = 0.8 + 0.4 * this.#chance.fraction()
      this.#connectIn(pause_us * jitter, Math.min(2 * pause_us, pauseMax_us))
    }
    const timer = world.after(connectMax_us, process, () => process.post(() => done("no answer")))
    network.deliver(process.name, name, () => {
      const problem = server.isUp ? undefined : "connection refused"
      network.deliver(name, process.name, () => process.post(() => done(problem)))
    })
  }
}

/** Connects a process to a Redis, until the scope is closed. What it gives sends calls; see `RedisClient`. */
export const connect = (
  redis: VirtualRedis,
  process: VirtualProcess
): Effect.Effect<Connection["send"], never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Connection(redis, process)),
    (connection) => Effect.sync(() => connection.close())
  ).pipe(Effect.flatMap(({ send, tried }) => Effect.as(tried, send)))

const makeShard = (
  redis: VirtualRedis,
  process: VirtualProcess
): Effect.Effect<KeyPoolShard.Shard, never, Scope.Scope> =>
  Effect.gen(function* () {
    const send = yield* connect(redis, process)
    const by = process.id
    return KeyPoolShard.make(redis.shard, {
      claim: (epoch) => send("KeyPool.claim", () => redis.claim(by, epoch)),
      push: (epoch, batch, packed) => {
        const keys = toStrings(packed)
        return send("KeyPool.push", () => redis.push(by, epoch, batch, keys))
      },
      batches: send("KeyPool.known", () => redis.knownBatches),
      pop: (wanted) => send("KeyPool.lease", () => redis.pop(by, wanted)),
      giveBack: (id, packed) => {
        const keys = toStrings(packed)
        return Effect.suspend(() => {
          const called_us = process.world.now_us
          return Effect.onExit(
            send("KeyPool.giveBack", () => redis.giveBack(by, id, keys)),
            (exit) =>
              Effect.sync(() => {
                if (Exit.isSuccess(exit)) return
                const interrupted_us = Exit.isInterrupted(exit) ? process.world.now_us - called_us : undefined
                redis.unreturned(by, keys, interrupted_us)
              })
          )
        })
      },
      length: send("KeyPool.level", () => redis.keys.length)
    })
  })

/** The pools, one a server in the order of the shards, as a process reaches them. Made when connecting to each was tried once. */
export const make = (
  servers: ReadonlyArray<VirtualRedis>,
  process: VirtualProcess
): Effect.Effect<typeof KeyPool.Service, never, Scope.Scope> =>
  Effect.map(
    Concurrent.forEach(servers, (redis) => makeShard(redis, process)),
    KeyPoolShard.join
  )

/** See {@link make}. */
export const layer = (servers: ReadonlyArray<VirtualRedis>, process: VirtualProcess): Layer.Layer<KeyPool> =>
  Layer.scoped(KeyPool, make(servers, process))
