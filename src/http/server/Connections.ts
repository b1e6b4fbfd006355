import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Duration } from "effect"
import type { LoopTurnsService } from "../../fibers/LoopTurns.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as BrokenRequests from "./BrokenRequests.ts"
import * as PlainRequests from "./PlainRequests.ts"
import * as DrainableSet from "../exchange/DrainableSet.ts"

/** Time for a client to send its whole request. */
const requestTimeout_ms = 10_000

/** The options of a server. By default Node looks only every 30 s for requests that take too long. */
export const serverOptions: ServerOptions = {
  keepAliveTimeout: PlainRequests.keepAliveTimeout_ms,
  requestTimeout: requestTimeout_ms,
  headersTimeout: requestTimeout_ms,
  connectionsCheckingInterval: 1_000
}

/** The maximum of connections. */
export interface ConnectionBounds {
  readonly connectionsMax: number
  /** Of one client; `null`: as many as of all. */
  readonly perClientMax: number | null
}

/** The bounds of each connection. */
export interface AnswerBounds {
  /** Pipelined requests that are answered at once, and those that wait behind them. */
  readonly answeringMax: number
  readonly heldMax: number
  /** While a client leaves more bytes than this unread, its next requests wait. */
  readonly unreadBytes: number
  /** The maximum of bytes that one client leaves unread, and that all clients leave unread together. */
  readonly waitingMax: number
  readonly allWaitingMax: number
  /** Within this time a client must read some of what waits for it, in milliseconds. Node may notice only after twice the time. */
  readonly takenWithin_ms: number
  /** The maximum of consecutive sweeps in which something waits for a client. */
  readonly sweepsMax: number
}

const mebibyte = 1024 * 1024

/** How often connections are checked. */
export const sweepEvery = Duration.seconds(1)

/** The bounds of the service. */
export const usual: AnswerBounds = {
  answeringMax: 8,
  heldMax: 64,
  unreadBytes: 64 * 1024,
  waitingMax: 16 * mebibyte,
  allWaitingMax: 64 * mebibyte,
  takenWithin_ms: 10_000,
  sweepsMax: 600
}

const opened = Metered.gauge("linkmint_http_connections", "Connections that are open")

const cuts = Metered.countersBy(
  "linkmint_http_connections_cut_total",
  "Connections that were closed because of a bound",
  "bound",
  ["all", "client", "pipelined", "taken", "waiting"]
)

/** One connection and its requests. */
class Connection {
  readonly socket: Socket
  readonly client: string | null
  /** Requests that have begun, and whose answers are not complete or not read yet. */
  readonly answering = new Set<ServerResponse>()
  /** Requests that wait for their turn. */
  readonly held: Array<readonly [request: IncomingMessage, response: ServerResponse]> = []
  /** Whether its first request has begun. */
  hasBegun = false
  /** Whether the next one waits for a turn of the event loop. */
  isDeferred = false
  /** Whether its last request has been read: later ones are not answered. */
  isEnding = false
  /** Consecutive sweeps in which something waited for its client. */
  sweeps = 0
  /** Gives up the plain request that is being answered, if there is one. */
  giveUpPlain: (() => void) | undefined

  constructor(socket: Socket, client: string | null) {
    this.socket = socket
    this.client = client
  }
}

const connection = Symbol("linkmint/Connection")

interface Known extends Socket {
  [connection]: Connection
}

/** Closes a response whose connection has closed: Node does so only for the response whose turn it is. */
const abandon = (response: ServerResponse) => {
  if (response.socket !== null) return
  response.destroy()
  response.emit("close")
}

/** The connections of a server, within their bounds. */
export interface Connections {
  /** Open connections. */
  readonly connections: Pick<DrainableSet.DrainableSet<object>, "empty">
  /** Requests that have begun, and whose answers the client has not read yet. */
  readonly underWay: Pick<DrainableSet.DrainableSet<object>, "empty">
  /** Has the answers to the requests that have begun say that their connections close, as far as they can still say it. */
  readonly closeAfterAnswers: () => void
  /** Closes the connections that carry no request. */
  readonly closeIdle: () => void
  /** Answers requests with `answer`, as many of a connection at once as its bounds allow. */
  readonly answering: (answer: RequestListener) => RequestListener
  /** Has plain requests answered on the socket, where the connection has nothing else under way; see `PlainRequests`. Not while `isOpen` says no. The function that it returns ends this. */
  readonly answeringPlain: (answers: PlainRequests.PlainAnswers, isOpen: () => boolean) => () => void
  /** To be called every {@link sweepEvery}: closes connections whose clients do not read their answers. */
  readonly sweep: () => void
}

/** The maximum of requests that wait for a listener; the connections of further ones are closed. */
const earlyMax = 1_024

/** Keeps requests that arrive after a server begins to listen and before it has a listener for requests: turns of the event loop pass in between, and Node would drop such requests without an answer. */
const keepEarly = (server: Server): void => {
  const early: Array<readonly [request: IncomingMessage, response: ServerResponse]> = []
  const keep: RequestListener = (request, response) => {
    if (early.length < earlyMax) early.push([request, response])
    else request.socket.destroy()
  }
  const handOver = (event: string | symbol, answer: RequestListener) => {
    if (event !== "request") return
    server.off("newListener", handOver).off("request", keep)
    for (const one of early) answer.apply(server, [...one])
  }
  server.on("request", keep).on("newListener", handOver)
}

/** Bounds the connections of a server. `clientOf` gives the client of a connection, or `null` if it counts for none. */
export const make = (
  server: Server,
  { connectionsMax, perClientMax }: ConnectionBounds,
  clientOf: (socket: Socket) => string | null,
  turns: LoopTurnsService,
  bounds: AnswerBounds = usual
): Connections => {
  const connections = DrainableSet.make<Connection>()
  const underWay = DrainableSet.make<ServerResponse | Connection>()
  const ofClient = new Map<string, number>()
  let plain: { readonly answers: PlainRequests.PlainAnswers; readonly isOpen: () => boolean } | undefined

  const cut = (socket: Socket, bound: keyof typeof cuts) => {
    Metered.add(cuts[bound])
    socket.destroy()
  }

  /** Counts one more connection of a client, or returns `false` if there are too many. */
  const enter = (client: string | null): boolean => {
    if (client === null || perClientMax === null) return true
    const before = ofClient.get(client) ?? 0
    if (before >= perClientMax) return false
    ofClient.set(client, before + 1)
    return true
  }
  const leave = (client: string | null) => {
    if (client === null || perClientMax === null) return
    const left = ofClient.get(client)! - 1
    if (left === 0) ofClient.delete(client)
    else ofClient.set(client, left)
  }

  keepEarly(server)
  // The event is emitted also for connections that are just idle.
  server.on("timeout", (socket) => {
    if (socket.writableLength > 0) cut(socket, "taken")
    else socket.destroy()
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const { answering } = (socket as Known)[connection] ?? { answering: [] }
    const [next] = answering
    BrokenRequests.refuse(error, socket as Known, next)
  })
  server.on("connection", (socket: Known) => {
    // Not by `server.maxConnections`: in a process of `node:cluster` Node hands what is beyond that on from process to process, until one of them has room.
    if (connections.members.size >= connectionsMax) return cut(socket, "all")
    const client = clientOf(socket)
    if (!enter(client)) return cut(socket, "client")
    const made = new Connection(socket, client)
    socket[connection] = made
    connections.add(made)
    Metered.add(opened)
    socket.once("close", () => {
      connections.remove(made)
      Metered.add(opened, -1)
      leave(client)
      made.held.length = 0
      made.answering.forEach(abandon)
      made.giveUpPlain?.()
      endPlain(made)
    })
  })

  /** Whether all requests of a connection have been answered, and the answers taken. */
  const isIdle = ({ answering, held, isEnding, socket }: Connection) =>
    answering.size === 0 && held.length === 0 && !isEnding && socket.writableLength === 0

  /** Not by the server's own timeout, for which Node renews two timers for each request, a tenth of what a hot redirect costs. */
  const mindTaking = (one: Connection, isWaiting: boolean) => {
    const { socket } = one
    const isMinded = socket.timeout === bounds.takenWithin_ms
    if (isWaiting === isMinded) return
    // Node bounds the time without a request again when it has answered one, but knows nothing of plain ones.
    const otherwise = isIdle(one) ? server.keepAliveTimeout : 0
    socket.setTimeout(isWaiting ? bounds.takenWithin_ms : otherwise)
  }

  const sweep = () => {
    let sum = 0
    const waiting: Array<Connection> = []
    for (const one of connections.members) {
      const bytes = one.socket.writableLength
      mindTaking(one, bytes > 0)
      if (bytes === 0) {
        one.sweeps = 0
        continue
      }
      one.sweeps++
      if (bytes > bounds.waitingMax) cut(one.socket, "waiting")
      else if (one.sweeps > bounds.sweepsMax) cut(one.socket, "taken")
      else {
        sum += bytes
        waiting.push(one)
      }
    }
    if (sum <= bounds.allWaitingMax) return
    // Clients that leave the most unread first.
    waiting.sort((one, other) => other.socket.writableLength - one.socket.writableLength)
    for (const { socket } of waiting) {
      if (sum <= bounds.allWaitingMax) return
      sum -= socket.writableLength
      cut(socket, "waiting")
    }
  }

  const answering = (answer: RequestListener): RequestListener => {
    const begin = (from: Connection, request: IncomingMessage, response: ServerResponse) => {
      answer(request, response)
      // The operating system has the answers to most hot requests by now.
      if (!response.writableEnded || response.writableLength > 0) {
        from.answering.add(response)
        underWay.add(response)
        response.once("close", () => {
          from.answering.delete(response)
          underWay.remove(response)
          goOn(from)
        })
      }
      if (!from.hasBegun) begun(from, request, response)
    }
    const hasRoom = (from: Connection) =>
      from.answering.size === 0 ||
      (from.answering.size < bounds.answeringMax && from.socket.writableLength <= bounds.unreadBytes)
    /** Begins as many requests as there is room for. Many connections with many requests take several turns of the event loop, so that others get theirs. */
    const goOn = (from: Connection) => {
      while (from.held.length > 0 && hasRoom(from) && !from.isDeferred) {
        if (turns.isOver()) {
          from.isDeferred = true
          turns.defer(() => {
            from.isDeferred = false
            goOn(from)
          })
        } else begin(from, ...from.held.shift()!)
      }
    }
    /** Queues a request behind others of its connection. */
    const queue = (from: Connection, request: IncomingMessage, response: ServerResponse) => {
      if (from.isEnding) return
      from.held.push([request, response])
      goOn(from)
      if (from.held.length < bounds.heldMax) return
      // The answer to the last one says `Connection: close`, and Node closes the connection after it.
      from.isEnding = true
      response.shouldKeepAlive = false
      Metered.add(cuts.pipelined)
    }
    return (request, response) => {
      const from = (request.socket as Known)[connection]
      if (from.answering.size === 0 && !from.isEnding) begin(from, request, response)
      else queue(from, request, response)
    }
  }

  const answeringPlain: Connections["answeringPlain"] = (answers, isOpen) => {
    plain = { answers, isOpen }
    return () => {
      plain = undefined
    }
  }

  const endPlain = (from: Connection) => {
    from.giveUpPlain = undefined
    underWay.remove(from)
  }

  /** Looks at the first request of a connection: where it is a redirect or a create, the next ones may be plain. */
  const begun = (from: Connection, { method, url }: IncomingMessage, response: ServerResponse) => {
    from.hasBegun = true
    if (plain === undefined || !PlainRequests.mayBePlain(method, url)) return
    const { answers } = plain
    // After the listener of `begin`, so that this answer is no longer under way.
    response.once("close", () =>
      PlainRequests.intercept(
        {
          socket: from.socket,
          isIdle: () => isIdle(from),
          isOpen: () => plain?.isOpen() === true,
          begun: (giveUp) => {
            from.giveUpPlain = giveUp
            underWay.add(from)
          },
          ended: () => endPlain(from)
        },
        answers
      )
    )
  }

  const closeAfterAnswers = () => {
    for (const one of underWay.members) {
      if (!(one instanceof Connection) && !one.headersSent) one.setHeader("connection", "close")
    }
  }

  /** To Node a connection is idle also while a plain request is being answered on it. */
  const closeIdle = () => {
    const hasPlain = Array.from(underWay.members).some((one) => one instanceof Connection)
    if (!hasPlain) server.closeIdleConnections()
  }

  return { connections, underWay, closeAfterAnswers, closeIdle, answering, answeringPlain, sweep }
}
