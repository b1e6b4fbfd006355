import { Duration } from "effect"
import * as DatabaseServers from "../../../storage/sql/postgres/DatabaseServers.ts"
import { connections } from "../../../storage/sql/postgres/PostgresClient.ts"
import { gone } from "../../../storage/sql/postgres/PrimaryClient.ts"
import { ms_us } from "../../world/Time.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import type { WorldEvent } from "../../world/World.ts"
import { type Backend, type Command, keepalive_us, type Problem, type Reply } from "./Backend.ts"
import type { VirtualServer } from "../../world/VirtualServer.ts"
import type { DatabaseServer } from "./DatabaseServer.ts"

/** What a fault makes of a command: it does not arrive, or its answer does not, because the connection breaks or without a word. */
export type Fate = "arrives" | "ignored" | "lost" | "broken before" | "broken after"

/** How a command fares on its way. */
export interface Passage {
  readonly fate: Fate
  /** How late it is sent, and its answer, in microseconds. */
  readonly late_us: number
  readonly answerLate_us: number
}

/** What `PrimaryPool` says of a connection that there is none of. */
const noConnection = (reason: string): Problem => ({ code: "no connection", reason })

/** For so long a connection that was given up counts as one that the server still has, as with `PrimaryPool`. */
const goneAfter_us = 15_000 * ms_us

const productionsAnswer_ms = Duration.toMillis(connections.answerTimeout)
const productionsConnect_ms = Duration.toMillis(connections.connectTimeout)

/** A connection of a process's pool, which has one command under way at most. */
export class Connection {
  readonly generation: number
  /** The primary's. */
  readonly timeline: number
  /** Why it is of no use any more. */
  problem: Problem | undefined
  readonly #pool: ConnectionPool
  readonly #backend: Backend
  #heard: ((reply: Reply) => void) | undefined
  /** Until when the last command that is late stands before the server. */
  #late_us = 0
  /** Hears the last answer that came to its machine. */
  #arrived = () => {}

  constructor(pool: ConnectionPool, backend: Backend, timeline: number, generation: number) {
    this.#pool = pool
    this.timeline = timeline
    this.#backend = backend
    this.generation = generation
  }

  /** Sends a command. `answered` hears of it in the process, `arriving` when the answer comes to its machine. */
  ask(
    command: Command,
    { answerLate_us, fate, late_us }: Passage,
    arriving: () => void,
    answered: (reply: Reply) => void
  ) {
    const { process, server } = this.#pool
    const { name, network, world } = server
    if (this.problem !== undefined) return answered({ problem: { ...this.problem, code: undefined } })
    const timer = world.after(this.#pool.answerMax_us, process, () =>
      process.post(() => {
        if (!timer.isCancelled) this.#giveUp()
      })
    )
    const heard = (reply: Reply) => {
      if (this.#heard !== heard) return
      this.#heard = undefined
      timer.isCancelled = true
      const code = "problem" in reply ? reply.problem.code : undefined
      // As `PrimaryClient` does: the server is no primary any more, or goes away.
      if (code !== undefined && gone.test(code) && !this.#pool.keeps(code)) {
        this.#pool.servers.dropAll()
        this.close(false)
      }
      answered(reply)
    }
    this.#heard = heard
    if (fate === "ignored") return
    const isWanted = () => process.isAlive && this.#heard === heard
    const arrive = () => {
      if (fate === "broken before") return this.#break()
      this.#backend.execute(command, (reply) => {
        if (fate === "lost") return
        if (fate === "broken after") return this.#break()
        server.after(answerLate_us, () =>
          network.deliver(name, process.name, () => {
            if (!process.isAlive) return
            arriving()
            this.#arrived = () => heard(reply)
            process.post(this.#arrived)
          })
        )
      })
    }
    this.#late_us = world.now_us + late_us
    server.after(late_us, () => network.deliver(process.name, name, arrive, isWanted))
  }

  /** It breaks: both sides hear of it. */
  #break() {
    this.#backend.terminate({ code: undefined, reason: "Connection terminated unexpectedly" })
  }

  /** Closes it. `cancels`: what runs there is cancelled, as `PrimaryClient` asks for. */
  close(cancels: boolean) {
    this.problem ??= { code: undefined, reason: "Connection terminated" }
    const { process, server } = this.#pool
    const { name, network, world } = server
    const backend = this.#backend
    if (!backend.isOpen) return
    backend.closed_us = Math.min(backend.closed_us, world.now_us)
    // It does not overtake a command that is late.
    server.after(Math.max(0, this.#late_us - world.now_us), () =>
      network.deliver(
        process.name,
        name,
        () => backend.hangUp(cancels),
        () => backend.isOpen
      )
    )
    world.after(keepalive_us, null, () => backend.hangUp(true))
  }

  /** The server has ended the session, and its word has come. */
  broke(problem: Problem) {
    this.problem ??= problem
    // The answer came first.
    this.#arrived()
    this.#heard?.({ problem })
  }

  #giveUp() {
    this.problem ??= { code: undefined, reason: "Query read timeout" }
    this.#pool.gaveUp()
    this.close(true)
    this.#heard?.({ problem: this.problem })
  }
}

/** How a pool is. */
export interface PoolOptions {
  /** Connections at most. */
  readonly most: number
  /** How long it waits for an answer, and for a connection; as in production unless said otherwise. */
  readonly answerMax_ms?: number | undefined
  readonly connectMax_ms?: number | undefined
  /** Whether it works on servers that take no writes: a defect. */
  readonly keepsReadOnly?: boolean | undefined
  /** Whether it gives out connections of a generation that is over: a defect. */
  readonly keepsFormer?: boolean | undefined
}

/** Is told of a connection, or why there is none. */
type Lease = (connection: Connection | Problem) => void

interface Waiter {
  readonly lease: Lease
  readonly timer: WorldEvent
}

/** A process's connections, as `PrimaryPool` keeps them: so many at most, those last used first, and those who find none wait for a time. */
export class ConnectionPool {
  readonly process: VirtualProcess
  readonly server: VirtualServer
  readonly #route: (client: string) => DatabaseServer
  readonly servers: DatabaseServers.DatabaseServersService
  readonly answerMax_us: number
  readonly #connectMax_us: number
  readonly #most: number
  readonly #keepsReadOnly: boolean
  readonly #keepsFormer: boolean
  readonly #open = new Set<Connection>()
  readonly #idle: Array<Connection> = []
  readonly #waiters: Array<Waiter> = []
  #count = 0
  /** The timeline of the newest primary that has proved to be one. */
  #newest = 0
  #givenUp_us: Array<number> = []

  /** `route`: where new connections of a client lead. */
  constructor(
    process: VirtualProcess,
    route: (client: string) => DatabaseServer,
    {
      answerMax_ms = productionsAnswer_ms,
      connectMax_ms = productionsConnect_ms,
      keepsFormer = false,
      keepsReadOnly = false,
      most
    }: PoolOptions
  ) {
    this.process = process
    this.server = route(process.name).server
    this.#route = route
    this.answerMax_us = answerMax_ms * ms_us
    this.#connectMax_us = connectMax_ms * ms_us
    this.#most = most
    this.#keepsReadOnly = keepsReadOnly
    this.#keepsFormer = keepsFormer
    this.servers = DatabaseServers.make([this.server.name])
    process.whenDead(() => this.#open.forEach((connection) => connection.close(false)))
  }

  /** A server has proved to be a primary, to whatever connection of the process: gives why it is not to be worked on, if so. */
  proved({ timeline }: DatabaseServer): string | undefined {
    const refused = this.servers.proved(this.server.name, {
      system: undefined,
      timeline: String(timeline).padStart(8, "0")
    })
    if (refused === undefined) this.#newest = Math.max(this.#newest, timeline)
    return refused
  }

  /** Lends a connection, which is to be released. Returns what to call when it is not wanted any more. */
  lease(lease: Lease): () => void {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      const isOld = idle.generation !== this.servers.generation() && !this.#keepsFormer
      if (idle.problem === undefined && !isOld) {
        if (idle.timeline < this.#newest) {
          const { now_us: at_us } = this.server.world
          this.#route(this.process.name).figures.leftBehind.push({ by: this.process.id, at_us })
        }
        lease(idle)
        return () => {}
      }
      this.#remove(idle)
    }
    if (this.#count < this.#most) {
      this.#connect(lease)
      return () => {}
    }
    const leave = () => {
      const index = this.#waiters.indexOf(waiter)
      if (index >= 0) this.#waiters.splice(index, 1)
      waiter.timer.isCancelled = true
    }
    const timer = this.#after(this.#connectMax_us, () => {
      leave()
      lease(noConnection("timeout exceeded when trying to connect"))
    })
    const waiter: Waiter = { lease, timer }
    this.#waiters.push(waiter)
    return leave
  }

  /** Takes a connection back. */
  release(connection: Connection) {
    if (connection.problem === undefined) this.#idle.push(connection)
    else this.#remove(connection)
    this.#pulse()
  }

  /** Whether a connection is kept whose server has refused a command with a code. */
  keeps(code: string): boolean {
    return this.#keepsReadOnly && code === "25006"
  }

  /** A connection was given up unanswered: the server may have it for a while. */
  gaveUp() {
    this.#givenUp_us.push(this.server.world.now_us)
  }

  #pulse() {
    if (this.#waiters.length === 0 || (this.#idle.length === 0 && this.#count >= this.#most)) return
    const { lease, timer } = this.#waiters.shift()!
    timer.isCancelled = true
    this.lease(lease)
  }

  #connect(lease: Lease) {
    const { process, server, servers } = this
    const { name, network, world } = server
    const since_us = world.now_us - goneAfter_us
    this.#givenUp_us = this.#givenUp_us.filter((at_us) => at_us > since_us)
    if (this.#givenUp_us.length >= this.#most) {
      this.#route(process.name).figures.refusals.push({ by: process.id, at_us: world.now_us })
      return process.post(() =>
        lease(noConnection("as many connections were given up lately as there may be"))
      )
    }
    const generation = servers.generation()
    let isOver = false
    this.#count++
    const fail = ({ reason }: Problem) => {
      if (isOver) return
      isOver = true
      timer.isCancelled = true
      this.#count--
      lease(noConnection(reason))
      this.#pulse()
    }
    const timer = this.#after(this.#connectMax_us, () => fail(noConnection("no answer")))
    const toProcess = (then: () => void) =>
      network.deliver(
        name,
        process.name,
        () => process.post(then),
        () => process.isAlive
      )
    network.deliver(
      process.name,
      name,
      () => {
        if (isOver || !process.isAlive) return
        const primary = this.#route(process.name)
        const accepted = primary.accept(
          (problem) => toProcess(() => connection?.broke(problem)),
          process.name
        )
        const connection =
          "code" in accepted ? undefined : new Connection(this, accepted, primary.timeline, generation)
        if (connection === undefined) return toProcess(() => fail(accepted as Problem))
        this.#open.add(connection)
        toProcess(() => {
          if (isOver) return this.#forget(connection)
          const refused =
            primary.has("read-only") && !this.#keepsReadOnly
              ? "the server is read-only"
              : this.proved(primary)
          if (refused !== undefined) {
            this.#forget(connection)
            return fail(noConnection(refused))
          }
          isOver = true
          timer.isCancelled = true
          lease(connection)
        })
      },
      () => !isOver && process.isAlive
    )
  }

  #remove(connection: Connection) {
    this.#count--
    this.#forget(connection)
  }

  #forget(connection: Connection) {
    this.#open.delete(connection)
    connection.close(false)
  }

  #after(delay_us: number, then: () => void): WorldEvent {
    const { process } = this
    const event = this.server.world.after(delay_us, process, () =>
      process.post(() => {
        if (!event.isCancelled) then()
      })
    )
    return event
  }
}
