import type { IncomingMessage } from "node:http"
import { Effect, Either } from "effect"
import * as BodyBudget from "./BodyBudget.ts"
import * as JsonBounds from "./JsonBounds.ts"
import { type Problem, refuse } from "./Problem.ts"
import type { Message } from "../../model/Messages.ts"

/** Is called once with what was read, or with the problem to answer. */
export type WhenRead = (bytes: Either.Either<Uint8Array, Problem>) => void

/** A request whose body can be read. */
export interface Readable {
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Reads the body to its end, or to the first byte beyond `bytesMax`: calls `done` once, with the bytes or the problem to answer. */
  readonly readBytes: (bytesMax: number, done: WhenRead) => void
}

/** What a JSON body may be. */
export interface BodyBounds extends JsonBounds.JsonBounds {
  readonly bytesMax: number
}

/** What a request body may be, unless more is said to be allowed. */
export const plain: BodyBounds = { bytesMax: 64 * 1024, valuesMax: 1_000 }

/** Fields of an HTML form at most. */
const formFieldsMax = 100

/** The problem of a body that has more bytes. */
export const tooLarge = (bytesMax: number): Problem => ({
  kind: "payload-too-large",
  detail: `The body may have ${bytesMax} bytes at most.`
})

const malformed = (detail: Message): Problem => ({
  kind: "invalid-request",
  detail,
  errors: [{ path: "", message: detail }]
})

/** Whether a content type is JSON in UTF-8, the only charset that JSON has (RFC 8259, section 8.1). */
export const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType.trim())

/** Understands the bytes of a JSON body. */
export const parse = (bytes: Uint8Array, bounds: BodyBounds = plain): Either.Either<unknown, Problem> => {
  const fault = JsonBounds.faultOf(bytes, bounds)
  if (fault !== undefined) return Either.left(malformed(`The body ${fault}.`))
  return Either.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => malformed("The body is not valid UTF-8.")
  }).pipe(
    Either.flatMap((text) =>
      Either.try({
        try: () => JSON.parse(text) as unknown,
        catch: (error) => malformed(`The body is not valid JSON: ${(error as Error).message}`)
      })
    )
  )
}

const noRoom: Problem = {
  kind: "unavailable",
  detail: "There is no room for one more request body just now. Please try again."
}

/** A piece of a body that has more bytes is kept as it came. */
const pieceMin = 16 * 1024

/** Small pieces are gathered in so many bytes. */
const gatheredMax = 64 * 1024

const isWorthKeeping = (chunk: Buffer) =>
  chunk.length >= pieceMin && 2 * chunk.length >= chunk.buffer.byteLength

const nothing = Buffer.alloc(0)

/** Bytes of a body that comes in pieces. Small ones are copied together: each by itself would cost more than it holds. */
class Gathered {
  readonly #pieces: Array<Buffer> = []
  #open: Buffer = nothing
  #openSize = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  add(chunk: Buffer): void {
    this.#size += chunk.length
    if (isWorthKeeping(chunk)) {
      this.#close()
      this.#pieces.push(chunk)
      return
    }
    const size = this.#openSize + chunk.length
    if (this.#openSize === 0 || size > gatheredMax) {
      this.#close()
      this.#open = chunk
      this.#openSize = chunk.length
      return
    }
    if (size > this.#open.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(2 * size, gatheredMax))
      this.#open.copy(larger, 0, 0, this.#openSize)
      this.#open = larger
    }
    chunk.copy(this.#open, this.#openSize)
    this.#openSize = size
  }

  #close(): void {
    if (this.#openSize > 0) this.#pieces.push(this.#open.subarray(0, this.#openSize))
    this.#open = nothing
    this.#openSize = 0
  }

  get bytes(): Buffer {
    this.#close()
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#size)
  }
}

/** A request as it comes over its connection. */
type Incoming = Pick<IncomingMessage, "_read" | "headers" | "off" | "on" | "socket">

/** Lets what a request sends take no more of the event loop, and of the memory, than all may that send at once. */
const pacing = (request: Incoming) => {
  const budget = BodyBudget.of(request.socket)
  let isPaused = false
  /**
   * Has Node read no more of the connection until it may go on. Not by pausing the request, in which what was read would pile up: in pieces of a byte, a thousand times
   * its size. The request goes on, and would have the connection read whenever it is empty.
   */
  const pause = (until: (goOn: () => void) => void) => {
    if (isPaused) return
    isPaused = true
    const { socket, _read } = request
    request._read = () => {}
    // Behind what has Node resume it already.
    process.nextTick(() => socket.pause())
    until(() => {
      isPaused = false
      request._read = _read
      socket.resume()
    })
  }
  /** When something of it was read. */
  const pace = () => {
    if (!isPaused && budget?.turns.isOver() === true) pause(budget.turns.defer)
  }
  /** When something of it was read that nobody wants. */
  const discarded = (chunk: Buffer) => {
    if (budget?.discard(chunk.length) === false) pause(budget.untilSweep)
    else pace()
  }
  return { budget, pace, discarded }
}

/**
 * Throws away what a request sends that nobody reads, as long as the listener lets it take: to close the connection on a client that still sends would reset it, and the
 * client would never see the response.
 */
export const discardUnread = (request: IncomingMessage): void => {
  if (request.readableFlowing === null) request.on("data", pacing(request).discarded)
}

/** Whether a request's body may be larger than what most of them may have. */
export const mayBeLarge = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"]) > plain.bytesMax || headers["transfer-encoding"] !== undefined

/**
 * Reads a body to its end, or to the first byte too many. What is left then is thrown away. Where many send at once, both take several turns of the event loop.
 */
export const readBytes = (request: Incoming, bytesMax: number, done: WhenRead): void => {
  const gathered = new Gathered()
  const expected = Number(request.headers["content-length"])
  const { budget, discarded, pace } = pacing(request)
  let client: string | null | undefined
  let taken = 0
  const leave = () =>
    request.off("data", onData).off("end", onEnd).off("error", onError).off("close", onError)
  const finish = (result: Either.Either<Uint8Array, Problem>) => {
    leave()
    if (taken > 0) budget!.give(client!, taken)
    done(result)
  }
  const giveUp = (problem: Problem, chunk: Buffer) => {
    finish(Either.left(problem))
    request.on("data", discarded)
    discarded(chunk)
  }
  const onData = (chunk: Buffer) => {
    if (gathered.size + chunk.length > bytesMax) return giveUp(tooLarge(bytesMax), chunk)
    gathered.add(chunk)
    // One that is whole waits for nobody.
    if (budget === undefined || gathered.size === expected) return
    if (client === undefined) client = budget.clientOf(request)
    if (!budget.take(client, chunk.length, bytesMax > plain.bytesMax)) return giveUp(noRoom, chunk)
    taken += chunk.length
    pace()
  }
  const end = () => finish(Either.right(gathered.bytes))
  /** What a body asks for can take as long as all else in this turn. */
  const onEnd = () => {
    leave()
    if (budget?.turns.isOver() === true) budget.turns.defer(end)
    else end()
  }
  const onError = () => finish(Either.left(malformed("The body could not be read.")))
  request.on("data", onData).on("end", onEnd).on("error", onError).on("close", onError)
}

/** Reads a body of a type, of at most `bytesMax` bytes, without ever holding more: calls `done` once, with the bytes or the problem to answer. */
const readAs = (
  request: Readable,
  type: string,
  isType: (contentType: string | undefined) => boolean,
  bytesMax: number,
  done: WhenRead
): void => {
  if (!isType(request.headers["content-type"])) {
    return done(refuse("unsupported-media-type", `The request needs the header Content-Type: ${type}.`))
  }
  return Number(request.headers["content-length"] ?? 0) > bytesMax
    ? done(Either.left(tooLarge(bytesMax)))
    : request.readBytes(bytesMax, done)
}

/** Reads the bytes of a JSON body without an effect, as {@link read} does. */
export const readJsonBytes = (request: Readable, { bytesMax }: BodyBounds, done: WhenRead): void =>
  readAs(request, "application/json", isJson, bytesMax, done)

/** Reads a JSON body; fails with the problem to answer. */
export const read = (request: Readable, bounds: BodyBounds = plain): Effect.Effect<unknown, Problem> =>
  Effect.async((resume) =>
    readJsonBytes(request, bounds, (bytes) => resume(Either.flatMap(bytes, (whole) => parse(whole, bounds))))
  )

const formType = "application/x-www-form-urlencoded"

const ampersand = 0x26

const isForm = (contentType: string | undefined): boolean =>
  contentType?.split(";")[0]!.trim().toLowerCase() === formType

/** Counts the fields of a form before they are taken apart. */
const parseForm = (bytes: Uint8Array): Either.Either<URLSearchParams, Problem> => {
  let fields = 1
  for (const byte of bytes) if (byte === ampersand) fields++
  if (fields <= formFieldsMax) return Either.right(new URLSearchParams(Buffer.from(bytes).toString()))
  return refuse("payload-too-large", `The form may have ${formFieldsMax} fields at most.`)
}

/** Reads the body of an HTML form; fails with the problem to answer. */
export const readForm = (request: Readable): Effect.Effect<URLSearchParams, Problem> =>
  Effect.flatMap(
    Effect.async<Uint8Array, Problem>((resume) => readAs(request, formType, isForm, plain.bytesMax, resume)),
    parseForm
  )
