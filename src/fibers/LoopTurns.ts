import { Context } from "effect"

/** What time and turns of the event loop come from. */
export interface TurnSource {
  /** Milliseconds since some moment, which never jump. */
  readonly now_ms: () => number
  /** Calls back in the next turn of the event loop, behind the requests that have come meanwhile: `setImmediate`. */
  readonly nextTurn: (run: () => void) => void
}

/** How long a turn of the event loop takes before what can wait is left to the next one, in milliseconds. */
const turnMax_ms = 4

/** See {@link LoopTurns}. */
export interface LoopTurnsService {
  /** Whether this turn has taken its time, since it was first asked in it. */
  readonly isOver: () => boolean
  /**
   * Has something done in a later turn: what was deferred first comes first, and in each turn as much as there is time for. Who defers has one thing waiting at a time: there are at most as
   * many as connections, and one of all fibers.
   */
  readonly defer: (run: () => void) => void
}

/** Counts the time of turns of this length. */
export const make = ({ nextTurn, now_ms }: TurnSource, max_ms = turnMax_ms): LoopTurnsService => {
  /** When this turn began; of no interest once the next one has come. */
  let began_ms: number | undefined
  let waiting: Array<() => void> = []

  const isOver = () => {
    const now = now_ms()
    if (began_ms === undefined) {
      began_ms = now
      nextTurn(turn)
    }
    return now - began_ms >= max_ms
  }
  const turn = () => {
    began_ms = undefined
    const ready = waiting
    waiting = []
    let done = 0
    while (done < ready.length && !isOver()) ready[done++]!()
    if (done < ready.length) waiting = [...ready.slice(done), ...waiting]
  }
  const defer = (run: () => void) => {
    waiting.push(run)
    isOver()
  }
  return { isOver, defer }
}

/**
 * The time of the event loop, for all that have more to do than should be done at once: fibers, bodies that come in pieces, requests that wait behind others of their connection. They ask
 * between two parts of it whether the turn is over, and defer the rest, so that no request waits for all that others have sent.
 */
export class LoopTurns extends Context.Reference<LoopTurns>()("linkmint/LoopTurns", {
  defaultValue: (): LoopTurnsService =>
    make({
      // Beneath Effect's clock and timers.
      // eslint-disable-next-line eslint/no-restricted-globals
      now_ms: () => performance.now(),
      // eslint-disable-next-line eslint/no-restricted-globals
      nextTurn: (run) => void setImmediate(run)
    })
}) {}
