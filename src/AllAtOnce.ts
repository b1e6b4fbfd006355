import { Effect } from "effect"

/**
 * `Effect.forEach` without a bound on concurrency, which always ends when it is interrupted.
 *
 * That of Effect 3.22 waits for ever when its interruption comes before the fiber has run that starts all others: it takes the items back, and that fiber
 * then waits for none. An actor with such a request could not be stopped any more, and its shard never be released. Here the interrupted caller goes on
 * at once, and what was started is interrupted behind its back.
 */
export const forEach = <A, B, E, R>(
  items: ReadonlyArray<A>,
  run: (item: A, index: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  items.length === 1
    ? // One alone, as most often, needs no fibers.
      Effect.map(run(items[0]!, 0), (result) => [result])
    : Effect.disconnect(Effect.forEach(items, run, { concurrency: "unbounded" }))
