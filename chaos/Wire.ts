// A node's way to PostgreSQL: a proxy in this process, which can be cut in either direction, and which sees what statements pass.

import { Effect, type Scope } from "effect"
import { connect, createServer, type Server, type Socket } from "node:net"

/** What goes from the node to the server, and what comes back. */
export type Direction = "requests" | "answers"

/** A statement that the server has carried out, and whose answer the node has not had. */
export interface Caught {
  readonly statement: string
  /** Whether the server is in a transaction after it, and keeps its locks. */
  readonly inTransaction: boolean
  /** The port from which the server has this session. */
  readonly port: number
}

/** A node's ways to all servers of its database. */
export interface Wires {
  /** The ports at which the servers are reached, in their order. */
  readonly ports: ReadonlyArray<number>
  /** Whether a session that the server has from this port is one of this node. */
  readonly has: (port: number) => boolean
  /** From now on nothing goes these ways; new connections are taken and get no further. Neither side hears that the other one hangs up. */
  readonly cut: (directions: ReadonlyArray<Direction>) => void
  /** Everything goes through again, what was held first: as TCP would send it again. */
  readonly mend: () => void
  /**
   * Calls back, once, at the moment at which the answer to a statement like `pattern` is here and the node has not had it. `null` waits for none any more,
   * nor for the answer to one that has passed.
   */
  readonly catchNext: (pattern: RegExp | null, caught?: (caught: Caught) => void) => void
}

/** What all connections of one node share. */
interface State {
  readonly held: Set<Direction>
  armed: { readonly pattern: RegExp; readonly caught: (caught: Caught) => void } | null
  /** The statement that was caught, and whose answer is not here. */
  awaited: {
    readonly statement: string
    readonly passage: Passage
    readonly caught: (caught: Caught) => void
  } | null
  readonly passages: Set<Passage>
}

const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

/** Reads the texts of statements out of what a client sends, by PostgreSQL's protocol 3.0. */
class Statements {
  #rest: Buffer = Buffer.alloc(0)
  #isStarted = false
  readonly #prepared = new Map<string, string>()

  /** The statements that are run by messages which are whole with this chunk. */
  read(chunk: Buffer): ReadonlyArray<string> {
    const found: Array<string> = []
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const head = this.#isStarted ? 1 : 0
      if (this.#rest.length < head + 4) return found
      const end = head + this.#rest.readInt32BE(head)
      if (this.#rest.length < end) return found
      const message = this.#rest.subarray(0, end)
      this.#rest = this.#rest.subarray(end)
      if (!this.#isStarted) {
        this.#isStarted = true
        continue
      }
      const text = this.#statementOf(String.fromCharCode(message[0]!), message.subarray(5))
      if (text !== undefined) found.push(text)
    }
  }

  #statementOf(type: string, body: Buffer): string | undefined {
    const texts = () => body.toString("utf8").split("\0")
    if (type === "Q") return texts()[0]
    if (type === "P") {
      const [name = "", text = ""] = texts()
      this.#prepared.set(name, text)
    }
    return type === "B" ? this.#prepared.get(texts()[1] ?? "") : undefined
  }
}

/** One connection, with both its ends. */
class Passage {
  readonly #state: State
  readonly #client: Socket
  readonly #server: Socket
  readonly #statements = new Statements()
  #tail = Buffer.alloc(0)
  #port: number | undefined
  readonly #hungUp = new Set<Direction>()

  constructor(state: State, client: Socket, port: number) {
    this.#state = state
    this.#client = client
    this.#server = connect(port, "127.0.0.1", () => (this.#port = this.#server.localPort))
    for (const socket of [this.#client, this.#server]) socket.setNoDelay(true).on("error", () => {})
    this.#client.on("data", (data) => this.#fromClient(data)).on("close", () => this.#closed("requests"))
    this.#server.on("data", (data) => this.#fromServer(data)).on("close", () => this.#closed("answers"))
    this.hold()
  }

  get port() {
    return this.#port
  }

  /** Stands still in the directions that are cut, and goes on in the others. */
  hold() {
    const { held } = this.#state
    for (const [direction, socket] of [
      ["requests", this.#client],
      ["answers", this.#server]
    ] as const) {
      if (held.has(direction)) socket.pause()
      else if (this.#hungUp.has(direction)) this.end()
      else socket.resume()
    }
  }

  end() {
    this.#client.destroy()
    this.#server.destroy()
    this.#state.passages.delete(this)
    if (this.#state.awaited?.passage === this) this.#state.awaited = null
  }

  #closed(direction: Direction) {
    if (this.#state.held.has(direction)) this.#hungUp.add(direction)
    else this.end()
  }

  #fromClient(data: Buffer) {
    for (const statement of this.#statements.read(data)) {
      const { armed, awaited } = this.#state
      if (awaited !== null || armed === null || !armed.pattern.test(statement)) continue
      this.#state.awaited = { statement, passage: this, caught: armed.caught }
    }
    this.#server.write(data)
  }

  #fromServer(data: Buffer) {
    // Its answer is over with ReadyForQuery, and nothing is sent ahead.
    this.#tail = Buffer.concat([this.#tail, data.subarray(-6)]).subarray(-6)
    const { awaited } = this.#state
    if (awaited?.passage === this && this.#tail.subarray(0, 5).equals(readyForQuery)) {
      this.#state.armed = null
      this.#state.awaited = null
      const inTransaction = this.#tail[5] !== "I".charCodeAt(0)
      awaited.caught({ statement: awaited.statement, inTransaction, port: this.#port! })
    }
    this.#client.write(data)
  }
}

/** Opens ways to the servers at these ports of the loopback address, which end with the scope. */
export const make = (servers: ReadonlyArray<number>): Effect.Effect<Wires, never, Scope.Scope> =>
  Effect.gen(function* () {
    const state: State = { held: new Set(), armed: null, awaited: null, passages: new Set() }
    const listen = (port: number) =>
      Effect.async<Server>((resume) => {
        const listener = createServer({ allowHalfOpen: false }, (client) => {
          state.passages.add(new Passage(state, client, port))
        })
        listener.listen(0, "127.0.0.1", () => resume(Effect.succeed(listener)))
      })
    const listeners = yield* Effect.acquireRelease(Effect.forEach(servers, listen), (all) =>
      Effect.sync(() => {
        state.passages.forEach((passage) => passage.end())
        all.forEach((listener) => listener.close())
      })
    )
    const holdAll = () => state.passages.forEach((passage) => passage.hold())
    return {
      ports: listeners.map((listener) => {
        const address = listener.address()
        return typeof address === "object" && address !== null ? address.port : 0
      }),
      has: (port) => [...state.passages].some((passage) => passage.port === port),
      cut: (directions) => {
        directions.forEach((direction) => state.held.add(direction))
        holdAll()
      },
      mend: () => {
        state.held.clear()
        holdAll()
      },
      catchNext: (pattern, caught = () => {}) => {
        state.armed = pattern === null ? null : { pattern, caught }
        state.awaited = null
      }
    }
  })
