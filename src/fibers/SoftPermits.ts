import { type Duration, Effect, Runtime, type Scope } from "effect"

/**
 * Permits for calls of several kinds that had better not all be under way at once: while a call waits for one, what goes along with it gathers. They are an aim, not a bound. A call that has
 * waited for the patience, or for twice that at most, goes on without a permit. A call that has had a permit for as long, while others waited, loses it, so that one that hangs holds up others once.
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
    /** Calls that have a permit, each by what gives it back. */
    const holders = new Set<() => void>()
    let isWatched = false

    const goOn = (waiter: () => void) => {
      if (waiting.delete(waiter)) waiter()
    }

    const goOnWithPermits = () => {
      for (const waiter of waiting) {
        if (holders.size >= count) return
        goOn(waiter)
      }
    }

    /** Looks after those that wait as long as there are any: one timer for all. */
    const watch = Effect.gen(function* () {
      while (waiting.size > 0) {
        const impatient = [...waiting]
        const slow = [...holders]
        yield* Effect.sleep(patience)
        for (const leave of slow) holders.delete(leave)
        impatient.forEach(goOn)
        goOnWithPermits()
      }
      isWatched = false
    })

    const enter: SoftPermits["enter"] = (begin) => {
      const leave = () => {
        if (holders.delete(leave)) goOnWithPermits()
      }
      const go = () => {
        holders.add(leave)
        begin(leave)
      }
      if (holders.size < count) return go()
      waiting.add(go)
      if (isWatched) return
      isWatched = true
      runFork(watch, { scope })
    }

    return { enter }
  })
