import { ms_us } from "../world/Time.ts"
import type { VirtualServer } from "../world/VirtualServer.ts"
import type { World } from "../world/World.ts"
import { answer, type Row } from "./RunnerStatements.ts"
import type { End, Host, VirtualTcp } from "./VirtualTcp.ts"

/** What a client and the database say to each other. Each statement gets one result or one error, in their order. */
export type PgMessage =
  | {
      readonly tag: "startup"
      readonly applicationName: string
      /** `idle_session_timeout`, in milliseconds; 0: none. */
      readonly idle_ms: number
    }
  | { readonly tag: "ready"; readonly pid: number }
  | {
      readonly tag: "statement"
      readonly sql: string
      readonly parameters: ReadonlyArray<unknown>
      /** What a fault makes of it: the connection breaks before it is carried out, or when it was. */
      readonly breaks: "never" | "before" | "after"
    }
  | { readonly tag: "rows"; readonly rows: ReadonlyArray<Row> }
  | { readonly tag: "error"; readonly message: string }

/** Where the database listens. */
export const databasePort = 5_432

/** A row of the table of runners. */
export interface RunnerRow {
  readonly machineId: number
  readonly runner: string
  readonly healthy: boolean
  readonly heartbeat_us: number
}

/** A connection as the database sees it. It ends when nothing came for as long as it said when it began. */
export class Session {
  readonly pid: number
  readonly applicationName: string
  readonly end: End<PgMessage>
  readonly idleMax_us: number
  heard_us: number
  /** Whether what either side says gets lost on its way. */
  isSilenced = false

  constructor(
    pid: number,
    { applicationName, idle_ms }: PgMessage & { readonly tag: "startup" },
    end: End<PgMessage>,
    now_us: number
  ) {
    this.pid = pid
    this.applicationName = applicationName
    this.end = end
    this.idleMax_us = idle_ms * ms_us
    this.heard_us = now_us
  }
}

/**
 * The part of PostgreSQL that runner storage uses: a table of runners, advisory locks that last as long as the session that holds them, and
 * the statements of `SqlRunnerStorage`. The table survives a restart, sessions and locks do not.
 */
export class RunnerDatabase {
  readonly world: World
  readonly runners = new Map<string, RunnerRow>()
  readonly #server: VirtualServer
  readonly #sessions = new Set<Session>()
  readonly #locks = new Map<number, { readonly holder: Session; readonly times: number }>()
  #nextPid = 1
  #nextMachine = 1

  constructor(world: World, tcp: VirtualTcp<PgMessage>, server: VirtualServer) {
    this.world = world
    this.#server = server
    const host: Host = { name: server.name, isAlive: true, post: (task) => task() }
    tcp.listen(host, databasePort, (end) => this.#accept(end))
    server.whenStopped(() => {
      for (const session of Array.from(this.#sessions)) this.#terminate(session, "restart")
    })
  }

  /** Whether a session of that application holds the lock. */
  isHeldBy(lock: number, applicationName: string): boolean {
    return this.#locks.get(lock)?.holder.applicationName === applicationName
  }

  /** The application that holds the lock, if one does. */
  holderOf(lock: number): string | undefined {
    return this.#locks.get(lock)?.holder.applicationName
  }

  /** Locks that the session holds, in their order. */
  locksOf(pid: number): ReadonlyArray<number> {
    const held = Array.from(this.#locks).filter(([, { holder }]) => holder.pid === pid)
    return held.map(([lock]) => lock).toSorted((a, b) => a - b)
  }

  /** Takes locks, as often as the session wants, but for those that another one has. Gives those that it took. */
  tryLocks(session: Session, locks: ReadonlyArray<number>): ReadonlyArray<number> {
    const taken = locks.filter((lock) => this.#tryLock(session, lock))
    if (taken.length > 0) this.world.tell(session.applicationName, "locked", taken.join(" "))
    return taken
  }

  /** Gives a lock back that was taken as often as it was given back. */
  unlock(session: Session, lock: number): boolean {
    const held = this.#locks.get(lock)
    if (held?.holder !== session) return false
    if (held.times > 1) this.#locks.set(lock, { holder: session, times: held.times - 1 })
    else this.#locks.delete(lock)
    this.world.tell(session.applicationName, "unlocked", String(lock))
    return true
  }

  /** Gives all locks of a session back. */
  unlockAll(session: Session) {
    const locks = this.locksOf(session.pid)
    for (const lock of locks) this.#locks.delete(lock)
    if (locks.length > 0) this.world.tell(session.applicationName, "unlocked", locks.join(" "))
  }

  /** A number that no other row of the table had. */
  nextMachine(): number {
    return this.#nextMachine++
  }

  /** Applications that hold locks. */
  holders(): ReadonlyArray<string> {
    return Array.from(new Set(Array.from(this.#locks.values(), ({ holder }) => holder.applicationName)))
  }

  /** Ends all sessions of an application, as an administrator might. */
  terminate(applicationName: string) {
    for (const session of Array.from(this.#sessions))
      if (session.applicationName === applicationName) this.#terminate(session, "terminated")
  }

  /** Loses what comes over the present connections of an application, without a word. */
  silence(applicationName: string) {
    for (const session of this.#sessions)
      if (session.applicationName === applicationName) session.isSilenced = true
  }

  #tryLock(session: Session, lock: number): boolean {
    const held = this.#locks.get(lock)
    if (held !== undefined && held.holder !== session) return false
    this.#locks.set(lock, { holder: session, times: (held?.times ?? 0) + 1 })
    return true
  }

  #accept(end: End<PgMessage>) {
    if (!this.#server.isUp) return end.reset()
    let session: Session | undefined
    end.read({
      onMessage: (message) => {
        if (message.tag === "startup") session ??= this.#start(message, end)
        else if (message.tag === "statement" && session !== undefined) this.#execute(session, message)
      },
      onEnd: (ending) => {
        if (session !== undefined && !session.isSilenced) this.#close(session, ending)
      }
    })
  }

  #start(startup: PgMessage & { readonly tag: "startup" }, end: End<PgMessage>): Session {
    const session = new Session(this.#nextPid++, startup, end, this.world.now_us)
    this.#sessions.add(session)
    if (session.idleMax_us > 0) this.#watch(session)
    end.send({ tag: "ready", pid: session.pid })
    return session
  }

  #execute(session: Session, { breaks, parameters, sql }: PgMessage & { readonly tag: "statement" }) {
    if (!this.#sessions.has(session) || session.isSilenced) return
    session.heard_us = this.world.now_us
    if (breaks === "before") return this.#terminate(session, "broken")
    const result = answer(this, session, sql, parameters)
    if (breaks === "after") return this.#terminate(session, "broken")
    session.end.send(
      typeof result === "string" ? { tag: "error", message: result } : { tag: "rows", rows: result }
    )
  }

  #watch(session: Session) {
    this.world.after(session.heard_us + session.idleMax_us - this.world.now_us, null, () => {
      if (!this.#sessions.has(session)) return
      if (session.heard_us + session.idleMax_us > this.world.now_us) return this.#watch(session)
      if (!session.isSilenced) session.end.close()
      this.#close(session, "idle")
    })
  }

  #terminate(session: Session, why: string) {
    session.end.reset()
    this.#close(session, why)
  }

  #close(session: Session, why: string) {
    if (!this.#sessions.delete(session)) return
    if (why !== "closed") this.world.tell(session.applicationName, "session ended", why)
    this.unlockAll(session)
  }
}
