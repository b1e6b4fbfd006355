import { describe, expect, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Effect, Either, FastCheck } from "effect"
import * as Body from "../../../src/http/exchange/Body.ts"
import * as BodyBudget from "../../../src/http/exchange/BodyBudget.ts"
import * as HeldTurns from "../../support/HeldTurns.ts"

const bodyBytes = 4 * 1024 * 1024

/** What comes of a body in one turn at most: the piece that Node reads, and those that it reads ahead. */
const pieceMax = 256 * 1024

const inOnePiece = Buffer.concat([
  Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bodyBytes}\r\n\r\n`),
  Buffer.alloc(bodyBytes, "a")
])

/** Sends a body to a server whose turns of the event loop are over at once. Gives what was read of it, and how many bytes came, and were kept by Node, in each turn. */
const sent = (message: string | Uint8Array, length: number, bytesMax: number) =>
  Effect.gen(function* () {
    const held = HeldTurns.make()
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => createServer()),
      (server) => Effect.sync(() => void server.close().closeAllConnections())
    )
    const budget = new BodyBudget.BodyBudget(() => null, held)
    server.on("connection", (socket) => BodyBudget.hold(socket, budget))
    let request: IncomingMessage | undefined
    let read: Either.Either<Uint8Array, unknown> | undefined
    let came = 0
    server.once("request", (asked) => {
      request = asked
      Body.readBytes(asked, bytesMax, (bytes) => (read = bytes))
      asked.on("data", (chunk: Buffer) => (came += chunk.length))
    })
    yield* Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {})),
      (client) => Effect.sync(() => client.destroy())
    )
    client.write(message)
    const turns: Array<number> = []
    let kept = 0
    yield* Effect.async<void>((resume) => {
      let before = 0
      const turn = (left: number) => {
        kept = Math.max(kept, request?.readableLength ?? 0)
        if (left > 0) return void setImmediate(() => turn(left - 1))
        turns.push(came - before)
        before = came
        if (came === length && read !== undefined) return resume(Effect.void)
        held.next()
        turn(5)
      }
      turn(5)
    })
    return { read: read!, mostInTurn: Math.max(...turns), kept }
  })

describe("a body leaves the event loop to others", () => {
  it.scopedLive("while it is read", () =>
    Effect.gen(function* () {
      const { mostInTurn, read } = yield* sent(inOnePiece, bodyBytes, bodyBytes)
      expect(Either.map(read, ({ length }) => length)).toEqual(Either.right(bodyBytes))
      expect(mostInTurn).toBeLessThanOrEqual(pieceMax)
    })
  )

  it.scopedLive("while it is thrown away", () =>
    Effect.gen(function* () {
      const { mostInTurn, read } = yield* sent(inOnePiece, bodyBytes, 1_000)
      expect(Either.isLeft(read)).toBe(true)
      expect(mostInTurn).toBeLessThanOrEqual(pieceMax)
    })
  )

  it.scopedLive("and does not pile up meanwhile in pieces of a byte", () =>
    Effect.gen(function* () {
      const pieces = 20_000
      const message = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(pieces)}0\r\n\r\n`
      const { kept, read } = yield* sent(message, pieces, bodyBytes)
      expect(Either.map(read, ({ length }) => length)).toEqual(Either.right(pieces))
      expect(kept).toBe(0)
    })
  )
})

/** A request whose events the test emits. */
const incoming = () =>
  Object.assign(new EventEmitter(), { headers: {}, socket: {} }) as unknown as IncomingMessage

describe("a body that comes in pieces", () => {
  for (const [event, how] of [
    ["end", "ends"],
    ["error", "fails"],
    ["close", "breaks off"]
  ] as const) {
    it(`gives its room back when it ${how}`, () => {
      const bounds = { bytesMax: 100, largeBytesMax: 100, clientBytesMax: 100, discardedMax: 100 }
      const turns = { isOver: () => false, defer: () => {} }
      const budget = new BodyBudget.BodyBudget(() => null, turns, bounds)
      const request = incoming()
      BodyBudget.hold(request.socket, budget)
      let read: Either.Either<Uint8Array, unknown> | undefined
      Body.readBytes(request, bodyBytes, (bytes) => (read = bytes))
      for (const length of [20, 30]) request.emit("data", Buffer.alloc(length))
      expect(budget.take(null, 51, false)).toBe(false)
      request.emit(event)
      expect(Either.isRight(read!)).toBe(event === "end")
      expect(budget.take(null, 100, false)).toBe(true)
    })
  }

  const sizes = FastCheck.array(
    FastCheck.oneof(FastCheck.integer({ min: 1, max: 100 }), FastCheck.integer({ min: 1, max: 70_000 })),
    {
      maxLength: 40
    }
  )

  it.prop("is read as it was sent, whatever their sizes", [sizes], ([lengths]) => {
    const pieces = lengths.map((length, index) => Buffer.alloc(length, index + 1))
    const whole = Buffer.concat(pieces)
    const request = incoming()
    let read: Either.Either<Uint8Array, unknown> | undefined
    Body.readBytes(request, bodyBytes, (bytes) => (read = bytes))
    for (const piece of pieces) request.emit("data", piece)
    request.emit("end")
    expect(Either.getOrThrow(read!).toString()).toBe(whole.toString())
  })
})
