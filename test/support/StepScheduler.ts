import { Effect, type Fiber, Scheduler } from "effect"

/**
 * A scheduler that runs nothing until it is told to, and then what it is told to: one fiber at a time, each for one operation. Whatever fibers do to each other is then the choice of the test, and comes out the same every time.
 */
export class StepScheduler implements Scheduler.Scheduler {
  readonly #tasks: Array<Scheduler.Task> = []
  #isReleased = false

  shouldYield(fiber: Fiber.RuntimeFiber<unknown, unknown>): number | false {
    if (this.#isReleased) return false
    // Resuming counts as one operation itself. Without a priority, because setting one takes more operations than a step has.
    return fiber.currentOpCount > 2 ? (undefined as unknown as number) : false
  }

  scheduleTask(task: Scheduler.Task, priority: number): void {
    if (this.#isReleased) Scheduler.defaultScheduler.scheduleTask(task, priority)
    else this.#tasks.push(task)
  }

  /** Lets one of the fibers that can go on do so: number `choice` of them, counted round. `false` when there is none. */
  step(choice = 0): boolean {
    const [task] = this.#tasks.splice(choice % Math.max(1, this.#tasks.length), 1)
    task?.()
    return task !== undefined
  }

  /** Steps until no fiber can go on, by the choices and then in turn. */
  settle(choices: Iterable<number> = []): void {
    for (const choice of choices) this.step(choice)
    for (let steps = 0; this.step(); steps++) {
      if (steps > 100_000) throw new Error("the fibers never come to rest")
    }
  }

  /** Starts a fiber, which waits for its first step. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    return Effect.runFork(effect, { scheduler: this, immediate: false })
  }

  /** Lets its fibers go on by themselves from now on. */
  release(): void {
    this.#isReleased = true
    for (const task of this.#tasks.splice(0)) Scheduler.defaultScheduler.scheduleTask(task, 0)
  }
}
