import { type Duration, Effect, Runtime, type Scope } from "effect"

/**
 * Permits for calls of several kinds that had better not all be under way at once: while a call waits for one, what goes along with it gathers. They are an aim, not a bound. Who has waited for the
 * patience, or for twice that at most, goes on without one, so that calls that hang hold up no others for longer.
 */
export interface SoftPermits {
  /** Calls `begin` once, at once where a permit is free; the longest waiter comes first. `leave` is to be called once, when the call is over. */
  readonly enter: (begin: (leave: () => void) => void) => void
}

/** So many permits, at least one. When the scope closes, who waits waits until a permit is free. */
export const make = (
  count: number,
  patience: Duration.Duration
): Effect.Effect<SoftPermits, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const waiting = new Set<() => void>()
    let entered = 0
    let isWatched = false

    const goOn = (waiter: () => void) => {
      if (waiting.delete(waiter)) waiter()
    }

    /** Looks after those that wait as long as there are any: one timer for all. */
    const watch = Effect.gen(function* () {
      while (waiting.size > 0) {
        const impatient = [...waiting]
        yield* Effect.sleep(patience)
        impatient.forEach(goOn)
      }
      isWatched = false
    })

    const leave = () => {
      entered--
      const [next] = waiting
      if (entered < count && next !== undefined) goOn(next)
    }

    const enter: SoftPermits["enter"] = (begin) => {
      const go = () => {
        entered++
        begin(leave)
      }
      if (entered < count) return go()
      waiting.add(go)
      if (isWatched) return
      isWatched = true
      runFork(watch, { scope })
    }

    return { enter }
  })
