import { describe, expect, it } from "@effect/vitest"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Context, Duration, Effect, Layer, TestClock } from "effect"
import * as Body from "../../../src/http/exchange/Body.ts"
import * as BodyBudget from "../../../src/http/exchange/BodyBudget.ts"
import * as Connections from "../../../src/http/server/Connections.ts"
import * as Listener from "../../../src/http/server/Listener.ts"
import { freePort } from "../../support/FreePort.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"

/** A listener whose requests are answered by the test, and a connection to it. */
const listen = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const bounds = { connectionsMax: 10, perClientMax: null, drainDelay: Duration.zero }
    const context = yield* Layer.build(Listener.layer({ host: "127.0.0.1", port, ...bounds }))
    yield* Context.get(context, Listener.Listener).serve(answer)
    return yield* RawConnection.open(port)
  })

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

describe("a listener", () => {
  it.scoped("gives clients as long for a request as connections are bounded to, and looks often", () =>
    Effect.gen(function* () {
      let server: Server | undefined
      const connection = yield* listen(({ socket }, response) => {
        server = (socket as Socket & { readonly server: Server }).server
        response.end("here")
      })
      yield* connection.write(get)
      yield* connection.heard(/here/)
      expect(server).toMatchObject(Connections.serverOptions)
    })
  )

  it.scoped("begins a few of the requests that come one behind the other, and not all", () =>
    Effect.gen(function* () {
      let begun = 0
      const connection = yield* listen(() => begun++)
      yield* connection.write(get.repeat(50))
      yield* Effect.async<void>((resume) => {
        const look = () => (begun > 0 ? setImmediate(() => resume(Effect.void)) : void setImmediate(look))
        look()
      })
      expect(begun).toBe(Connections.usual.answeringMax)
    })
  )

  it.scoped("looks each second for clients that leave too much unread", () =>
    Effect.gen(function* () {
      let ended: Promise<void> | undefined
      const connection = yield* listen((_, response) => {
        ended = new Promise((resolve) => void response.once("close", resolve))
        response.end(Buffer.alloc(4 * Connections.usual.waitingMax))
      })
      yield* connection.deafen
      yield* connection.write(get)
      yield* Effect.async<void>((resume) => {
        const look = () => (ended === undefined ? void setImmediate(look) : resume(Effect.void))
        look()
      })
      yield* TestClock.adjust(Connections.sweepEvery)
      yield* Effect.promise(() => ended!)
    })
  )

  const { discardedMax } = BodyBudget.usual
  const bytes = 3 * discardedMax
  const large = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`

  /** Waits for something, looking in each turn of the event loop. */
  const until = (isThere: () => boolean) =>
    Effect.async<void>((resume) => {
      const look = () => (isThere() ? resume(Effect.void) : void setImmediate(look))
      look()
    })

  /** What is read of a body, in the turns after it has come to a bound. */
  const readOf = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
    Effect.gen(function* () {
      let socket: Socket | undefined
      const connection = yield* listen((request, response) => {
        socket = request.socket
        answer(request, response)
      })
      yield* connection.write(large)
      yield* connection.write(Buffer.alloc(bytes))
      yield* connection.heard(/ 413 /)
      const read: Array<number> = []
      for (const bound of [1, 2]) {
        yield* until(() => socket!.bytesRead >= bound * discardedMax)
        let turns = 0
        yield* until(() => turns++ === 100)
        read.push(Math.floor(socket!.bytesRead / discardedMax))
        yield* TestClock.adjust(Connections.sweepEvery)
      }
      yield* until(() => socket!.bytesRead === bytes + large.length)
      return read
    })

  it.scoped("throws so much in a second away of bodies that nobody has read", () =>
    Effect.gen(function* () {
      expect(yield* readOf((_, response) => response.writeHead(413).end())).toEqual([1, 2])
    })
  )

  it.scoped("throws so much in a second away of bodies that were refused while they were read", () =>
    Effect.gen(function* () {
      const read = yield* readOf((request, response) =>
        Body.readBytes(request, 1_000, () => response.writeHead(413).end())
      )
      expect(read).toEqual([1, 2])
    })
  )
})
