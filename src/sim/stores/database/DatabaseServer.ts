import type { Chance } from "../../world/Chance.ts"
import type { VirtualServer } from "../../world/VirtualServer.ts"
import { Backend, type Command, type Problem } from "./Backend.ts"
import { RowLocks } from "./RowLocks.ts"

/** PostgreSQL's default of `max_connections`. */
const connectionsMax = 100

/** How long a statement takes, and a commit that writes, on average: microseconds. */
const statementMean_us = 80
const flushMean_us = 400

/** The PostgreSQL of a database's machine: its sessions, and the locks of their transactions. */
export class DatabaseServer {
  readonly server: VirtualServer
  /** Which promotion of a standby it is of. */
  readonly timeline: number
  /** Whether commits wait for a standby that it has no more. */
  isAlone = false
  readonly locks = new RowLocks<Backend>()
  readonly #chance: Chance
  readonly #backends = new Set<Backend>()
  #working: Backend | undefined

  constructor(server: VirtualServer, timeline: number) {
    this.server = server
    this.timeline = timeline
    this.#chance = server.world.chance("statements")
  }

  /** How many sessions there are. */
  get sessions(): number {
    return this.#backends.size
  }

  /** A new session of a client, or why there is none. `ended` is told when the server ends it. */
  accept(ended: (problem: Problem) => void, client = ""): Backend | Problem {
    if (!this.server.isUp) return { code: "ECONNREFUSED", reason: "connection refused" }
    if (this.#backends.size >= connectionsMax)
      return { code: "53300", reason: "sorry, too many clients already" }
    const backend = new Backend(this, ended, client)
    this.#backends.add(backend)
    return backend
  }

  /** Whether another transaction than the one that is being committed has locked a row. */
  readonly isLocked = (name: string): boolean => this.locks.isTaken(name, this.#working)

  /** Why a command is refused, if it is. */
  refusal(_command: Command): Problem | undefined {
    return undefined
  }

  /** How long a command takes: itself, which the session's bounds may cut short, and its commit, which they do not. */
  times({ ends, writes }: Command): { readonly statement_us: number; readonly flush_us: number } {
    return {
      statement_us: 20 + this.#chance.waiting(statementMean_us),
      flush_us: writes && ends === "commit" ? 100 + this.#chance.waiting(flushMean_us) : 0
    }
  }

  /** Has happen what a session's transaction did. */
  applied(backend: Backend, apply: (server: DatabaseServer) => unknown): unknown {
    this.#working = backend
    const value = apply(this)
    this.#working = undefined
    return value
  }

  /** A session is over: its transaction is rolled back. */
  ended(backend: Backend) {
    this.#backends.delete(backend)
    this.locks.release(backend)
  }

  /** Ends all sessions, but for those of some clients. */
  shutDown(keeps: (client: string) => boolean = () => false) {
    for (const backend of Array.from(this.#backends))
      if (!keeps(backend.client))
        backend.terminate({
          code: "57P01",
          reason: "terminating connection due to administrator command"
        })
  }
}
