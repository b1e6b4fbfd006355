import { Effect, Exit, type Fiber, Runtime, type Tracer } from "effect"

/**
 * `Effect.forEach` without a bound on concurrency, at a fraction of its cost, which always ends when it is interrupted: the first failure is the whole's, and
 * interrupts the rest. Nobody waits for what is interrupted.
 *
 * That of Effect 3.22 waits for ever when its interruption comes before the fiber has run that starts all others: it takes the items back, and that fiber
 * then waits for none. An actor with such a request could not be stopped any more, and its shard never be released.
 */
export const forEach = <A, B, E, R>(
  items: ReadonlyArray<A>,
  run: (item: A, index: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> => {
  if (items.length === 0) return Effect.succeed([])
  // One alone, as most often, needs no fibers.
  if (items.length === 1) return Effect.map(run(items[0]!, 0), (result) => [result])
  return Effect.withFiberRuntime<Array<B>, E, R>((fiber, { runtimeFlags }) => {
    const runtime = Runtime.make({
      context: fiber.currentContext as Runtime.Runtime<R>["context"],
      fiberRefs: fiber.getFiberRefs(),
      runtimeFlags
    })
    return Effect.async<Array<B>, E>((resume) => {
      const results: Array<B> = Array.from({ length: items.length })
      const fibers: Array<Fiber.RuntimeFiber<B, E>> = []
      let left = items.length
      let isOver = false
      const stop = () => {
        isOver = true
        fibers.forEach((one) => one.unsafeInterruptAsFork(fiber.id()))
      }
      for (const [index, item] of items.entries()) {
        const one = Runtime.runFork(
          runtime,
          Effect.suspend(() => run(item, index))
        )
        fibers.push(one)
        one.addObserver((exit) => {
          if (isOver) return
          if (Exit.isFailure(exit)) {
            stop()
            return resume(Effect.failCause(exit.cause))
          }
          results[index] = exit.value
          if (--left === 0) resume(Effect.succeed(results))
        })
        if (isOver) break
      }
      return Effect.sync(stop)
    })
  })
}

/** Asks for all items at once, by a callback each, and gives every answer in the items' order. Being interrupted stops the waiting, not what was asked for. */
export const exits = <A, B, E>(
  items: ReadonlyArray<A>,
  ask: (item: A, answer: (exit: Exit.Exit<B, E>) => void, span?: Tracer.AnySpan) => void
): Effect.Effect<ReadonlyArray<Exit.Exit<B, E>>> =>
  Effect.withFiberRuntime((fiber) =>
    Effect.async((resume) => {
      const answers: Array<Exit.Exit<B, E>> = []
      let left = items.length
      if (left === 0) return resume(Effect.succeed(answers))
      for (const [place, item] of items.entries()) {
        const answer = (exit: Exit.Exit<B, E>) => {
          answers[place] = exit
          if (--left === 0) resume(Effect.succeed(answers))
        }
        ask(item, answer, fiber.currentSpan)
      }
    })
  )
