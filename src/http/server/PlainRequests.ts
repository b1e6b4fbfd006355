import { type IncomingHttpHeaders, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { type Clock, DateTime, Either, Option } from "effect"
import { isSegment } from "../../model/Alias.ts"
import { type Answer, fixedOf } from "../exchange/Answer.ts"
import { tooLarge } from "../exchange/Body.ts"
import type { Request } from "../exchange/Request.ts"
import type { LoopTurnsService } from "../../fibers/LoopTurns.ts"
import type { Pour } from "./DoorListener.ts"
import type { FrontDoor } from "./FrontDoor.ts"
import type { LateRequests } from "./LateRequests.ts"

/** Bytes of a plain request at most, with its body. */
export const plainMax = 4_096

/** Header fields of a plain request at most. */
const fieldsMax = 32

/** Where plain POSTs go. */
const createPath = "/api/v1/links"

/** A redirect or a create in its plainest form. */
export interface PlainRequest {
  readonly method: "GET" | "POST"
  /** The path: of a GET `/` and a short key or an alias, of a POST that of creates. */
  readonly url: string
  /** By names in lower case, as `node:http` has them. */
  readonly headers: IncomingHttpHeaders & Readonly<Record<string, string | undefined>>
  /** Empty for a GET. */
  readonly body: Uint8Array
}

/**
 * Header fields that a plain request may have, each once: those that say nothing of how the request or its connection is to be understood, but for `connection`, which must be `keep-alive`.
 */
const fields: ReadonlySet<string> = new Set(
  (
    "accept accept-encoding accept-language cache-control cf-connecting-ip cf-ipcountry cf-ray " +
    "connection cookie dnt host if-modified-since if-none-match pragma priority purpose referer " +
    "save-data sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode " +
    "sec-fetch-site sec-fetch-user sec-gpc sec-purpose upgrade-insecure-requests user-agent " +
    "x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-real-ip x-request-id"
  ).split(" ")
)

/** Those that only a POST may have, which must have `content-length`. */
const fieldsOfPosts: ReadonlySet<string> = new Set(
  "authorization content-length content-type idempotency-key origin x-api-key".split(" ")
)

/** Whether a path is a key and nothing else. */
const isKeyPath = (path: string): boolean => path.startsWith("/") && isSegment(path.slice(1))

/** A field with visible characters of ASCII and spaces between them. Anything looser is for `node:http`. */
const field = /^([A-Za-z0-9-]+): ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/

/** `Host` as `node:http` and our own check accept it, in its plainest form. */
const plainHost = /^[A-Za-z0-9.-]+(?::\d{1,5})?$/

/** The length of a body in its only form. */
const plainLength = /^(?:0|[1-9]\d{0,3})$/

/** Bytes behind the path that are remembered for the next request of a connection at most. */
const rememberedMax = 1_024

/** Behind the path of a request line. */
const version = " HTTP/1.1\r\n"

/** The fields of what is behind the path, each ending in CRLF; `undefined` where one is not plain, or the version is another one. */
const headersOf = (text: string, isPost: boolean): PlainRequest["headers"] | undefined => {
  if (!text.startsWith(version)) return undefined
  const lines = text.slice(version.length).split("\r\n")
  // The last one is what is behind the last field's end.
  if (lines.length < 2 || lines.length > fieldsMax + 1 || lines.pop() !== "") return undefined
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const found = field.exec(line)
    if (found === null) return undefined
    const name = found[1]!.toLowerCase()
    if (!fields.has(name) && !(isPost && fieldsOfPosts.has(name))) return undefined
    if (Object.hasOwn(headers, name)) return undefined
    headers[name] = found[2]!
  }
  const { connection, host } = headers
  if (host === undefined || !plainHost.test(host)) return undefined
  return connection === undefined || connection.toLowerCase() === "keep-alive" ? headers : undefined
}

/** The path of a target that follows a method; `undefined` where it is not that of a plain request. */
const pathOf = (start: string): string | undefined => {
  if (start.startsWith("GET /")) {
    const path = start.slice(4)
    return isKeyPath(path) ? path : undefined
  }
  return start === `POST ${createPath}` ? createPath : undefined
}

const space = 0x20

const headEnd = Buffer.from("\r\n\r\n")

const noBody = new Uint8Array()

/** What follows the path, to the end of the head. */
interface Tail {
  readonly bytes: Buffer
  readonly isPost: boolean
  readonly headers: PlainRequest["headers"]
}

/** Whether a chunk has the bytes of a tail at an index. */
const hasTail = (chunk: Buffer, { bytes }: Tail, from: number): boolean =>
  chunk.length - from >= bytes.length &&
  chunk.compare(bytes, 0, bytes.length, from, from + bytes.length) === 0

/**
 * Reads what a connection sends, as far as it is plain requests. One for each connection, whose requests mostly have the same fields: they are read once.
 */
export class PlainReader {
  /** Of the last request. */
  #tail: Tail | undefined

  /**
   * The request that a chunk is, from its first byte to its last; `undefined` where it is anything else: less, more, or written in any way that two parsers might understand
   * differently.
   */
  read(chunk: Buffer): PlainRequest | undefined {
    if (chunk.length > plainMax) return undefined
    // Behind the method's.
    const pathEnd = chunk.indexOf(space, 5)
    if (pathEnd === -1) return undefined
    const url = pathOf(chunk.toString("latin1", 0, pathEnd))
    if (url === undefined) return undefined
    const isPost = url === createPath
    const tail = this.#tailOf(chunk, pathEnd, isPost)
    if (tail === undefined) return undefined
    const { headers } = tail
    const from = pathEnd + tail.bytes.length
    if (chunk.length - from !== lengthOf(headers, isPost)) return undefined
    // In one piece, since each new shape of an object costs as much as the rest of this.
    return isPost
      ? { method: "POST", url, headers, body: chunk.subarray(from) }
      : { method: "GET", url, headers, body: noBody }
  }

  #tailOf(chunk: Buffer, from: number, isPost: boolean): Tail | undefined {
    const known = this.#tail
    // Fields that only a POST may have are remembered of none but a POST.
    if (known?.isPost === isPost && hasTail(chunk, known, from)) return known
    const end = chunk.indexOf(headEnd, from)
    if (end === -1) return undefined
    // With the end of the last field.
    const headers = headersOf(chunk.toString("latin1", from, end + 2), isPost)
    if (headers === undefined) return undefined
    // Its own bytes: a chunk is a part of something larger.
    const bytes = Buffer.from(chunk.subarray(from, end + headEnd.length))
    const tail = { bytes, isPost, headers }
    if (bytes.length <= rememberedMax) this.#tail = tail
    return tail
  }
}

/** The length of a plain request's body; `undefined` where its fields do not say it plainly. */
const lengthOf = (headers: PlainRequest["headers"], isPost: boolean): number | undefined => {
  if (!isPost) return 0
  const length = headers["content-length"]
  return length !== undefined && plainLength.test(length) ? Number(length) : undefined
}

/** What Node's parser says of itself: for how long it has been in the middle of a request, 0 where it is in none. */
type Parsed = Socket & { readonly parser?: { readonly duration?: () => number } | null }

/** Whether a request is a redirect or a create, so that its connection may send plain ones. */
export const mayBePlain = (method: string | undefined, url: string | undefined): boolean =>
  method === "GET" ? isKeyPath(url ?? "") : method === "POST" && url === createPath

/** A connection that may send plain requests. */
export interface PlainConnection {
  readonly socket: Socket
  /** Whether all earlier requests have been answered, and the answers taken. */
  readonly isIdle: () => boolean
  /** Whether the server accepts further requests on its connections. */
  readonly isOpen: () => boolean
  /** A plain request is being answered. `giveUp` is to be called when the connection closes. */
  readonly begun: (giveUp: () => void) => void
  /** It is answered. */
  readonly ended: () => void
}

/**
 * Answers plain requests on a connection of a server of `node:http`, before that reads them, where nothing else is under way. It costs half of what Node takes for a request.
 *
 * To be called between two requests of the connection; it does nothing where Node's parser has a part of the next one already. `node:http` has the connection all the while, with its times
 * and bounds, and gets every chunk that is not answered here. It gets all chunks from the first one on that is not exactly one plain request, so that it never begins in the middle of a request.
 * While one is being answered, the connection is not read any further than one chunk.
 */
export const intercept = (
  connection: PlainConnection,
  { mayBeLate, serve, turns, write }: PlainAnswers
): void => {
  const { begun, ended, isIdle, isOpen } = connection
  const socket: Parsed = connection.socket
  const [read] = socket.listeners("data") as unknown as ReadonlyArray<(chunk: Buffer) => void>
  if (read === undefined || !isIdle() || socket.parser?.duration?.() !== 0) return
  const reader = new PlainReader()
  let isAnswering = false
  let held: Buffer | undefined
  const remoteAddress = Option.fromNullable(socket.remoteAddress)

  const goOn = () => {
    isAnswering = false
    const chunk = held
    held = undefined
    // Node gives the parser of a connection that has closed to another one.
    if (chunk === undefined || socket.destroyed) return
    take(chunk)
    if (held === undefined) socket.resume()
  }

  /** Of the request that is being answered. */
  let body: Uint8Array = noBody
  /** What a body asks for can take as long as all else in this turn. */
  const readBytes: Request["readBytes"] = (bytesMax, done) => {
    const read = () => done(body.length > bytesMax ? Either.left(tooLarge(bytesMax)) : Either.right(body))
    if (turns.isOver()) turns.defer(read)
    else read()
  }

  const answer = ({ headers, method, url }: PlainRequest) => {
    let isBegun = false
    isAnswering = true
    const giveUp = serve({ method, url, headers, remoteAddress, readBytes }, (made) => {
      write(socket, made, isOpen())
      if (isBegun) ended()
      goOn()
    })
    // Most are answered by now.
    if (!isAnswering) return
    isBegun = true
    begun(giveUp)
  }

  const take = (chunk: Buffer) => {
    if (isAnswering) {
      held = chunk
      return void socket.pause()
    }
    const request = reader.read(chunk)
    if (request === undefined) {
      socket.off("data", take).on("data", read)
      return read(chunk)
    }
    if (!isIdle() || !isOpen() || mayBeLate(request.method)) return read(chunk)
    body = request.body
    answer(request)
  }
  socket.off("data", read).on("data", take)
}

/** How long a connection without a request is kept, in milliseconds. */
export const keepAliveTimeout_ms = 5_000

/** What cannot be in the value of a header, as `node:http` has it. */
const invalid = /[^\t\u0020-\u007e]/

const write = (name: string, value: string): string => {
  if (invalid.test(value)) throw new TypeError("A header has an invalid value")
  return `${name}: ${value}\r\n`
}

const writeAll = (headers: ReadonlyArray<string>): string => {
  let text = ""
  for (let at = 0; at < headers.length; at += 2) text += write(headers[at]!, headers[at + 1]!)
  return text
}

const hasLength = (headers: ReadonlyArray<string>): boolean => headers.includes("content-length")

/** Statuses whose answers have no body, nor a length. */
const isBodiless = (status: number) => status === 204 || status === 304

/** The same text in one piece: V8 keeps what is put together as a tree, which each write would go through. */
const inOnePiece = (text: string): string => Buffer.from(text, "latin1").toString("latin1")

/** Gives the heads of answers as `node:http` writes them. */
const heading = (clock: Clock.Clock) => {
  const kept = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveTimeout_ms / 1_000}\r\n\r\n`
  const closed = "Connection: close\r\n\r\n"
  const beginnings = new Map<ReadonlyArray<string>, Map<number, string>>()
  const beginningOf = (status: number, fixed: ReadonlyArray<string>): string => {
    let byStatus = beginnings.get(fixed)
    if (byStatus === undefined) beginnings.set(fixed, (byStatus = new Map()))
    const present = byStatus.get(status)
    if (present !== undefined) return present
    const beginning = inOnePiece(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${writeAll(fixed)}`)
    byStatus.set(status, beginning)
    return beginning
  }
  let second = Number.NaN
  let keptEnd = ""
  let closedEnd = ""
  return (answer: Answer, isKept: boolean): string => {
    const { body, headers, status } = answer
    const fixed = fixedOf(answer)
    const now_ms = clock.unsafeCurrentTimeMillis()
    if (Math.floor(now_ms / 1_000) !== second) {
      second = Math.floor(now_ms / 1_000)
      const date = `Date: ${DateTime.toDateUtc(DateTime.unsafeMake(now_ms)).toUTCString()}\r\n`
      keptEnd = inOnePiece(date + kept)
      closedEnd = date + closed
    }
    const isLengthTold = body !== "" || isBodiless(status) || hasLength(fixed) || hasLength(headers)
    const length = isLengthTold ? "" : "content-length: 0\r\n"
    return beginningOf(status, fixed) + writeAll(headers) + length + (isKept ? keptEnd : closedEnd)
  }
}

/** How plain requests are answered. */
export interface PlainAnswers {
  readonly serve: FrontDoor["serve"]
  /** Whether a request may be late, so that Node's listener has to hold it. */
  readonly mayBeLate: LateRequests["mayBeLate"]
  readonly turns: LoopTurnsService
  /** Writes a whole answer, and ends the connection after it where it is not kept. It throws, and writes nothing, where the answer has a header that it cannot have. */
  readonly write: (socket: Socket, answer: Answer, isKept: boolean) => void
}

/** How plain requests are answered, and what their answers are written with. */
export interface PlainOptions extends Omit<PlainAnswers, "write"> {
  readonly clock: Clock.Clock
  readonly pour: Pour
}

/** See {@link PlainAnswers}. An answer whose body is a stream ends with its connection. */
export const answering = ({ clock, pour, ...options }: PlainOptions): PlainAnswers => {
  const headOf = heading(clock)
  return {
    ...options,
    write: (socket, answer, isKept) => {
      const { body } = answer
      const isWhole = typeof body === "string" || body instanceof Uint8Array
      const head = headOf(answer, isKept && isWhole)
      if (!socket.writable) return
      if (body === "") socket.write(head, "latin1")
      else if (typeof body === "string") socket.write(head + body)
      else {
        socket.cork()
        socket.write(head, "latin1")
        if (!isWhole) pour(body, socket)
        else socket.write(body)
        socket.uncork()
      }
      if (!isKept && isWhole) socket.end()
    }
  }
}
