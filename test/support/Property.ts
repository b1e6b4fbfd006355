import { Effect, FastCheck as fc, Runtime } from "effect"

/**
 * Holds a property against `numRuns` random values, one after the other. A failure is a defect that gives the seed, the path and
 * the smallest value found; pass the first two as `parameters` to see it again.
 */
export const forAll = <A, E, R>(
  arbitrary: fc.Arbitrary<A>,
  property: (value: A) => Effect.Effect<unknown, E, R>,
  parameters: fc.Parameters<[A]> = {}
): Effect.Effect<void, never, R> =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(arbitrary, async (value) => {
          await Runtime.runPromise(runtime)(property(value))
        }),
        parameters
      )
    )
  )

/** Runs all at once. */
export const atOnce = <A, E, R>(
  effects: Iterable<Effect.Effect<A, E, R>>
): Effect.Effect<ReadonlyArray<A>, E, R> => Effect.all(effects, { concurrency: "unbounded" })
