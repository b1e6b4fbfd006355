import { describe, expect, it } from "@effect/vitest"
import { connect } from "node:net"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context, Duration, Effect, Layer } from "effect"
import * as Heads from "../../../fuzz/Heads.ts"
import type { PlainAnswer } from "../../../src/http/server/PlainGets.ts"
import * as Listener from "../../../src/http/server/Listener.ts"
import { freePort } from "../../support/FreePort.ts"
import * as RawConnection from "../../support/RawConnection.ts"

/** What was understood of a request. */
const understood = (url: string, headers: IncomingMessage["headers"]) =>
  JSON.stringify({ url, headers: Object.entries(headers).toSorted() })

const answer = (request: IncomingMessage, response: ServerResponse) => {
  request.resume()
  if (request.url === "/slow") return void setImmediate(() => end(request, response))
  end(request, response)
}

const end = (request: IncomingMessage, response: ServerResponse) => {
  const body = understood(`${request.method} ${request.url!}`, request.headers)
  response.writeHead(200, ["content-length", String(Buffer.byteLength(body))])
  response.end(body)
}

/** A listener that answers with what it understood, plain GETs on the socket if `isPlain`. Counts these. */
const listen = (isPlain: boolean, heldBack: (url: string) => boolean = () => false) =>
  Effect.gen(function* () {
    const counted = { plain: 0 }
    const answerPlain: PlainAnswer = ({ headers, url }) => {
      if (heldBack(url)) return undefined
      counted.plain++
      const body = understood(`GET ${url}`, headers)
      return `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\nDate: now\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n${body}`
    }
    const port = yield* freePort
    const bounds = { connectionsMax: 1_000, perClientMax: null, drainDelay: Duration.zero }
    const context = yield* Layer.build(Listener.layer({ host: "127.0.0.1", port, ...bounds }))
    const { drain, serve } = Context.get(context, Listener.Listener)
    yield* isPlain ? serve(answer, answerPlain) : serve(answer)
    return { port, counted, drain }
  })

const get = (path: string, ...fields: ReadonlyArray<string>) =>
  [`GET ${path} HTTP/1.1`, "Host: a", ...fields, "", ""].join("\r\n")

/** All that comes back on a connection which is sent this, in chunks of which each is sent when all before it were answered, but for the last. */
const exchange = (port: number, first: string, chunk: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    let received = ""
    let isFirst = true
    socket.setEncoding("latin1")
    socket.on("error", reject)
    socket.on("data", (text: string) => {
      received += text
      if (!isFirst) return
      isFirst = false
      received = ""
      socket.end(chunk)
    })
    socket.on("close", () => resolve(received.replaceAll(/Date: [^\r]*/g, "Date: now")))
    socket.write(first)
  })

describe("plain GETs", () => {
  it.scopedLive(
    "are answered on the socket from the second of a connection on, until something else comes",
    () =>
      Effect.gen(function* () {
        const { counted, port } = yield* listen(true)
        const connection = yield* RawConnection.open(port)
        const asked = (request: string) =>
          Effect.zipRight(connection.write(request), connection.heard(/\r\n\r\n\{.*\}$/))
        yield* asked(get("/a"))
        expect(counted.plain).toBe(0)
        yield* asked(get("/b"))
        yield* asked(get("/c", "Accept: */*"))
        expect(counted.plain).toBe(2)
        expect(yield* asked(get("/d", "X-Odd: 1"))).toContain('"x-odd"')
        yield* asked(get("/e"))
        expect(counted.plain).toBe(2)
      })
  )

  it.scopedLive("are left to Node one by one where they cannot be answered at once", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true, (url) => url === "/later")
      const connection = yield* RawConnection.open(port)
      for (const path of ["/a", "/later", "/b", "/later", "/c"]) {
        yield* connection.write(get(path))
        expect(yield* connection.heard(/\r\n\r\n\{.*\}$/)).toContain(`GET ${path}"`)
      }
      expect(counted.plain).toBe(2)
    })
  )

  it.scopedLive("are left to Node where it has read a part of the next request already", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(`${get("/a")}POST /part HTTP/1.1\r\nHost: a\r\nX-Rest: `)
      yield* connection.heard(/\}$/)
      yield* connection.write(get("/b"))
      const heard = yield* connection.heard(/\}$/)
      expect(heard).toContain("POST /part")
      expect(heard).not.toContain('"GET /b"')
      expect(counted.plain).toBe(0)
    })
  )

  it.scopedLive("are looked for also where the first answer took its time", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      for (const path of ["/slow", "/a", "/b"]) {
        yield* connection.write(get(path))
        yield* connection.heard(/\r\n\r\n\{.*\}$/)
      }
      expect(counted.plain).toBe(2)
    })
  )

  it.scopedLive("are not looked for on connections that began with something else", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      for (const path of ["/health/ready", "/a", "/b"]) {
        yield* connection.write(get(path))
        yield* connection.heard(/\r\n\r\n\{.*\}$/)
      }
      expect(counted.plain).toBe(0)
    })
  )

  it.scopedLive("are told to come no more by a listener that drains", () =>
    Effect.gen(function* () {
      const { counted, drain, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(get("/a"))
      yield* connection.heard(/\}$/)
      const draining = yield* Effect.fork(drain)
      yield* Effect.yieldNow()
      yield* connection.write(get("/b"))
      expect(yield* connection.ended).toContain("connection: close")
      expect(counted.plain).toBe(0)
      yield* draining.await
    })
  )

  it.scopedLive(
    "come to the same as where Node reads all, whatever a connection sends",
    () =>
      Effect.gen(function* () {
        const [plain, usual] = [yield* listen(true), yield* listen(false)]
        const draw = Heads.chunksBy(Heads.randomBy(7))
        const chunks = Array.from({ length: 3_000 }, draw).filter((chunk) => chunk.length > 0)
        yield* Effect.forEach(
          chunks,
          (chunk) =>
            Effect.promise(async () => {
              const first = get("/first")
              const [one, other] = await Promise.all([
                exchange(plain.port, first, chunk),
                exchange(usual.port, first, chunk)
              ])
              expect(one, JSON.stringify(chunk.toString("latin1"))).toBe(other)
            }),
          { concurrency: 16, discard: true }
        )
        expect(plain.counted.plain).toBeGreaterThan(300)
      }),
    60_000
  )
})
