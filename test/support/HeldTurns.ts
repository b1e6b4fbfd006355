// Turns of the event loop that are over at once, and end when a test says so.

import type { LoopTurnsService } from "../../src/fibers/LoopTurns.ts"

/** Turns that are over, and what was deferred in them. */
export interface HeldTurns extends LoopTurnsService {
  /** Begins what was deferred so far, with time for one thing each; gives how much that was. */
  readonly next: () => number
}

/** See {@link HeldTurns}. */
export const make = (): HeldTurns => {
  let deferred: Array<() => void> = []
  let left = 0
  return {
    isOver: () => left-- <= 0,
    defer: (run) => void deferred.push(run),
    next: () => {
      const ready = deferred
      deferred = []
      for (const run of ready) {
        left = 1
        run()
      }
      left = 0
      return ready.length
    }
  }
}
