import { describe, expect, it, vi } from "@effect/vitest"
import { connect } from "node:net"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context, Duration, Effect, Either, Layer, Stream } from "effect"
import * as Heads from "../../../fuzz/Heads.ts"
import * as DoorListener from "../../../src/http/server/DoorListener.ts"
import * as Routes from "../../../src/http/contract/Routes.ts"
import * as PlainRequests from "../../../src/http/server/PlainRequests.ts"
import { LoopTurns } from "../../../src/fibers/LoopTurns.ts"
import * as Listener from "../../../src/http/server/Listener.ts"
import { freePort } from "../../support/FreePort.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"

/** What was understood of a request. */
const understood = (request: string, headers: IncomingMessage["headers"], body: string) =>
  JSON.stringify({ request, headers: Object.entries(headers).toSorted(), body })

/** Waits until something holds. */
const until = (holds: () => boolean) => Effect.promise(() => vi.waitUntil(holds, { timeout: 20_000 }))

/** Calls back with a body that comes to its end. */
const bodyOf = (request: IncomingMessage, then: (body: string) => void) => {
  let body = ""
  request.setEncoding("latin1")
  request.on("data", (part: string) => (body += part)).on("end", () => then(body))
}

/** Requests of which one is answered later: whatever else comes on its connection waits. */
const isLater = (url: string | undefined) => url === "/later" || url === "/abc1234" || url === "/api/v1/links"

/**
 * A listener that answers with what it understood, plain requests on the socket if `isPlain`, all of them at once, and without a look at their bodies, if `isAtOnce`. Otherwise its
 * connections are read in the same way, and Node answers: it has two ways to read, which differ in their order of events. Counts these, and those that were given up.
 */
const listen = (isPlain: boolean, isAtOnce = false) =>
  Effect.gen(function* () {
    const counted = { plain: 0, givenUp: 0 }
    const waiting: Array<() => void> = []
    const isStill = { now: false }
    const soon = (url: string | undefined, answer: () => void) => {
      if (url === "/never") waiting.push(answer)
      else if (isLater(url) && !isAtOnce) setImmediate(answer)
      else answer()
    }
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      const answerTo = (read: string) =>
        soon(request.url, () => {
          const body = understood(`${request.method} ${request.url!}`, request.headers, read)
          response.writeHead(200, ["content-length", String(Buffer.byteLength(body))])
          response.end(body)
        })
      if (!isAtOnce) return bodyOf(request, answerTo)
      request.resume()
      answerTo("")
    }
    const serve: PlainRequests.PlainAnswers["serve"] = ({ headers, method, readBytes, url }, answer) => {
      counted.plain++
      readBytes(PlainRequests.plainMax, (bytes) => {
        const read = isAtOnce ? "" : Buffer.from(Either.getOrThrow(bytes)).toString("latin1")
        const body = understood(`${method} ${url}`, headers, read)
        const whole = { status: 200, headers: ["content-length", String(Buffer.byteLength(body))] }
        const streamed = { status: 200, headers: [], body: Stream.make(Buffer.from(body)) }
        const made =
          url === "/stream" ? streamed : { ...whole, body: url === "/bytes" ? Buffer.from(body) : body }
        soon(url, () => answer(made, Routes.other))
      })
      return () => counted.givenUp++
    }
    const plain = PlainRequests.answering({
      serve,
      mayBeLate: (method) => !isPlain || (method === "POST" && isStill.now),
      turns: yield* LoopTurns,
      clock: yield* Effect.clock,
      pour: yield* DoorListener.pouring
    })
    const port = yield* freePort
    const bounds = { connectionsMax: 1_000, perClientMax: null, drainDelay: Duration.zero }
    const context = yield* Layer.build(Listener.layer({ host: "127.0.0.1", port, ...bounds }))
    const listener = Context.get(context, Listener.Listener)
    yield* listener.serve(answer, plain)
    return { port, counted, waiting, isStill, drain: listener.drain }
  })

const get = (path: string, ...fields: ReadonlyArray<string>) =>
  [`GET ${path} HTTP/1.1`, "Host: a", ...fields, "", ""].join("\r\n")

const post = (body: string, ...fields: ReadonlyArray<string>) =>
  [`POST /api/v1/links HTTP/1.1`, "Host: a", `Content-Length: ${body.length}`, ...fields, "", body].join(
    "\r\n"
  )

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

describe("plain requests", () => {
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

  it.scopedLive("are answered on the socket also later, and what comes meanwhile waits", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(get("/a"))
      yield* connection.heard(/\}$/)
      for (const path of ["/later", "/b", "/later"]) {
        yield* connection.write(get(path))
        expect(yield* connection.heard(/\r\n\r\n\{.*\}$/)).toContain(`GET ${path}"`)
      }
      expect(counted.plain).toBe(3)
    })
  )

  it.scopedLive("are creates as well, with their bodies", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      const asked = (request: string) =>
        Effect.zipRight(connection.write(request), connection.heard(/\r\n\r\n\{.*\}$/))
      yield* asked(post("first"))
      expect(counted.plain).toBe(0)
      expect(yield* asked(post("second", "X-Api-Key: lm_a"))).toContain('"body":"second"')
      expect(yield* asked(get("/a"))).toContain('"GET /a"')
      expect(yield* asked(post(""))).toContain('"body":""')
      expect(counted.plain).toBe(3)
    })
  )

  it.scopedLive("are left to Node where they may be late, since it holds them until their clients show", () =>
    Effect.gen(function* () {
      const { counted, isStill, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      const asked = (request: string) =>
        Effect.zipRight(connection.write(request), connection.heard(/\r\n\r\n\{.*\}$/))
      yield* asked(get("/a"))
      isStill.now = true
      expect(yield* asked(post("late"))).toContain('"body":"late"')
      yield* asked(get("/b"))
      isStill.now = false
      yield* asked(post("soon"))
      expect(counted.plain).toBe(2)
    })
  )

  it.scopedLive("keep their order where several are on their way", () =>
    Effect.gen(function* () {
      const { counted, port, waiting } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(get("/a"))
      yield* connection.heard(/\}$/)
      yield* connection.write(get("/never"))
      yield* until(() => waiting.length === 1)
      yield* connection.write(get("/b"))
      yield* connection.write(get("/later"))
      yield* connection.write(get("/c", "X-Odd: 1"))
      // Another connection's answer comes after what has been written here before.
      const other = yield* RawConnection.open(port)
      yield* other.write(get("/a"))
      yield* other.heard(/\}$/)
      expect(counted.plain).toBe(1)
      waiting.forEach((answer) => answer())
      const heard = yield* connection.heard(/"GET \/c".*\}$/s)
      expect(heard.match(/GET \/[a-z]+/g)).toEqual(["GET /never", "GET /b", "GET /later", "GET /c"])
    })
  )

  it.scopedLive("are given up when their clients have gone", () =>
    Effect.gen(function* () {
      const { counted, port, waiting } = yield* listen(true)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* RawConnection.open(port)
          yield* connection.write(get("/a"))
          yield* connection.heard(/\}$/)
          yield* connection.write(get("/never"))
          yield* until(() => waiting.length === 1)
        })
      )
      yield* until(() => counted.givenUp === 1)
      waiting.forEach((answer) => answer())
      expect(counted).toEqual({ plain: 1, givenUp: 1 })
    })
  )

  it.scopedLive(
    "leave nothing to Node of a connection that has closed, whose parser another one may have",
    () =>
      Effect.gen(function* () {
        const { counted, port, waiting } = yield* listen(true)
        const asked = (connection: RawConnection.RawConnection, ...fields: ReadonlyArray<string>) =>
          Effect.zipRight(connection.write(get("/a", ...fields)), connection.heard(/\r\n\r\n\{.*\}$/))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const gone = yield* RawConnection.open(port)
            yield* asked(gone)
            yield* gone.write(get("/never"))
            yield* until(() => waiting.length === 1)
            yield* gone.write("GET /half HTTP/1.1\r\nX-Half: ")
            // What is written here is read after that.
            yield* asked(yield* RawConnection.open(port))
          })
        )
        yield* until(() => counted.givenUp === 1)
        const others = yield* Effect.replicateEffect(RawConnection.open(port), 4)
        for (const other of others) yield* asked(other)
        waiting.forEach((answer) => answer())
        for (const other of others) expect(yield* asked(other, "X-Odd: 1")).toContain('"request":"GET /a"')
      })
  )

  it.scopedLive("have answers of text, of bytes and of streams", () =>
    Effect.gen(function* () {
      const { counted, port } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      for (const path of ["/a", "/bytes", "/b"]) {
        yield* connection.write(get(path))
        expect(yield* connection.heard(/\r\n\r\n\{.*\}$/)).toContain(`GET ${path}"`)
      }
      yield* connection.write(get("/stream"))
      const streamed = yield* connection.ended
      expect(streamed).toContain("Connection: close")
      expect(streamed).toMatch(/\r\n\r\n\{"request":"GET \/stream".*\}$/)
      expect(counted.plain).toBe(3)
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
      for (const path of ["/later", "/a", "/b"]) {
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

  it.scopedLive("are answered by a listener that drains, which closes their connections then", () =>
    Effect.gen(function* () {
      const { drain, port, waiting } = yield* listen(true)
      const connection = yield* RawConnection.open(port)
      yield* connection.write(get("/a"))
      yield* connection.heard(/\}$/)
      yield* connection.write(get("/never"))
      yield* until(() => waiting.length === 1)
      const idle = yield* RawConnection.open(port)
      const draining = yield* Effect.fork(drain)
      // Longer than a drain waits for connections without a request. A shorter wait would pass as well.
      yield* Effect.sleep("700 millis")
      waiting.forEach((answer) => answer())
      const heard = yield* connection.ended
      expect(heard).toContain('"GET /never"')
      expect(heard).toContain("Connection: close")
      yield* idle.ended
      yield* draining.await
    })
  )

  it.scopedLive(
    "come to the same as where Node reads all, whatever a connection sends",
    () =>
      Effect.gen(function* () {
        // At once: whether a later answer comes before the end of the connection, or before what follows is refused, is chance.
        const [plain, usual] = [yield* listen(true, true), yield* listen(false, true)]
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
        expect(plain.counted.plain).toBeGreaterThan(400)
      }),
    60_000
  )
})
