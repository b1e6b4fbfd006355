import { Effect, FiberRef } from "effect"
import type { RuntimeFiber } from "effect/Fiber"
import { PriorityBuckets, type Scheduler, type Task } from "effect/Scheduler"
import { LoopTurns, type LoopTurnsService } from "./LoopTurns.ts"

/** Steps that a fiber runs at most before others get their turn, as with Effect's own scheduler. */
const stepsMax = 2_048

/** Steps of a fiber after which it is asked whether the turn of the event loop is over. */
const stepsBetweenLooks = 64

/**
 * Runs fibers as Effect's own scheduler does, but only for as long as a turn of the event loop takes ({@link LoopTurns}): what is left then waits for the next one. Effect's scheduler (3.22)
 * goes on between turns while fibers have something to do, so that two bulks of 1,000 links held up all redirects for 90 ms.
 *
 * What a fiber does in one step, or in {@link stepsBetweenLooks}, is not divided.
 */
export class FairScheduler implements Scheduler {
  readonly #turns: LoopTurnsService
  readonly #waiting = new PriorityBuckets()
  /** The tasks of this round in their order, and the place of the next one. */
  #round: ReadonlyArray<Task> = []
  #next = 0
  #isRunning = false

  constructor(turns: LoopTurnsService) {
    this.#turns = turns
  }

  shouldYield(fiber: RuntimeFiber<unknown, unknown>): number | false {
    const steps = fiber.currentOpCount
    const isEnough =
      steps > stepsMax || (steps % stepsBetweenLooks === stepsBetweenLooks - 1 && this.#turns.isOver())
    return isEnough ? fiber.getFiberRef(FiberRef.currentSchedulingPriority) : false
  }

  scheduleTask(task: Task, priority: number) {
    this.#waiting.scheduleTask(task, priority)
    if (this.#isRunning) return
    this.#isRunning = true
    this.#goOn()
  }

  /** Runs what waits: before the event loop turns, or later where there is no time left. */
  #goOn() {
    if (this.#turns.isOver()) this.#turns.defer(this.#run)
    else void Promise.resolve().then(this.#run)
  }

  readonly #run = () => {
    if (this.#next === this.#round.length) {
      const [first, ...others] = this.#waiting.buckets
      this.#round = others.length === 0 ? first![1] : [first!, ...others].flatMap(([, tasks]) => tasks)
      this.#waiting.buckets = []
      this.#next = 0
    }
    do this.#round[this.#next++]!()
    while (this.#next < this.#round.length && !this.#turns.isOver())
    if (this.#next < this.#round.length || this.#waiting.buckets.length > 0) return this.#goOn()
    this.#isRunning = false
    this.#round = []
    this.#next = 0
  }
}

/** Has an effect, and all fibers that it starts, share the event loop's time with all else. */
export const within = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(LoopTurns, (turns) => Effect.withScheduler(self, new FairScheduler(turns)))
