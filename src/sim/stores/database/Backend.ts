import { Duration } from "effect"
import { connections } from "../../../storage/sql/postgres/PostgresClient.ts"
import { boundsFor, type SessionBounds } from "../../../storage/sql/postgres/PrimaryClient.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import type { WorldEvent } from "../../world/World.ts"
import type { DatabaseServer } from "./DatabaseServer.ts"

/** What PostgreSQL says of a failure: its SQLSTATE, or none where the connection just broke, and why. */
export interface Problem {
  readonly code: string | undefined
  readonly reason: string
}

/** The answer to a command: what it gave, or its problem. */
export type Reply = { readonly value: unknown } | { readonly problem: Problem }

/** A statement, as the server gets it. */
export interface Command {
  /** Rows that it locks, until its transaction ends; asked when it begins. */
  readonly locks: (() => ReadonlyArray<string>) | undefined
  readonly writes: boolean
  /** What it does to the transaction: leaves it open, commits it, with all that it changes, or rolls it back. */
  readonly ends: "no" | "commit" | "rollback"
  /** Of a statement that commits: what the transaction did, which happens at that moment. */
  readonly apply: ((server: DatabaseServer) => unknown) | undefined
}

/** The bounds of the sessions of a node's stores, as production asks PostgreSQL for them. */
export const bounds: SessionBounds = boundsFor(Duration.toMillis(connections.answerTimeout))

/** PostgreSQL's `deadlock_timeout`: how long a statement waits for a lock before it looks for a deadlock. */
const deadlockAfter_us = s_us

/** How often PostgreSQL looks whether the client of a statement that takes long has hung up (`client_connection_check_interval`, as production sets it). */
const checkEvery_us = s_us

/** How long PostgreSQL takes a host for alive that has vanished (its keepalives, as production sets them). */
export const keepalive_us = 15 * s_us

/**
 * A server process of the database, which serves one session: one command at a time, and one transaction. Locks are held until the transaction
 * ends, also where its client is frozen or gone, for as long as the session's bounds allow.
 */
export class Backend {
  isOpen = true
  /** When its client closed it, which the server hears of a moment later. */
  closed_us = Number.POSITIVE_INFINITY
  readonly client: string
  readonly #server: DatabaseServer
  readonly #ended: (problem: Problem) => void
  #reply: ((reply: Reply) => void) | undefined
  #timers: Array<WorldEvent> = []
  #isLeft = false
  /** What its command commits, which is written to the disk from some time on. */
  #flushing: { readonly apply: NonNullable<Command["apply"]>; readonly from_us: number } | undefined
  /** When its command began, and since when its transaction has waited for the next one. */
  #begun_us = 0
  #idle_us: number | undefined

  /** `ended` is told when the server ends the session. */
  constructor(server: DatabaseServer, ended: (problem: Problem) => void, client: string) {
    this.client = client
    this.#server = server
    this.#ended = ended
  }

  /** Carries out a command, and replies once, unless the session ends before. */
  execute(command: Command, reply: (reply: Reply) => void) {
    if (!this.isOpen) return
    this.#settleTimers()
    this.#noteIdle()
    this.#begun_us = this.#server.server.world.now_us
    this.#reply = reply
    const refusal = this.#server.refusal(command)
    if (refusal !== undefined) return this.#fail(refusal)
    const names = command.locks?.()
    if (names === undefined || names.length === 0) return this.#work(command)
    this.#lock(command, names.length === 1 ? names : Array.from(new Set(names)).toSorted(), 0, false)
  }

  /** The client has closed its connection, and `cancels` what runs, or is gone. */
  hangUp(cancels: boolean) {
    if (!this.isOpen) return
    if (this.#reply === undefined || cancels) return this.#end()
    this.#isLeft = true
    this.#after(checkEvery_us, () => this.#end())
  }

  /** The server ends the session. A commit that is being written to the disk may be there already, whatever the client is told. */
  terminate(problem: Problem) {
    if (!this.isOpen) return
    const flushing = this.#flushing
    if (flushing !== undefined && this.#server.isWritten(flushing.from_us))
      this.#server.applied(this, flushing.apply)
    this.#end()
    this.#ended(problem)
  }

  #lock(command: Command, names: ReadonlyArray<string>, from: number, hasWaited: boolean) {
    const { bounds, locks } = this.#server
    for (let index = from; index < names.length; index++) {
      const granted = () => {
        this.#settleTimers(1)
        this.#lock(command, names, index + 1, true)
      }
      if (locks.take(this, names[index]!, granted)) continue
      if (!hasWaited)
        this.#after(bounds.statement_ms * ms_us, () =>
          this.#fail({ code: "57014", reason: "canceling statement due to statement timeout" })
        )
      this.#after(bounds.lock_ms * ms_us, () =>
        this.#fail({ code: "55P03", reason: "canceling statement due to lock timeout" })
      )
      this.#after(deadlockAfter_us, () => {
        if (locks.isDeadlocked(this)) this.#fail({ code: "40P01", reason: "deadlock detected" })
      })
      return
    }
    this.#settleTimers()
    this.#work(command)
  }

  #work(command: Command) {
    const { statement_us, flush_us } = this.#server.times(command)
    const waited_us = this.#server.server.world.now_us - this.#begun_us
    const most_us = this.#server.bounds.statement_ms * ms_us - waited_us
    if (statement_us > most_us) {
      this.#after(most_us, () =>
        this.#fail({ code: "57014", reason: "canceling statement due to statement timeout" })
      )
    } else {
      const { apply } = command
      if (flush_us > 0 && apply !== undefined)
        this.#flushing = { apply, from_us: this.#server.server.world.now_us + statement_us }
      this.#after(statement_us + flush_us, () => {
        this.#server.figures.statement(waited_us + statement_us)
        this.#complete(command)
      })
    }
  }

  #complete(command: Command) {
    this.#flushing = undefined
    const refusal = this.#server.refusal(command)
    if (refusal !== undefined) return this.#fail(refusal)
    // It waits for a standby that has left, until the session ends.
    if (this.#server.isAlone && command.writes && command.ends === "commit") return
    const value = command.apply === undefined ? undefined : this.#server.applied(this, command.apply)
    if (command.ends !== "no") this.#server.locks.release(this)
    this.#answer({ value })
    if (command.ends !== "no") return
    const { bounds, server } = this.#server
    this.#idle_us = server.world.now_us
    this.#after(bounds.idleInTransaction_ms * ms_us, () =>
      this.terminate({
        code: "25P03",
        reason: "terminating connection due to idle-in-transaction timeout"
      })
    )
  }

  /** PostgreSQL gives the locks back at once, before the client says `ROLLBACK`. */
  #fail(problem: Problem) {
    this.#server.locks.release(this)
    this.#answer({ problem })
  }

  #answer(answer: Reply) {
    this.#settleTimers()
    const reply = this.#reply
    this.#reply = undefined
    if (this.#isLeft) return this.#end()
    reply?.(answer)
  }

  #end() {
    this.isOpen = false
    this.#noteIdle()
    this.#settleTimers()
    this.#server.ended(this)
  }

  /** Its transaction goes on, or is over. */
  #noteIdle() {
    const { figures, server } = this.#server
    if (this.#idle_us !== undefined) figures.idle(server.world.now_us - this.#idle_us)
    this.#idle_us = undefined
  }

  /** Does something later, unless it is never. */
  #after(delay_us: number, then: () => void) {
    if (delay_us !== Number.POSITIVE_INFINITY)
      this.#timers.push(this.#server.server.world.after(delay_us, null, then))
  }

  /** Cancels its timers, but for the first `kept`. */
  #settleTimers(kept = 0) {
    for (const timer of this.#timers.splice(kept)) timer.isCancelled = true
  }
}
