import { describe, expect, it } from "@effect/vitest"
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Effect, Fiber, type Scope } from "effect"
import * as Routes from "../../../src/http/contract/Routes.ts"
import * as Connections from "../../../src/http/server/Connections.ts"
import type { LoopTurnsService } from "../../../src/fibers/LoopTurns.ts"
import * as HeldTurns from "../../support/HeldTurns.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"

interface Options extends Partial<Connections.ConnectionBounds>, Partial<Connections.AnswerBounds> {
  readonly server?: ServerOptions
  readonly clientOf?: () => string | null
  readonly turns?: LoopTurnsService
}

/** Those that are never over. */
const endless: LoopTurnsService = { isOver: () => false, defer: setImmediate }

type Asked = readonly [path: string, response: ServerResponse]

/** A server whose requests are answered by the test. */
const serve = (options: Options, answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.async<{
      readonly server: ReturnType<typeof createServer>
      readonly port: number
      readonly sweep: () => void
      readonly answeringPlain: Connections.Connections["answeringPlain"]
    }>((resume) => {
      const server = createServer({ ...Connections.serverOptions, ...options.server })
      const { connectionsMax = 1_000, perClientMax = null } = options
      const { answering, answeringPlain, sweep } = Connections.make(
        server,
        { connectionsMax, perClientMax },
        options.clientOf ?? (() => null),
        options.turns ?? endless,
        { ...Connections.usual, ...options }
      )
      server.on("request", answering(answer))
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({ server, sweep, answeringPlain, port: (server.address() as AddressInfo).port })
        )
      )
    }),
    ({ server }) => Effect.sync(() => void server.close().closeAllConnections())
  )

const asked = () => {
  const all: Array<Asked> = []
  const answer = ({ url }: IncomingMessage, response: ServerResponse) => void all.push([url!, response])
  const paths = () => all.map(([path]) => path)
  const end = (path: string, text: string) => all.find(([asked]) => asked === path)![1].end(text)
  /** Waits until so many were asked for. */
  const until = (count: number) =>
    Effect.async<void>((resume) => {
      const look = () => (all.length >= count ? resume(Effect.void) : setImmediate(look))
      look()
    })
  return { all, answer, paths, end, until }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** Waits until the event loop has gone round so often. */
const turns = (count: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    const turn = (left: number) =>
      left === 0 ? resume(Effect.void) : void setImmediate(() => turn(left - 1))
    turn(count)
  })

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.scopedLive(title, () => body)

const large = Buffer.alloc(16 * 1024 * 1024, "a")

describe("requests that come one behind the other on a connection", () => {
  test(
    "are begun a few at a time, and answered in their order",
    Effect.gen(function* () {
      const { answer, end, paths, until } = asked()
      const { port } = yield* serve({ answeringMax: 2 }, answer)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(["/1", "/2", "/3", "/4"].map(get).join(""))
      yield* until(2)
      yield* turns(20)
      expect(paths()).toEqual(["/1", "/2"])
      end("/2", "two")
      yield* turns(20)
      // Node holds its answer back: that of the first comes first.
      expect(paths()).toEqual(["/1", "/2"])
      end("/1", "one")
      yield* until(4)
      end("/4", "four")
      end("/3", "three")
      const heard = yield* connection.heard(/four/)
      expect(heard.match(/one|two|three|four/g)).toEqual(["one", "two", "three", "four"])
    })
  )

  test(
    "are so many and no more: the last that is answered says so, and closes the connection",
    Effect.gen(function* () {
      const { answer, end, paths, until } = asked()
      const { port } = yield* serve({ answeringMax: 1, heldMax: 2 }, answer)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(["/1", "/2", "/3", "/4", "/5"].map(get).join(""))
      for (const [index, path] of ["/1", "/2", "/3"].entries()) {
        yield* until(index + 1)
        end(path, path)
      }
      const heard = yield* connection.ended
      expect(paths()).toEqual(["/1", "/2", "/3"])
      expect(heard.match(/Connection: [\w-]+/g)).toEqual([
        "Connection: keep-alive",
        "Connection: keep-alive",
        "Connection: close"
      ])
    })
  )

  test(
    "are not begun while the client does not read the answers before",
    Effect.gen(function* () {
      const paths: Array<string> = []
      const { port, server } = yield* serve({}, ({ url }, response) => {
        paths.push(url!)
        response.end(large)
      })
      const connected = Effect.async<void>((resume) => void server.once("request", () => resume(Effect.void)))
      const connection = yield* RawConnection.open(port)
      yield* connection.deafen
      yield* Effect.zipRight(connection.write(["/1", "/2", "/3"].map(get).join("")), connected)
      yield* turns(50)
      expect(paths).toEqual(["/1"])
    })
  )

  test(
    "begin in later turns of the event loop when one is over, and each connection's first at once",
    Effect.gen(function* () {
      const held = HeldTurns.make()
      const { answer, paths, until } = asked()
      const { port } = yield* serve({ turns: held }, answer)
      for (const name of ["a", "b"]) {
        const connection = yield* RawConnection.open(port)
        yield* connection.write([1, 2, 3].map((number) => get(`/${name}${number}`)).join(""))
      }
      yield* until(2)
      yield* turns(20)
      expect(paths().toSorted()).toEqual(["/a1", "/b1"])
      expect(held.next()).toBe(2)
      expect(paths().slice(2).toSorted()).toEqual(["/a2", "/b2"])
      expect([held.next(), held.next()]).toEqual([2, 0])
      expect(paths().slice(4).toSorted()).toEqual(["/a3", "/b3"])
    })
  )

  test(
    "all learn that their client is gone",
    Effect.gen(function* () {
      const { all, answer, until } = asked()
      const { port } = yield* serve({}, answer)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* RawConnection.open(port)
          yield* connection.write(["/1", "/2", "/3"].map(get).join(""))
          yield* until(3)
        })
      )
      yield* Effect.forEach(all, ([, response]) =>
        Effect.async<void>((resume) => {
          const look = () => (response.destroyed ? resume(Effect.void) : setImmediate(look))
          look()
        })
      )
    })
  )
})

describe("requests that come before anybody answers them", () => {
  test(
    "are answered when somebody does, and each once",
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => createServer()),
        (server) => Effect.sync(() => void server.close().closeAllConnections())
      )
      const { answering } = Connections.make(
        server,
        { connectionsMax: 10, perClientMax: null },
        () => null,
        endless
      )
      let bytes = () => 0
      server.once("connection", (socket) => (bytes = () => socket.bytesRead))
      yield* Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const connection = yield* RawConnection.open((server.address() as AddressInfo).port)
      yield* connection.write(get("/early"))
      while (bytes() === 0) yield* turns(1)
      const paths: Array<string> = []
      const answer = ({ url }: IncomingMessage, response: ServerResponse) => {
        paths.push(url!)
        response.end("ok")
      }
      server.on("request", answering(answer))
      yield* connection.heard(/ok/)
      yield* connection.write(get("/later"))
      yield* connection.heard(/ok/)
      expect(paths).toEqual(["/early", "/later"])
    })
  )
})

describe("a client that does not take its answer is cut off", () => {
  test(
    "when it has taken nothing of it for a time",
    Effect.gen(function* () {
      expect(Connections.usual.takenWithin_ms).toBe(10_000)
      const { port, server, sweep } = yield* serve(
        { waitingMax: Infinity, takenWithin_ms: 50 },
        (_, response) => response.end(large)
      )
      const connection = yield* RawConnection.open(port)
      yield* connection.deafen
      const asked = Effect.async<void>((resume) => void server.once("request", () => resume(Effect.void)))
      yield* Effect.zipRight(connection.write(get("/")), asked)
      const cut = Effect.async<boolean>(
        (resume) => void server.once("timeout", (socket) => resume(Effect.succeed(socket.destroyed)))
      )
      sweep()
      // Another look does not give it more time.
      expect(yield* Effect.zipRight(Effect.sync(sweep), cut)).toBe(true)
    })
  )

  test(
    "and keeps its connection where it has taken all that was sent so far",
    Effect.gen(function* () {
      const { port, server, sweep } = yield* serve({ waitingMax: Infinity }, (_, response) =>
        response.write(large)
      )
      const connected = Effect.async<Socket>(
        (resume) => void server.once("connection", (socket) => resume(Effect.succeed(socket)))
      )
      const asked = Effect.async<void>((resume) => void server.once("request", () => resume(Effect.void)))
      const connecting = yield* Effect.fork(connected)
      const connection = yield* RawConnection.open(port)
      const socket = yield* Fiber.join(connecting)
      yield* connection.deafen
      yield* Effect.zipRight(connection.write(get("/")), asked)
      sweep()
      expect(socket.timeout).toBe(Connections.usual.takenWithin_ms)
      yield* connection.listen
      yield* Effect.async<void>((resume) => {
        const look = () => (socket.writableLength === 0 ? resume(Effect.void) : setImmediate(look))
        look()
      })
      sweep()
      expect(socket.timeout).toBe(0)
    })
  )

  test(
    "and keeps its connection as long as an idle one where it has taken all that was written on the socket",
    Effect.gen(function* () {
      const { answeringPlain, port, server, sweep } = yield* serve({ waitingMax: Infinity }, (_, response) =>
        response.end("ok")
      )
      let plain = 0
      answeringPlain(
        {
          serve: (_, answer) => {
            plain++
            answer({ status: 200, headers: [], body: "" }, Routes.other)
            return () => {}
          },
          mayBeLate: () => false,
          turns: endless,
          write: (socket) => void socket.write(large)
        },
        () => true
      )
      const connected = Effect.async<Socket>(
        (resume) => void server.once("connection", (socket) => resume(Effect.succeed(socket)))
      )
      const connecting = yield* Effect.fork(connected)
      const connection = yield* RawConnection.open(port)
      const socket = yield* Fiber.join(connecting)
      yield* connection.write(get("/first"))
      yield* connection.heard(/ok/)
      yield* turns(1)
      yield* connection.deafen
      yield* connection.write(get("/second"))
      const waits = (isWaiting: boolean) =>
        Effect.async<void>((resume) => {
          const look = () =>
            socket.writableLength > 0 === isWaiting ? resume(Effect.void) : void setImmediate(look)
          look()
        })
      yield* waits(true)
      expect(plain).toBe(1)
      sweep()
      expect(socket.timeout).toBe(Connections.usual.takenWithin_ms)
      yield* Effect.zipRight(connection.listen, waits(false))
      sweep()
      expect(socket.timeout).toBe(Connections.serverOptions.keepAliveTimeout)
    })
  )

  const unread = (options: Options, sweeps: number, clients: number) =>
    Effect.gen(function* () {
      const { port, server, sweep } = yield* serve(options, ({ url }, response) =>
        response.end(large.subarray(0, Number(url!.slice(1))))
      )
      const closed: Array<number> = []
      let connected = 0
      server.on("connection", (socket) => {
        const number = connected++
        socket.once("close", () => closed.push(number))
      })
      for (let client = 0; client < clients; client++) {
        const connection = yield* RawConnection.open(port)
        yield* connection.deafen
        const answered = Effect.async<void>(
          (resume) => void server.once("request", () => resume(Effect.void))
        )
        yield* Effect.zipRight(connection.write(get(`/${large.length - client * 1_000_000}`)), answered)
      }
      for (let turn = 0; turn < sweeps; turn++) sweep()
      yield* turns(20)
      return closed.toSorted()
    })

  test(
    "when too much waits for it",
    Effect.gen(function* () {
      expect(yield* unread({ waitingMax: 32 * 1024 * 1024 }, 5, 1)).toEqual([])
      expect(yield* unread({ waitingMax: 1024 * 1024 }, 1, 1)).toEqual([0])
    })
  )

  test(
    "when something waits for it again and again, however little it takes",
    Effect.gen(function* () {
      expect(yield* unread({ waitingMax: Infinity, sweepsMax: 3 }, 3, 1)).toEqual([])
      expect(yield* unread({ waitingMax: Infinity, sweepsMax: 3 }, 4, 1)).toEqual([0])
    })
  )

  test(
    "when too much waits for all of them, those first for whom the most does",
    Effect.gen(function* () {
      expect(yield* unread({ waitingMax: Infinity, allWaitingMax: 24 * 1024 * 1024 }, 1, 3)).toEqual([0, 1])
    })
  )
})

describe("connections", () => {
  test(
    "of one client are so many and no more, until one of them ends",
    Effect.gen(function* () {
      const { port, server } = yield* serve({ perClientMax: 2, clientOf: () => "one" }, (_, response) =>
        response.end()
      )
      expect(yield* RawConnection.isLetIn(port)).toBe(true)
      const ended = Effect.async<void>(
        (resume) =>
          void server.once("connection", (socket) => socket.once("close", () => resume(Effect.void)))
      )
      const watching = yield* Effect.fork(ended)
      yield* turns(1)
      yield* Effect.scoped(
        Effect.gen(function* () {
          expect(yield* RawConnection.isLetIn(port)).toBe(true)
          expect(yield* RawConnection.isLetIn(port)).toBe(false)
        })
      )
      yield* watching
      expect(yield* RawConnection.isLetIn(port)).toBe(true)
    })
  )

  test(
    "of nobody in particular are not counted for a client",
    Effect.gen(function* () {
      const { port } = yield* serve({ perClientMax: 1 }, (_, response) => response.end())
      for (let turn = 0; turn < 5; turn++) expect(yield* RawConnection.isLetIn(port)).toBe(true)
    })
  )

  test(
    "of all are so many and no more",
    Effect.gen(function* () {
      const { port } = yield* serve({ connectionsMax: 2 }, (_, response) => response.end())
      expect(yield* RawConnection.isLetIn(port)).toBe(true)
      expect(yield* RawConnection.isLetIn(port)).toBe(true)
      expect(yield* RawConnection.isLetIn(port)).toBe(false)
    })
  )

  test(
    "whose requests do not come to an end are closed when their time is over, and not half a minute later",
    Effect.gen(function* () {
      const server = { headersTimeout: 100, requestTimeout: 100 }
      expect(Connections.serverOptions).toMatchObject({
        headersTimeout: 10_000,
        requestTimeout: 10_000,
        // Node's own is 30 s.
        connectionsCheckingInterval: 1_000
      })
      const { port } = yield* serve({ server }, (_, response) => response.end())
      const connection = yield* RawConnection.open(port)
      yield* connection.write("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
      expect(yield* connection.ended).toMatch(/^HTTP\/1.1 408 /)
    })
  )
})
