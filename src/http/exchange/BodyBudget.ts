import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { LoopTurnsService } from "../../fibers/LoopTurns.ts"

/** Bytes that bodies can take while they are being read, and after they were refused. */
export interface BodyBudgetBounds {
  /** All of them together. */
  readonly bytesMax: number
  /** Those that may be large, so that they leave room for the others. */
  readonly largeBytesMax: number
  /** Those of one client. */
  readonly clientBytesMax: number
  /** Those of refused ones that are thrown away between two sweeps, of all together: what Node reads is garbage, and too much of it at once stops the process for its collection. */
  readonly discardedMax: number
}

const mebibyte = 1024 * 1024

/** What the bodies of a listener's requests may take. */
export const usual: BodyBudgetBounds = {
  bytesMax: 64 * mebibyte,
  largeBytesMax: 48 * mebibyte,
  clientBytesMax: 16 * mebibyte,
  discardedMax: 16 * mebibyte
}

/** Who sends a body: `null` for one that is not counted by itself. */
export type ClientOf = (request: Pick<IncomingMessage, "headers" | "socket">) => string | null

/** One budget for the bytes of all bodies that are being read, and for the time that this takes: clients that begin many and finish none can take neither from all others. */
export class BodyBudget {
  readonly clientOf: ClientOf
  readonly turns: LoopTurnsService
  readonly #bounds: BodyBudgetBounds
  readonly #ofClient = new Map<string, number>()
  #taken = 0
  #discarded = 0
  #waiting: Array<() => void> = []

  constructor(clientOf: ClientOf, turns: LoopTurnsService, bounds: BodyBudgetBounds = usual) {
    this.clientOf = clientOf
    this.turns = turns
    this.#bounds = bounds
  }

  /** Takes so many bytes for a client's body; `false`, and nothing is taken, where there is no room for them. */
  take(client: string | null, bytes: number, isLarge: boolean): boolean {
    const { bytesMax, clientBytesMax, largeBytesMax } = this.#bounds
    if (this.#taken + bytes > (isLarge ? largeBytesMax : bytesMax)) return false
    if (client !== null) {
      const ofClient = (this.#ofClient.get(client) ?? 0) + bytes
      if (ofClient > clientBytesMax) return false
      this.#ofClient.set(client, ofClient)
    }
    this.#taken += bytes
    return true
  }

  /** Gives back what was taken for a client. */
  give(client: string | null, bytes: number): void {
    this.#taken -= bytes
    if (client === null) return
    const left = this.#ofClient.get(client)! - bytes
    if (left === 0) this.#ofClient.delete(client)
    else this.#ofClient.set(client, left)
  }

  /** Counts bytes of a refused body that were thrown away; `false` where no more of it may be read until {@link sweep}. */
  discard(bytes: number): boolean {
    this.#discarded += bytes
    return this.#discarded < this.#bounds.discardedMax
  }

  /** Calls back at the next sweep: one thing waits for a connection. */
  readonly untilSweep = (goOn: () => void): void => void this.#waiting.push(goOn)

  /** Lets refused bodies be read on. To be called every second. */
  sweep(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#discarded = 0
    for (const goOn of waiting) goOn()
  }
}

const budget = Symbol("linkmint/BodyBudget")

interface Budgeted extends Socket {
  [budget]?: BodyBudget
}

/** Has the bodies that come over a connection take from a budget. */
export const hold = (socket: Socket, bodies: BodyBudget): void => {
  const budgeted: Budgeted = socket
  budgeted[budget] = bodies
}

/** The budget of a connection's bodies. */
export const of = (socket: Socket): BodyBudget | undefined => (socket as Budgeted)[budget]
