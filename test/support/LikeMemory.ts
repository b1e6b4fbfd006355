import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { forAll } from "./Property.ts"
import type { Open } from "./Stores.ts"

/** What one store does with a sequence of commands: each gives an answer that can be compared. */
export type Player<S, C> = (store: S) => (command: C) => Effect.Effect<unknown, unknown>

/**
 * A test that a backend answers random sequences of commands like the reference in memory, command by command.
 */
export const likeMemory = <S, C>(options: {
  readonly title: string
  readonly open: Open<S>
  readonly memory: Effect.Effect<S>
  readonly command: fc.Arbitrary<C>
  readonly player: Player<S, C>
  readonly numRuns: number
  /** Makes of drawn commands those that are played: what the port's laws ask of its callers. */
  readonly lawful?: (commands: ReadonlyArray<C>) => ReadonlyArray<C>
}): void => {
  it.scopedLive(options.title, () =>
    forAll(
      fc.array(options.command, { minLength: 1, maxLength: 25 }),
      (commands) =>
        Effect.scoped(
          Effect.gen(function* () {
            const real = options.player(yield* yield* options.open)
            const reference = options.player(yield* options.memory)
            const played = options.lawful?.(commands) ?? commands
            for (const command of played) expect(yield* real(command)).toEqual(yield* reference(command))
          })
        ),
      { numRuns: options.numRuns }
    )
  )
}
