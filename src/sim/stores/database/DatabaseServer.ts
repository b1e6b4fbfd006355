import type { Chance } from "../../world/Chance.ts"
import type { VirtualServer } from "../../world/VirtualServer.ts"
import type { SessionBounds } from "../../../storage/sql/postgres/PrimaryClient.ts"
import { Backend, bounds, type Command, type Problem } from "./Backend.ts"
import { SessionFigures } from "./SessionFigures.ts"
import { RowLocks } from "./RowLocks.ts"

/** PostgreSQL's default of `max_connections`. */
const connectionsMax = 100

/** What can be wrong with a database that is there: its disk has no room, or is slow, or it takes no writes. */
export const ailments = ["full disk", "slow disk", "read-only"] as const
/** See {@link ailments}. */
export type Ailment = (typeof ailments)[number]

/** How much longer a commit takes that writes to a slow disk, on average: microseconds. */
const slowFlushMean_us = 300_000

/** How likely a statement that writes to a slow disk hangs, and for how long on average: microseconds. */
const hangs = { probability: 0.01, mean_us: 4_000_000 }

/** Within what time the server hears that a client has closed a session, where the network is sound: such a session counts as one no more. */
const closesWithin_us = 100_000

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
  /** Whether it follows another one, and takes no writes. */
  isStandby = false
  readonly bounds: SessionBounds
  readonly figures: SessionFigures
  readonly locks = new RowLocks<Backend>()
  readonly #chance: Chance
  readonly #endings: Chance
  readonly #backends = new Set<Backend>()
  #working: Backend | undefined

  /** `own`: what the bounds of its sessions differ in from production's. */
  constructor(
    server: VirtualServer,
    timeline: number,
    own: Partial<SessionBounds> = {},
    figures: SessionFigures = new SessionFigures()
  ) {
    this.server = server
    this.timeline = timeline
    this.bounds = { ...bounds, ...own }
    this.figures = figures
    this.#chance = server.world.chance("statements")
    this.#endings = server.world.chance("commits whose session ends")
  }

  /** What is wrong with it now, each as often as it was said to be. */
  readonly #ailments = new Map<Ailment, number>()

  /** Has something be wrong with it for a time, in microseconds. */
  ail(ailment: Ailment, for_us: number) {
    const add = (count: number) => this.#ailments.set(ailment, (this.#ailments.get(ailment) ?? 0) + count)
    add(1)
    this.server.world.after(for_us, null, () => add(-1))
  }

  /** Nothing is wrong with it any more. */
  heal() {
    this.#ailments.clear()
  }

  /** Whether something is wrong with it. */
  has(ailment: Ailment): boolean {
    return (this.#ailments.get(ailment) ?? 0) > 0 || (ailment === "read-only" && this.isStandby)
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
    const now_us = this.server.world.now_us
    const isClosing = ({ closed_us }: Backend) => closed_us <= now_us && closed_us > now_us - closesWithin_us
    this.figures.sessions(
      Array.from(this.#backends).filter((one) => one.client === client && !isClosing(one)).length
    )
    return backend
  }

  /** Whether another transaction than the one that is being committed has locked a row. */
  readonly isLocked = (name: string): boolean => this.locks.isTaken(name, this.#working)

  /** Why a command is refused, if it is. */
  refusal({ writes }: Pick<Command, "writes">): Problem | undefined {
    if (!writes || (this.#ailments.size === 0 && !this.isStandby)) return undefined
    if (this.has("read-only"))
      return { code: "25006", reason: "cannot execute INSERT in a read-only transaction" }
    return this.has("full disk")
      ? { code: "53100", reason: "could not extend file: No space left on device" }
      : undefined
  }

  /** How long a command takes: itself, which the session's bounds may cut short, and its commit, which they do not. */
  times({ ends, writes }: Command): { readonly statement_us: number; readonly flush_us: number } {
    const isFlushed = writes && ends === "commit"
    const isSlow = writes && this.has("slow disk")
    const slow_us = isFlushed && isSlow ? this.#chance.waiting(slowFlushMean_us) : 0
    const hangs_us =
      isSlow && this.#chance.happens(hangs.probability) ? this.#chance.waiting(hangs.mean_us) : 0
    return {
      statement_us: 20 + this.#chance.waiting(statementMean_us) + hangs_us,
      flush_us: isFlushed ? 100 + this.#chance.waiting(flushMean_us) + slow_us : 0
    }
  }

  /** Whether a commit that is written from a time on is there, although its session ends now. */
  isWritten(from_us: number): boolean {
    return (
      this.server.world.now_us >= from_us &&
      !this.isAlone &&
      this.refusal({ writes: true }) === undefined &&
      this.#endings.happens(0.5)
    )
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
