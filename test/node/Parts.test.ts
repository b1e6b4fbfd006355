import { expect, it } from "@effect/vitest"
import { Context, Duration, Effect, FiberId, Layer, type Scheduler } from "effect"
import { layerEmbedded } from "../../src/node/Cluster.ts"
import * as Parts from "../../src/node/Parts.ts"
import * as Faults from "../support/ActorFaults.ts"
import { freshStores, ports } from "../support/TestNode.ts"

/** Runs fibers step by step: each step is a task that one of them has scheduled. */
class Steps implements Scheduler.Scheduler {
  readonly #tasks: Array<Scheduler.Task> = []

  shouldYield() {
    return false as const
  }

  scheduleTask(task: Scheduler.Task) {
    this.#tasks.push(task)
  }

  /** Runs so many steps at most; gives whether there are more. */
  run(steps: number): boolean {
    for (let step = 0; step < steps; step++) this.#tasks.shift()?.()
    return this.#tasks.length > 0
  }
}

it.scopedLive("the parts of a node end at whatever step of their start they are told to stop", () =>
  Effect.gen(function* () {
    const given = ports(yield* freshStores(), yield* Faults.make)
    const parts = Parts.layerCore({
      inFlightMax: 1,
      pool: { low: 10, high: 40 },
      bufferCapacity: 8,
      redirectCacheMax: 1_000,
      staleRedirects: Duration.minutes(1)
    })
    const started: Array<number> = []
    for (let steps = 0; started.length === 0; steps++) {
      const context = Context.merge(given, yield* Layer.build(layerEmbedded))
      const scheduler = new Steps()
      const node = Effect.runFork(
        Layer.build(parts).pipe(
          Effect.tap(() => Effect.sync(() => started.push(steps))),
          Effect.zipRight(Effect.never),
          Effect.scoped,
          Effect.provide(context)
        ),
        { scheduler }
      )
      scheduler.run(steps)
      node.unsafeInterruptAsFork(FiberId.none)
      expect(scheduler.run(10_000)).toBe(false)
      expect(node.unsafePoll(), `told after ${steps} steps`).not.toBeNull()
    }
  })
)
