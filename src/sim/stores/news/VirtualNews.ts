import { Effect, type Scope } from "effect"
import { EventEmitter } from "node:events"
import type { LinkInvalidationsService } from "../../../storage/links/LinkInvalidations.ts"
import * as LinkInvalidationsPostgres from "../../../storage/links/LinkInvalidationsPostgres.ts"
import * as DatabaseServers from "../../../storage/sql/postgres/DatabaseServers.ts"
import * as PersistentSession from "../../../storage/sql/postgres/PersistentSession.ts"
import * as Pulse from "../../../time/Pulse.ts"
import { TrustedTime } from "../../../time/TrustedTime.ts"
import { Soon } from "../../world/Soon.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import type { CallFaults, SlowCalls, VirtualServer } from "../../world/VirtualServer.ts"
import type { WorldEvent } from "../../world/World.ts"
import { Line } from "./Line.ts"

/** How what is asked on these connections fares: like any call, and how likely its answer is late. */
export interface NewsFaults {
  readonly calls: CallFaults
  readonly slow: Pick<SlowCalls, "probability" | "most_ms">
}

/** A connection of a process to the database, on which it asks one thing at a time and is told things in between, all in order. */
class Connection {
  readonly process: VirtualProcess
  isOpen = true
  /** Whether the database knows of it. */
  isKnown = true
  readonly #server: VirtualServer
  readonly #faults: () => NewsFaults
  readonly #there: Line
  readonly #back: Line
  readonly #answerMax_us: number
  readonly #whenLost: (reason: string) => void
  #inbox: Array<() => void> = []
  #timer: WorldEvent | undefined

  constructor(
    process: VirtualProcess,
    server: VirtualServer,
    faults: () => NewsFaults,
    answer_ms: number,
    whenLost: (reason: string) => void
  ) {
    this.process = process
    this.#answerMax_us = answer_ms * ms_us
    this.#server = server
    this.#faults = faults
    this.#whenLost = whenLost
    const { name, network, world } = server
    this.#there = new Line(world, network, process.name, name)
    this.#back = new Line(world, network, name, process.name)
  }

  /** Has something happen at the server, and something in the process when that was answered. Without an answer in time the connection is lost. */
  ask(atServer: () => void, answered: () => void) {
    const { world } = this.#server
    const timer = world.after(this.#answerMax_us, this.process, () =>
      this.process.post(() => {
        if (!timer.isCancelled) this.lose("no answer")
      })
    )
    this.#timer = timer
    this.#there.send(() => {
      if (!this.#server.isUp) return this.tell(() => this.lose("connection refused"))
      if (!this.isKnown) return this.tell(() => this.lose("the connection was reset"))
      const { calls, slow } = this.#faults()
      if (world.chance("news").happens(calls.ignored + calls.lost)) return
      atServer()
      const lateness = world.chance("late news")
      const late_us = lateness.happens(slow.probability) ? lateness.below(slow.most_ms * ms_us + 1) : 0
      this.tell(() => {
        timer.isCancelled = true
        answered()
      }, late_us)
    })
  }

  /** Has something happen in the process, behind everything that it was told before, and so much later. */
  tell(happen: () => void, late_us = 0) {
    this.#back.send(() => {
      this.#inbox.push(happen)
      // A process takes its tasks in any order, but what comes on a connection in its own.
      this.process.post(() => this.#inbox.shift()?.())
    }, late_us)
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

/** What a process's sessions have in place of `pg`: a connection to the database that is told of changed links once it listens. */
class NewsClient extends EventEmitter implements PersistentSession.SessionClient {
  readonly process: VirtualProcess
  readonly #news: VirtualNews
  readonly #connection: Connection
  #isListening = false
  /** What waits for an answer. */
  #asked: Soon<never> | undefined
  readonly #whenDead: () => void

  constructor(news: VirtualNews, process: VirtualProcess, answer_ms: number) {
    super()
    this.process = process
    this.#news = news
    this.#connection = news.connect(process, answer_ms, (reason) => this.#lost(reason))
    this.#whenDead = process.whenDead(() => this.#close())
  }

  readonly connect = (): Promise<unknown> => this.#ask(() => undefined)

  readonly ask = <Row extends object>(statement: string): Promise<ReadonlyArray<Row>> => {
    if (statement === `LISTEN ${LinkInvalidationsPostgres.channel}`)
      return this.#ask(
        () => {
          this.#news.listen(this.#connection, this)
          return []
        },
        () => {
          this.#isListening = true
          this.process.world.tell(this.process.id, "listening")
          this.#news.connected(this.process)
          this.#news.listens(this.process.id)
        }
      )
    const asked_us = this.process.world.now_us
    return this.#ask(
      () => [
        {
          standby: false,
          now_ms: this.#news.now_ms(),
          watched: statement.includes(LinkInvalidationsPostgres.watched) ? this.#news.epoch() : 0
        } as unknown as Row
      ],
      () => {
        if (this.#isListening) this.#news.heard(this.process.id, asked_us)
      }
    )
  }

  readonly end = (): Promise<void> => {
    this.#close()
    const ended = new Soon<void>()
    ended.settle({ value: undefined })
    return ended.asPromise
  }

  #ask<A>(atServer: () => A, answered: () => void = () => {}): Promise<A> {
    const answer = new Soon<A>()
    this.#asked = answer as Soon<never>
    let result: A
    this.#connection.ask(
      () => {
        result = atServer()
      },
      () => {
        answered()
        answer.settle({ value: result })
      }
    )
    return answer.asPromise
  }

  #lost(reason: string) {
    this.#close()
    this.process.world.tell(this.process.id, "news lost", reason)
    this.#asked?.settle({ error: new Error(reason) })
    this.emit("end")
  }

  #close() {
    this.#whenDead()
    this.#connection.close()
    this.#news.forget(this.#connection)
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
  readonly #faults: () => NewsFaults
  readonly connected: (process: VirtualProcess) => void
  /** What the database's clock shows. */
  readonly now_ms: () => number
  /** Whether processes go by it. */
  readonly tellsTime: boolean
  /** The database's epoch. */
  readonly epoch: () => number
  readonly #connections = new Set<Connection>()
  readonly #listeners = new Map<Connection, NewsClient>()
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
    faults: () => NewsFaults,
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
      for (const connection of Array.from(this.#connections)) this.#end(connection, 0)
    })
  }

  /** Ends the connections of the processes at a place, which learn of it so much later, or when they ask for something. */
  reset(place: string, unnoticed_us: number) {
    for (const connection of Array.from(this.#connections))
      if (connection.process.name === place) this.#end(connection, unnoticed_us)
  }

  #end(connection: Connection, unnoticed_us: number) {
    connection.isKnown = false
    this.forget(connection)
    const tell = () => connection.tell(() => connection.lose("the connection was reset"))
    if (unnoticed_us === 0) tell()
    else this.#server.world.after(unnoticed_us, null, tell)
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
  #tookForAway(by: string) {
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
      for (const key of keys) connection.tell(() => listener.emit("notification", { payload: key }))
  }

  /** `LinkInvalidationsPostgres` over virtual connections, until the scope is closed or the process dies. */
  of(process: VirtualProcess): Effect.Effect<LinkInvalidationsService, never, Scope.Scope> {
    const connect: PersistentSession.Connect = (_, { answer_ms }) => {
      const client = new NewsClient(this, process, answer_ms)
      // A moment later, since the session counts its failures when it hears of the end.
      client.once("end", () =>
        this.#server.world.after(ms_us, process, () => process.post(() => perhapsAway()))
      )
      return client
    }
    const time: typeof TrustedTime.Service = {
      isSettled: () => true,
      wallAhead_ms: () => 0,
      heard: (database_ms, asked) =>
        Effect.sync(() => {
          if (this.tellsTime) process.time.heard({ database_ms, asked, answered: process.monotonicNow_ms() })
        })
    }
    let awayFor: LinkInvalidationsService["awayFor"] = () => undefined
    const perhapsAway = () => {
      if (awayFor(process.monotonicNow_ms()) !== undefined) this.#tookForAway(process.id)
    }
    return LinkInvalidationsPostgres.make.pipe(
      Effect.provideService(DatabaseServers.DatabaseServers, DatabaseServers.make([this.#server.name])),
      Effect.provideService(PersistentSession.Connecting, connect),
      Effect.provideService(TrustedTime, time),
      Effect.provideService(Pulse.Pulse, { start_ms: process.monotonicNow_ms() }),
      Effect.map((service) => {
        awayFor = service.awayFor
        return {
          ...service,
          awayFor: (now) => {
            const away = service.awayFor(now)
            if (away !== undefined) this.#tookForAway(process.id)
            return away
          }
        }
      })
    )
  }

  connect(process: VirtualProcess, answer_ms: number, whenLost: (reason: string) => void): Connection {
    const connection = new Connection(process, this.#server, this.#faults, answer_ms, whenLost)
    this.#connections.add(connection)
    return connection
  }

  listen(connection: Connection, client: NewsClient) {
    if (connection.isOpen) this.#listeners.set(connection, client)
  }

  forget(connection: Connection) {
    this.#connections.delete(connection)
    this.#listeners.delete(connection)
  }
}
