import type { RuntimeFiber } from "effect/Fiber"
import type { Runtime } from "effect/Runtime"
import type { Scheduler, Task } from "effect/Scheduler"
import type { Chance } from "./Chance.ts"
import { TimeKeeper } from "../../time/TimeKeeper.ts"
import { ms_us } from "./Time.ts"
import type { World } from "./World.ts"

/** Steps that a fiber runs at most before others get their turn, as Effect's own scheduler has it. */
const stepsMax = 2_048

/**
 * A virtual operating system process: it is the scheduler of all fibers that live in it. What it has not done by the time it is killed is
 * never done: no finalizer, no message, no call of a store.
 */
export class VirtualProcess implements Scheduler {
  readonly world: World
  readonly name: string
  /** Which start of the process of this name this is, from 1. */
  readonly incarnation: number
  /** A number that no other process of this world has. */
  readonly number: number
  isAlive = true
  isPaused = false
  /** Whether it reads requests that arrive while it is paused when its timers have done what was due meanwhile, or before. */
  readsLast = false
  /** By how much its wall clock is ahead of true time. Its monotonic clock never is. */
  skew_us = 0
  /** The time that it goes by. */
  readonly time: TimeKeeper
  /** What its clock shows, in milliseconds since the Unix epoch. */
  clock_ms: () => number
  /** How likely its fibers are to be preempted before any single step. */
  preemption: number
  /**
   * What its fibers run with, once there is one. Not in a `WeakMap`, whose values V8's collections of young objects take for alive: every
   * world that has ended would be copied to the old ones.
   */
  runtime: Runtime<never> | undefined
  readonly #onDeath = new Set<() => void>()
  readonly #chance: Chance
  /** Steps until the next preemption. */
  #steps = 0
  #tasks: Array<Task> = []

  constructor(world: World, name: string, incarnation: number, number: number) {
    this.world = world
    this.name = name
    this.incarnation = incarnation
    this.number = number
    this.time = new TimeKeeper(world.now_ms, this.monotonicNow_ms())
    this.clock_ms = () => Math.floor(this.time.at(this.monotonicNow_ms()))
    this.preemption = world.preemption
    this.#chance = world.chance("preemption")
    this.#steps = this.#chance.trials(this.preemption)
  }

  /** Its name and incarnation: an identity that no other start has. */
  get id(): string {
    return `${this.name}#${this.incarnation}`
  }

  /** Whether one of its tasks could run now. */
  get isReady(): boolean {
    return this.#tasks.length > 0 && !this.isPaused && this.isAlive
  }

  /** What its machine's clock shows, in milliseconds since the Unix epoch. */
  wallClock_ms(): number {
    return this.world.now_ms + Math.floor(this.skew_us / ms_us)
  }

  /** What `monotonicNow_ms` gives in it. */
  monotonicNow_ms(): number {
    return this.world.now_us / ms_us
  }

  /** Takes any of its ready tasks. */
  take(chance: Chance): { readonly task: Task; readonly choice: number } {
    const tasks = this.#tasks
    const choice = tasks.length === 1 ? 0 : chance.below(tasks.length)
    const task = tasks[choice]!
    const last = tasks.pop()!
    if (choice < tasks.length) tasks[choice] = last
    return { task, choice }
  }

  /** Runs a callback in this process, as one of its tasks. */
  post(task: () => void) {
    if (this.isAlive) this.#tasks.push(task)
  }

  /** Runs `then` when it dies, by `kill` or at its end. Returns what cancels that. */
  whenDead(then: () => void): () => void {
    this.#onDeath.add(then)
    return () => void this.#onDeath.delete(then)
  }

  /** What `kill -9` does. */
  kill() {
    if (!this.isAlive) return
    this.isAlive = false
    this.#tasks = []
    this.world.bury(this)
    this.#onDeath.forEach((then) => then())
  }

  scheduleTask(task: Task) {
    this.post(task)
  }

  shouldYield(fiber: RuntimeFiber<unknown, unknown>): number | false {
    if (this.preemption > 0 && this.#steps-- <= 0) {
      this.#steps = this.#chance.trials(this.preemption)
      // Not a priority: yielding with one costs several more steps, each of which could be preempted again.
      return undefined as unknown as number
    }
    return fiber.currentOpCount > stepsMax ? 0 : false
  }
}
