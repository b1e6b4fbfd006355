import { Effect } from "effect"
import type { Mutation } from "../mutants/Mutation.ts"

/**
 * Measures how long processes have creates waiting for a key, over a mutation: `waited_us` tells the time of all processes together, in which several that wait in
 * one process count once.
 */
export const measuringWaits = (
  mutation: Mutation
): { readonly mutation: Mutation; readonly waited_us: () => number } => {
  let waited_us = 0
  return {
    waited_us: () => waited_us,
    mutation: {
      ...mutation,
      buffer: (sound, process) => {
        const buffer = mutation.buffer?.(sound, process) ?? sound
        const { world } = process
        let waiting = 0
        let since_us = 0
        const end = () => {
          waited_us += world.now_us - since_us
        }
        process.whenDead(() => waiting > 0 && end())
        const measured = <A, E>(take: Effect.Effect<A, E>): Effect.Effect<A, E> =>
          Effect.suspend(() => {
            if (waiting++ === 0) since_us = world.now_us
            return Effect.ensuring(
              take,
              Effect.sync(() => {
                if (--waiting === 0) end()
              })
            )
          })
        return { ...buffer, takeMany: (count) => measured(buffer.takeMany(count)) }
      }
    }
  }
}
