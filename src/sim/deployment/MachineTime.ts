import { FileSystem } from "@effect/platform"
import { SystemError } from "@effect/platform/Error"
import { Context, Effect, Layer, type Scope } from "effect"
import type { Journal } from "../Journal.ts"
import {
  clockWith,
  layerWall,
  type MachineFiles,
  TrustedTime,
  type TrustedTimeService
} from "../../time/TrustedTime.ts"
import { believedAfter_ms } from "../../time/TimeKeeper.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { World, WorldEvent } from "../world/World.ts"

/** Clocks jump by multiples of this: so none comes so near to where it was, or to the truth, that it would be followed. */
const jumpUnit_us = 2 * s_us

/** A clock that has jumped goes back to the truth with a jump that is less. */
export const returnsBelow_us = 30 * s_us

/** How long a clock stays where it has jumped to, at most: not until it is believed. */
const staysMax_us = believedAfter_ms * ms_us - 10 * s_us

/** How often the time that a process goes by is compared with the truth, and how far it may be off. */
const lookEvery_us = 0.5 * s_us
const offMax_ms = 20

/** How long the machine has run when the world begins. */
const uptime_s = 86_400

const noteFile = "clock"
const machineFiles: MachineFiles = { boot: "boot", uptime: "uptime" }

/** The machine of a process alone over SQLite: its clock, which jumps, and its files, by which production keeps the time nevertheless. Both outlive the process. */
export class MachineTime {
  readonly #world: World
  readonly #journal: Pick<Journal, "add">
  readonly #name: string
  readonly #notes = new Map<string, string>()
  #process: VirtualProcess | undefined
  #ahead_us = 0
  #returns: WorldEvent | undefined

  /** `name`: whose machine it is. */
  constructor(world: World, journal: Pick<Journal, "add">, name: string) {
    this.#world = world
    this.#journal = journal
    this.#name = name
  }

  /** Has the clock be that much ahead of the truth. A smaller jump takes one that is wrong back to it. */
  jump(by_us: number) {
    const isReturning = this.#ahead_us !== 0 && Math.abs(by_us) < returnsBelow_us
    const units = Math.max(1, Math.round(Math.abs(by_us) / jumpUnit_us))
    this.#set(isReturning ? 0 : Math.sign(by_us) * units * jumpUnit_us)
  }

  /** Has the clock be right. */
  heal() {
    this.#set(0)
  }

  #set(ahead_us: number) {
    if (ahead_us === this.#ahead_us) return
    this.#ahead_us = ahead_us
    this.#journal.add({ tag: "machine clock", by: this.#name, ahead_us })
    if (this.#process !== undefined) this.#process.skew_us = ahead_us
    if (this.#returns !== undefined) this.#returns.isCancelled = true
    this.#returns = ahead_us === 0 ? undefined : this.#world.after(staysMax_us, null, () => this.#set(0))
  }

  readonly #files: Layer.Layer<FileSystem.FileSystem> = FileSystem.layerNoop({
    readFileString: (path) =>
      Effect.suspend(() => {
        if (path === machineFiles.boot) return Effect.succeed("the only one\n")
        if (path === machineFiles.uptime)
          return Effect.succeed(`${(uptime_s + this.#world.now_us / s_us).toFixed(6)} 0.00\n`)
        const text = this.#notes.get(path)
        return text === undefined
          ? new SystemError({
              reason: "NotFound",
              module: "FileSystem",
              method: "readFileString",
              pathOrDescriptor: path
            })
          : Effect.succeed(text)
      }),
    writeFileString: (path, text) => Effect.sync(() => void this.#notes.set(path, text)),
    rename: (from, to) =>
      Effect.sync(() => {
        this.#notes.set(to, this.#notes.get(from)!)
        this.#notes.delete(from)
      })
  })

  /** Has a process that starts go by the time that production keeps, and tells the journal where that is wrong. */
  keep(process: VirtualProcess): Effect.Effect<TrustedTimeService, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      this.#process = process
      process.skew_us = this.#ahead_us
      const base = yield* Effect.clock
      const layer = Layer.provide(layerWall(noteFile, machineFiles), this.#files)
      const [time, clock] = yield* Effect.withClock(
        Effect.flatMap(Layer.build(layer), (context) =>
          Effect.map(Effect.clock, (clock) => [Context.get(context, TrustedTime), clock] as const)
        ),
        clockWith(base, () => process.wallClock_ms())
      )
      process.clock_ms = () => clock.unsafeCurrentTimeMillis()
      this.#world.after(lookEvery_us, process, () => this.#watch(process))
      return time
    })
  }

  #watch(process: VirtualProcess) {
    const off_ms = process.clock_ms() - this.#world.now_ms
    if (Math.abs(off_ms) > offMax_ms) this.#journal.add({ tag: "kept wrong time", by: process.id, off_ms })
    else this.#world.after(lookEvery_us, process, () => this.#watch(process))
  }
}
