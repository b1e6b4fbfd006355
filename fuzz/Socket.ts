// Writes a case of `Wire` to sockets, and understands what comes back.

import { Effect } from "effect"
import { connect } from "node:net"
import type { Wire } from "./Wire.ts"

/** An answer as it stood on the wire. */
export interface WireAnswer {
  readonly status: number
  /** By their names in lower case; the last one of a name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Bytes of the body. */
  readonly bytes: number
}

/** What came of one connection. */
export interface Heard {
  readonly answers: ReadonlyArray<WireAnswer>
  /** What came and is no answer of HTTP/1.1: its beginning. */
  readonly garbage: string
  /** Whether nothing came for so long as a client is patient, neither an answer nor the end. */
  readonly isHung: boolean
}

/** Bytes of one connection that are kept at most; what is beyond is thrown away. */
const keptMax = 8 * 1024 * 1024

/** How long a client that has its first answer waits for more, and one that has written half a request for anything, in milliseconds. */
const quiet_ms = 40

const headersOf = (lines: ReadonlyArray<string>) =>
  Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":")
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    })
  )

/** Where a body of chunks ends behind `from`, and the body; undefined where it is not whole. */
const chunked = (text: string, from: number): { readonly body: string; readonly end: number } | undefined => {
  let [at, body] = [from, ""]
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (lineEnd < 0 || Number.isNaN(size) || lineEnd + 4 + size > text.length) return undefined
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 4 + size
    if (size === 0) return { body, end: at }
  }
}

/** Understands answers of HTTP/1.1, one behind the other, in Latin-1. A body without a length ends with the connection. */
export const answersIn = (text: string, isHead: boolean): Omit<Heard, "isHung"> => {
  const garbageAt = (at: number) =>
    text.startsWith("HTTP/1.1 ".slice(0, text.length - at), at) ? "" : text.slice(at, at + 80)
  const answers: Array<WireAnswer> = []
  let at = 0
  while (at < text.length) {
    const headEnd = text.indexOf("\r\n\r\n", at)
    const [line = "", ...lines] = text.slice(at, headEnd).split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(line)?.[1])
    if (headEnd < 0 || !(status >= 100)) return { answers, garbage: garbageAt(at) }
    const headers = headersOf(lines)
    const from = headEnd + 4
    const isEmpty = isHead || status < 200 || status === 204 || status === 304
    const whole = isEmpty
      ? { body: "", end: from }
      : headers["transfer-encoding"] === "chunked"
        ? chunked(text, from)
        : (() => {
            const length = Number(headers["content-length"] ?? text.length - from)
            return from + length > text.length
              ? undefined
              : { body: text.slice(from, from + length), end: from + length }
          })()
    if (whole === undefined) return { answers, garbage: garbageAt(at) }
    at = whole.end
    // Those that come before an answer say nothing of the request.
    if (status >= 200) answers.push({ status, headers, body: whole.body, bytes: whole.body.length })
  }
  return { answers, garbage: "" }
}

/** Writes the case to one connection of its own, and waits for what comes of it: `patience_ms` at most for the first byte. */
const hear = (port: number, wire: Wire, patience_ms: number): Effect.Effect<Heard> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    let timer: NodeJS.Timeout | undefined
    const socket = connect(port, "127.0.0.1")
    const finish = (isHung: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      const { answers, garbage } = answersIn(Buffer.concat(chunks).toString("latin1"), wire.isHead)
      resume(Effect.succeed({ answers, garbage, isHung: isHung && answers.length === 0 }))
    }
    const wait = (time_ms: number, isHung: boolean) => {
      clearTimeout(timer)
      timer = setTimeout(() => finish(isHung), time_ms)
    }
    socket.on("data", (chunk) => {
      if (size < keptMax) {
        chunks.push(chunk)
        size += chunk.length
      }
      wait(quiet_ms, false)
    })
    socket.on("error", () => finish(false))
    socket.on("end", () => finish(false))
    socket.on("close", () => finish(false))
    if (!wire.isRead) socket.pause()
    for (const { text, times } of wire.parts) socket.write(text.repeat(times), "latin1")
    if (wire.isWhole && wire.isRead) wait(patience_ms, true)
    else wait(quiet_ms, false)
    return Effect.sync(() => finish(false))
  })

/** Writes the case to its connections at once. */
export const hearAll = (port: number, wire: Wire, patience_ms: number): Effect.Effect<ReadonlyArray<Heard>> =>
  Effect.all(
    Array.from({ length: wire.connections }, () => hear(port, wire, patience_ms)),
    { concurrency: "unbounded" }
  )
