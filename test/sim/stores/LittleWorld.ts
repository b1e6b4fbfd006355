import { Cause, Effect, Exit, type Fiber, FiberId } from "effect"
import { Journal, type StoreEntry } from "../../../src/sim/Journal.ts"
import { VirtualHomes } from "../../../src/sim/stores/homes/VirtualHomes.ts"
import { VirtualDatabase } from "../../../src/sim/stores/VirtualDatabase.ts"
import { VirtualRedis } from "../../../src/sim/redis/VirtualRedis.ts"
import type { PoolKind } from "../../../src/storage/keys/KeyPool.ts"
import { Network } from "../../../src/sim/world/Network.ts"
import { fork } from "../../../src/sim/world/ProcessServices.ts"
import { ms_us, s_us } from "../../../src/sim/world/Time.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import type { CallFaults, CrashPoint, SlowCalls } from "../../../src/sim/world/VirtualServer.ts"
import { World } from "../../../src/sim/world/World.ts"

/** How far the world goes on before the other fibers of a test get their turn. Shorter than a call of a store takes. */
const step_us = 250

/** Nothing that is asked in these tests takes longer. */
const patience_us = 60 * s_us

/** Something that a process was asked to do. */
export interface RequestDoer<A, E> {
  fiber: Fiber.RuntimeFiber<A, E> | undefined
  exit: Exit.Exit<A, E> | undefined
}

/** A world with a database and some Redis servers alone, in which nothing goes wrong by itself. */
export class LittleWorld {
  readonly world: World
  readonly network: Network
  readonly journal: Journal
  /** The control database, if there are several. */
  readonly database: VirtualDatabase
  /** All of them, where several were asked for. */
  readonly homes: VirtualHomes | undefined
  readonly redis: ReadonlyArray<VirtualRedis>
  databaseFaults: CallFaults = { refused: 0, lost: 0, ignored: 0 }
  redisFaults: CallFaults = { refused: 0, lost: 0, ignored: 0 }
  /** Of the database. */
  slowCalls: SlowCalls = { probability: 0, most_ms: 0 }
  crashPoint: CrashPoint = () => {}
  readonly #waiting = new Set<() => boolean>()

  constructor(
    seed: number,
    options: {
      readonly shards?: number
      /** In which of several databases each bucket is. */
      readonly homes?: { readonly count: number; readonly homeOf: (bucket: number) => number }
      readonly kind?: PoolKind
      readonly replicaLag_ms?: number
      /** How far behind the database's standby is, at most. */
      readonly databaseLag_ms?: number
      /** How long single messages are held up at most. */
      readonly delay_ms?: number
    } = {}
  ) {
    const { databaseLag_ms = 0, delay_ms = 20, homes, kind = "list", replicaLag_ms = 0, shards = 1 } = options
    this.world = new World({ seed, preemption: 0.02, keepTrace: false })
    this.network = new Network(this.world, {
      latency_us: { least: 100, mean: 300 },
      delay: { probability: 0.01, max_ms: delay_ms }
    })
    this.journal = new Journal(this.world)
    const around = {
      world: this.world,
      network: this.network,
      journal: this.journal,
      crashPoint: (process: VirtualProcess, operation: string) => this.crashPoint(process, operation)
    }
    const databaseOf = (number: number, control?: VirtualDatabase) =>
      new VirtualDatabase(
        { ...around, slow: () => this.slowCalls, faults: () => this.databaseFaults },
        undefined,
        {
          lag_ms: databaseLag_ms,
          ...(homes !== undefined && { homes: { number, control, isUnfenced: false } })
        }
      )
    this.database = databaseOf(0)
    if (homes !== undefined) {
      const further = Array.from({ length: homes.count - 1 }, (_, index) =>
        databaseOf(index + 1, this.database)
      )
      this.homes = new VirtualHomes(
        [this.database, ...further],
        this.journal,
        {},
        { haveUsers: false, homeOf: homes.homeOf }
      )
    }
    this.redis = Array.from(
      { length: shards },
      (_, shard) =>
        new VirtualRedis({ ...around, shard, kind, replicaLag_ms, faults: () => this.redisFaults })
    )
  }

  /** Virtual time passes. */
  pass(for_ms: number) {
    this.world.runUntil(this.world.now_us + for_ms * ms_us)
  }

  /** Has a process begin something, when time goes on. */
  begin<A, E>(process: VirtualProcess, effect: Effect.Effect<A, E>): RequestDoer<A, E> {
    const doing: RequestDoer<A, E> = { fiber: undefined, exit: undefined }
    this.world.after(0, process, () => {
      if (doing.exit !== undefined) return
      doing.fiber = fork(process, effect)
      doing.fiber.addObserver((exit) => {
        doing.exit = exit
      })
    })
    return doing
  }

  /** Goes on until something has come to its end. */
  end<A, E>(doing: RequestDoer<A, E>): Exit.Exit<A, E> {
    const until_us = this.world.now_us + patience_us
    while (doing.exit === undefined && this.world.now_us < until_us) this.pass(step_us / ms_us)
    return doing.exit ?? Exit.die(new Error("it takes for ever"))
  }

  /** Has a process do something, and gives what came of it. */
  exit<A, E>(process: VirtualProcess, effect: Effect.Effect<A, E>): Exit.Exit<A, E> {
    return this.end(this.begin(process, effect))
  }

  /** The same; what fails is thrown. */
  run<A, E>(process: VirtualProcess, effect: Effect.Effect<A, E>): A {
    return Exit.getOrElse(this.exit(process, effect), (cause) => {
      throw Cause.squash(cause)
    })
  }

  /**
   * A process's doing as an effect of the runtime outside, whose other fibers get their turns while the world goes on: what they do at
   * once happens at once in the world.
   */
  inside<A, E>(process: VirtualProcess, effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const wait = (doing: RequestDoer<A, E>) =>
      Effect.async<A, E>((resume) => {
        const until_us = this.world.now_us + patience_us
        this.#waiting.add(() => {
          if (doing.exit === undefined && this.world.now_us < until_us) return false
          resume(doing.exit ?? Exit.die(new Error("it takes for ever")))
          return true
        })
        if (this.#waiting.size === 1) this.#goOn()
      })
    return Effect.suspend(() => {
      const doing = this.begin(process, effect)
      const interrupt = Effect.sync(() =>
        this.world.after(0, null, () => {
          if (doing.fiber === undefined) doing.exit = Exit.interrupt(FiberId.none)
          else doing.fiber.unsafeInterruptAsFork(doing.fiber.id())
        })
      )
      return Effect.onInterrupt(wait(doing), () => Effect.zipRight(interrupt, Effect.exit(wait(doing))))
    })
  }

  /** What the journal has of a kind. */
  told<Tag extends StoreEntry["tag"]>(tag: Tag) {
    return this.journal.entries.filter(
      (entry): entry is Extract<StoreEntry, { readonly tag: Tag }> & { readonly at_us: number } =>
        entry.tag === tag
    )
  }

  /** Lets time pass for all who wait, a little at a time. */
  #goOn() {
    if (this.#waiting.size === 0) return
    queueMicrotask(() => {
      this.pass(step_us / ms_us)
      for (const isOver of this.#waiting) if (isOver()) this.#waiting.delete(isOver)
      this.#goOn()
    })
  }
}
