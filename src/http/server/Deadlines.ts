import { Duration, Effect, FiberSet, type Scope } from "effect"

/** What begins within this time shares one timer. */
const gatherFor = Duration.millis(100)

/** Bounds how long things take that begin and end often, by few timers. */
export interface Deadlines {
  /** Calls `onTimeout` in `duration`, or up to 100 ms later, unless the function that it gives is called before. */
  readonly watch: (onTimeout: () => void) => () => void
}

/** See {@link Deadlines}. */
export const make = (duration: Duration.Duration): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    let gathering: Set<() => void> | undefined

    const bound = Effect.fnUntraced(function* (group: ReadonlySet<() => void>) {
      yield* Effect.sleep(gatherFor)
      gathering = undefined
      if (group.size === 0) return
      yield* Effect.sleep(duration)
      group.forEach((onTimeout) => onTimeout())
    })

    return {
      watch: (onTimeout) => {
        if (gathering === undefined) {
          gathering = new Set()
          run(bound(gathering))
        }
        const group = gathering
        group.add(onTimeout)
        return () => void group.delete(onTimeout)
      }
    }
  })
