import { Duration } from "effect"
import { connections } from "../../node/ClusterRunner.ts"
import { ms_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { WorldEvent } from "../world/World.ts"
import { type ConnectionFaults, PgConnection } from "./PgConnection.ts"
import { databasePort, type PgMessage } from "./RunnerDatabase.ts"
import type { VirtualTcp } from "./VirtualTcp.ts"

/** Who connects to which database, and what goes wrong. */
export interface PoolOptions extends ConnectionFaults {
  readonly tcp: VirtualTcp<PgMessage>
  readonly process: VirtualProcess
  /** The machine of the database. */
  readonly machine: string
  readonly applicationName: string
}

/** Is told of a connection, or why there is none. */
export type Lease = (connection: PgConnection | Error) => void

interface Waiter {
  readonly lease: Lease
  readonly timer: WorldEvent
}

interface Idle {
  readonly connection: PgConnection
  readonly timer: WorldEvent
}

const connectMax_us = Duration.toMillis(connections.connectTimeout) * ms_us
const idleMax_us = Duration.toMillis(connections.idleTimeout) * ms_us

/**
 * A pool of connections, as `pg.Pool` keeps it: those last used are used first, whether or not they answer; none for a waiter in a second is an
 * error, and so is a connection that does not come about in that time.
 */
export class PgPool {
  readonly #options: PoolOptions
  readonly #idle: Array<Idle> = []
  readonly #waiters: Array<Waiter> = []
  readonly #open = new Set<PgConnection>()
  #count = 0
  #isEnding = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Lends a connection, which is to be released. */
  connect(lease: Lease) {
    if (this.#isEnding) return lease(new Error("Cannot use a pool after calling end on the pool"))
    if (this.#idle.length === 0 && this.#count < connections.maxConnections) return this.#make(lease)
    const waiter: Waiter = {
      lease,
      timer: this.#after(connectMax_us, () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        lease(new Error("timeout exceeded when trying to connect"))
      })
    }
    this.#waiters.push(waiter)
    this.#options.process.post(() => this.#pulse())
  }

  /** Takes a connection back, for good when it is broken. */
  release(connection: PgConnection, error?: Error) {
    if (error !== undefined || this.#isEnding || !connection.isQueryable) return this.#remove(connection)
    const timer = this.#after(idleMax_us, () => this.#remove(connection))
    this.#idle.push({ connection, timer })
    connection.whenBroken = () => this.#remove(connection)
    this.#pulse()
  }

  /** Closes every connection. */
  end() {
    this.#isEnding = true
    for (const connection of Array.from(this.#open)) this.#remove(connection)
  }

  #pulse() {
    if (this.#waiters.length === 0 || this.#isEnding) return
    if (this.#idle.length === 0 && this.#count >= connections.maxConnections) return
    const { lease, timer } = this.#waiters.shift()!
    timer.isCancelled = true
    const idle = this.#idle.pop()
    if (idle === undefined) return this.#make(lease)
    idle.timer.isCancelled = true
    idle.connection.whenBroken = () => {}
    lease(idle.connection)
  }

  #make(lease: Lease) {
    const { applicationName, machine, process, tcp } = this.#options
    let connection: PgConnection | undefined
    let isSettled = false
    this.#count++
    const fail = (why: string) => {
      if (isSettled) return
      isSettled = true
      timer.isCancelled = true
      giveUp()
      this.#count--
      if (connection !== undefined) this.#open.delete(connection)
      connection?.close()
      lease(new Error(why))
      this.#pulse()
    }
    const timer = this.#after(connectMax_us, () => fail("Connection terminated due to connection timeout"))
    const giveUp = tcp.connect(process, machine, databasePort, (end) => {
      if (end === "refused") return fail("connect ECONNREFUSED")
      connection = new PgConnection(process, end, this.#options)
      connection.whenBroken = ({ message }) => fail(message)
      this.#open.add(connection)
      connection.start(applicationName, () => {
        if (isSettled) return
        isSettled = true
        timer.isCancelled = true
        connection!.whenBroken = () => {}
        lease(connection!)
      })
    })
  }

  #remove(connection: PgConnection) {
    if (!this.#open.delete(connection)) return
    const index = this.#idle.findIndex((idle) => idle.connection === connection)
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1)
    if (idle !== undefined) idle.timer.isCancelled = true
    connection.whenBroken = () => {}
    connection.close()
    this.#count--
    this.#pulse()
  }

  #after(delay_us: number, then: () => void): WorldEvent {
    const { process } = this.#options
    const event = process.world.after(delay_us, process, () =>
      process.post(() => {
        if (!event.isCancelled) then()
      })
    )
    return event
  }
}
