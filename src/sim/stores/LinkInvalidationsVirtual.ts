import { Effect, type Scope } from "effect"
import type {
  LinkInvalidationsService,
  LinkChangesSubscriber
} from "../../storage/links/LinkInvalidations.ts"
import { Heartbeats } from "../../storage/sql/postgres/PersistentSession.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { CallFaults, VirtualServer } from "../world/VirtualServer.ts"
import type { WorldEvent } from "../world/World.ts"
import { Line } from "./Line.ts"

/** How soon a lost connection is made again; as `LinkInvalidationsPostgres`. */
const againAfter_us = 200 * ms_us

/** A connection that does not answer for this long is given up; as `LinkInvalidationsPostgres`. */
const answerMax_us = 1_000 * ms_us

/** A connection of a process to the database, on which it asks one thing at a time and is told things in between, all in order. */
class Connection {
  readonly process: VirtualProcess
  isOpen = true
  /** Whether the database knows of it. */
  isKnown = true
  readonly #server: VirtualServer
  readonly #faults: () => CallFaults
  readonly #there: Line
  readonly #back: Line
  readonly #whenLost: (reason: string) => void
  #inbox: Array<() => void> = []
  #timer: WorldEvent | undefined

  constructor(
    process: VirtualProcess,
    server: VirtualServer,
    faults: () => CallFaults,
    whenLost: (reason: string) => void
  ) {
    this.process = process
    this.#server = server
    this.#faults = faults
    this.#whenLost = whenLost
    const { name, network, world } = server
    this.#there = new Line(world, network, process.name, name)
    this.#back = new Line(world, network, name, process.name)
  }

  /** Has something happen at the server, and something in the process when that was answered. Without an answer the connection is lost. */
  ask(atServer: () => void, answered: () => void) {
    const { world } = this.#server
    const timer = world.after(answerMax_us, this.process, () =>
      this.process.post(() => {
        if (!timer.isCancelled) this.lose("no answer")
      })
    )
    this.#timer = timer
    this.#there.send(() => {
      if (!this.#server.isUp) return this.tell(() => this.lose("connection refused"))
      if (!this.isKnown) return this.tell(() => this.lose("the connection was reset"))
      const { ignored, lost } = this.#faults()
      if (world.chance("news").happens(ignored + lost)) return
      atServer()
      this.tell(() => {
        timer.isCancelled = true
        answered()
      })
    })
  }

  /** Has something happen in the process, behind everything that it was told before. */
  tell(happen: () => void) {
    this.#back.send(() => {
      this.#inbox.push(happen)
      // A process takes its tasks in any order, but what comes on a connection in its own.
      this.process.post(() => this.#inbox.shift()?.())
    })
  }

  lose(reason: string) {
    if (!this.isOpen) return
    this.close()
    this.#whenLost(reason)
  }

  close() {
    this.isOpen = false
    if (this.#timer !== undefined) this.#timer.isCancelled = true
    this.#there.close()
    this.#back.close()
    this.#inbox = []
  }
}

/** How the news reach one process, for as long as it lives. */
class Listener implements LinkInvalidationsService {
  readonly #news: VirtualNews
  readonly #process: VirtualProcess
  readonly #subscribers = new Set<LinkChangesSubscriber>()
  #connection: Connection | undefined
  #isOpen = true
  #isListening = false
  readonly #heartbeats = new Heartbeats()

  constructor(news: VirtualNews, process: VirtualProcess) {
    this.#news = news
    this.#process = process
    process.whenDead(() => this.close())
    this.#connect()
  }

  readonly isFresh = (now: number) => this.#isListening && this.#heartbeats.isFresh(now)

  readonly awayFor = (now: number) => this.#heartbeats.awayFor(now)

  readonly epoch = () => this.#heartbeats.watched

  readonly subscribe = (subscriber: LinkChangesSubscriber): Effect.Effect<void, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => void this.#subscribers.add(subscriber)),
      () => Effect.sync(() => void this.#subscribers.delete(subscriber))
    )

  close() {
    this.#isOpen = false
    this.#isListening = false
    if (this.#connection === undefined) return
    this.#connection.close()
    this.#news.forget(this.#connection)
  }

  forget(key: string) {
    this.#subscribers.forEach((subscriber) => subscriber.forget(key))
  }

  #connect() {
    const connection = this.#news.connect(this.#process, (reason) => this.#lost(connection, reason))
    this.#connection = connection
    connection.ask(
      () => this.#news.listen(connection, this),
      () => {
        this.#process.world.tell(this.#process.id, "listening")
        this.#news.connected(this.#process)
        this.#news.listens(this.#process.id)
        this.#subscribers.forEach((subscriber) => subscriber.forgetAll())
        this.#prove(connection)
      }
    )
  }

  #prove(connection: Connection) {
    if (!connection.isOpen) return
    const asked = this.#process.monotonicNow_ms()
    let database_ms = 0
    let epoch = 0
    connection.ask(
      () => {
        database_ms = this.#news.now_ms()
        epoch = this.#news.epoch()
      },
      () => {
        if (this.#news.tellsTime)
          this.#process.time.heard({ database_ms, asked, answered: this.#process.monotonicNow_ms() })
        this.#isListening = true
        this.#heartbeats.answered(asked, epoch)
        this.#news.heard(this.#process.id, asked * ms_us)
        this.#proveLater(connection)
      }
    )
  }

  #lost(connection: Connection, reason: string) {
    this.#news.forget(connection)
    this.#isListening = false
    this.#heartbeats.failed()
    if (this.#heartbeats.awayFor(this.#process.monotonicNow_ms()) !== undefined)
      this.#news.tookForAway(this.#process.id)
    this.#process.world.tell(this.#process.id, "news lost", reason)
    this.#later(againAfter_us, () => this.#connect())
  }

  #proveLater(connection: Connection) {
    const prove = () => this.#prove(connection)
    const pause_ms = this.#heartbeats.pause_ms(() => {
      timer.isCancelled = true
      this.#post(prove)
    })
    const timer = this.#later(pause_ms * ms_us, prove)
  }

  #later(delay_us: number, then: () => void): WorldEvent {
    return this.#process.world.after(delay_us, this.#process, () => this.#post(then))
  }

  #post(then: () => void) {
    this.#process.post(() => {
      if (this.#isOpen) then()
    })
  }
}

/** A time of more than a second in which a process heard nothing of the database, in microseconds since the world's beginning: from when it sent the last heartbeat that was answered. */
export interface Silence {
  readonly by: string
  readonly from_us: number
  readonly until_us: number
}

/** A time in which a process took the database for away, in microseconds since the world's beginning: two questions in a row had failed. */
export interface Away extends Silence {
  /** When it sent the last heartbeat before that which was answered. */
  readonly heard_us: number
}

/** The database's announcements of changed links, and the connections of those who listen for them. */
export class VirtualNews {
  readonly #server: VirtualServer
  readonly #faults: () => CallFaults
  readonly connected: (process: VirtualProcess) => void
  /** What the database's clock shows. */
  readonly now_ms: () => number
  /** Whether processes go by it. */
  readonly tellsTime: boolean
  /** The database's epoch. */
  readonly epoch: () => number
  readonly #connections = new Set<Connection>()
  readonly #listeners = new Map<Connection, Listener>()
  /** When each process sent its last heartbeat that was answered. */
  readonly #heard_us = new Map<string, number>()
  readonly #silences: Array<Silence> = []
  /** Since when processes have taken the database for away that do so now. */
  readonly #awaySince_us = new Map<string, number>()
  /** When processes began to listen, and forgot all that they knew, in this order. */
  readonly listenings: Array<{ readonly by: string; readonly at_us: number }> = []
  readonly #aways: Array<Away> = []

  /** `connected` is told of each connection that listens. */
  constructor(
    server: VirtualServer,
    faults: () => CallFaults,
    connected: (process: VirtualProcess) => void = () => {},
    now_ms: () => number = () => server.world.now_ms,
    tellsTime = true,
    epoch: () => number = () => 0
  ) {
    this.epoch = epoch
    this.now_ms = now_ms
    this.tellsTime = tellsTime
    this.#server = server
    this.#faults = faults
    this.connected = connected
    server.whenStopped(() => {
      for (const connection of this.#connections) {
        connection.isKnown = false
        connection.tell(() => connection.lose("the connection was reset"))
      }
      this.#connections.clear()
      this.#listeners.clear()
    })
  }

  /** Notes that a heartbeat of a process was answered, which it sent at `asked_us`. */
  heard(by: string, asked_us: number) {
    const from_us = this.#heard_us.get(by)
    const until_us = this.#server.world.now_us
    const since_us = this.#awaySince_us.get(by)
    if (since_us !== undefined) {
      this.#awaySince_us.delete(by)
      this.#aways.push(this.#away(by, since_us, until_us))
    }
    this.#heard_us.set(by, asked_us)
    if (from_us !== undefined && until_us - from_us > s_us) this.#silences.push({ by, from_us, until_us })
  }

  /** Notes that a process listens from now on. */
  listens(by: string) {
    this.listenings.push({ by, at_us: this.#server.world.now_us })
  }

  #away(by: string, from_us: number, until_us: number): Away {
    return { by, from_us, until_us, heard_us: this.#heard_us.get(by) ?? 0 }
  }

  /** Notes that a process takes the database for away, until a heartbeat of it is answered. */
  tookForAway(by: string) {
    if (!this.#awaySince_us.has(by)) this.#awaySince_us.set(by, this.#server.world.now_us)
  }

  /** When processes took the database for away; those that do so now have no end. */
  get aways(): ReadonlyArray<Away> {
    const open = Array.from(this.#awaySince_us, ([by, from_us]) => this.#away(by, from_us, Infinity))
    return [...this.#aways, ...open]
  }

  /** The silences of all processes; those that go on now have no end. */
  get silences(): ReadonlyArray<Silence> {
    const open = Array.from(this.#heard_us, ([by, from_us]) => ({ by, from_us, until_us: Infinity }))
    return [...this.#silences, ...open.filter(({ from_us }) => this.#server.world.now_us - from_us > s_us)]
  }

  /** Announces keys, at the moment when the change is committed, to all who listen then. */
  announce(keys: ReadonlySet<string>) {
    for (const [connection, listener] of this.#listeners)
      for (const key of keys) connection.tell(() => listener.forget(key))
  }

  /** See `LinkInvalidations`: on a connection that is made again when it is lost, until the scope is closed or the process dies. */
  of(process: VirtualProcess): Effect.Effect<LinkInvalidationsService, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => new Listener(this, process)),
      (listener) => Effect.sync(() => listener.close())
    )
  }

  connect(process: VirtualProcess, whenLost: (reason: string) => void): Connection {
    const connection = new Connection(process, this.#server, this.#faults, whenLost)
    this.#connections.add(connection)
    return connection
  }

  listen(connection: Connection, listener: Listener) {
    if (connection.isOpen) this.#listeners.set(connection, listener)
  }

  forget(connection: Connection) {
    this.#connections.delete(connection)
    this.#listeners.delete(connection)
  }
}
