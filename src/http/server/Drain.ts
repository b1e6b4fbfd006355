import { Duration, Effect } from "effect"
import type { DrainableSet } from "../exchange/DrainableSet.ts"

/** How long a drain waits for requests that are under way: longer than any answer takes, but not forever for a client to read it. */
const answersMax = Duration.seconds(5)

/**
 * How often, and for how long each time, a drain waits for connections that carry no request: their clients may have sent one
 * that is still on its way. Many short waits, because a timer that is late fires before the input that arrived meanwhile is read.
 */
const idleTurns = 10
const idleTurn = Duration.millis(50)

/** The connections that a drain closes: those of a server of `node:http`, or those of a simulated node. */
export interface Drainable {
  /** Connections that are open. */
  readonly connections: Pick<DrainableSet<unknown>, "empty">
  /** Requests that have begun, and whose clients have not taken the answers yet. */
  readonly underWay: Pick<DrainableSet<unknown>, "empty">
  /** Refuses new connections. Those that are open stay open. */
  readonly refuse: () => void
  /** Closes the connections that carry no request. */
  readonly closeIdle: () => void
  readonly closeAll: () => void
}

/** How a drain begins. */
export interface DrainOptions {
  /** How long the node goes on accepting connections while it says that it is not ready. */
  readonly drainDelay: Duration.Duration
  /** Ends that delay early. */
  readonly hurry: Effect.Effect<void>
}

/** How a node stops serving. */
export interface Drain {
  /** Whether the drain has begun. */
  readonly isDraining: () => boolean
  /** Refuses new connections, answers the requests that are under way, and closes all connections. It can be a finalizer. */
  readonly drain: Effect.Effect<void>
}

/** See {@link Drain}. */
export const make = (door: Drainable, { drainDelay, hurry }: DrainOptions): Drain => {
  let isDraining = false
  return {
    isDraining: () => isDraining,
    drain: Effect.gen(function* () {
      isDraining = true
      // Load balancers notice by the readiness check, and send their requests elsewhere before connections are refused.
      if (Duration.greaterThan(drainDelay, Duration.zero)) {
        yield* hurry.pipe(Effect.interruptible, Effect.timeoutOption(drainDelay))
      }
      door.refuse()
      for (let turn = 0; turn < idleTurns; turn++) yield* door.connections.empty(idleTurn)
      door.closeIdle()
      yield* door.underWay.empty(answersMax)
      door.closeAll()
    })
  }
}
