import type { IncomingMessage } from "node:http"
import { Effect, Either } from "effect"
import type { Problem } from "./Problem.ts"

/** Is called once with what was read, or with the problem to answer. */
export type WhenRead = (bytes: Either.Either<Uint8Array, Problem>) => void

/** A request whose body can be read. */
export interface Readable {
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Reads the body to its end, or to the first byte beyond `bytesMax`: calls `done` once, with the bytes or the problem to answer. */
  readonly readBytes: (bytesMax: number, done: WhenRead) => void
}

/** Bytes of a request body at most, unless more is said to be allowed. */
export const bodyBytesMax = 64 * 1024

const tooLarge = (bytesMax: number): Problem => ({
  kind: "payload-too-large",
  detail: `The body may have ${bytesMax} bytes at most.`
})

const malformed = (detail: string): Problem => ({
  kind: "invalid-request",
  detail,
  errors: [{ path: "", message: detail }]
})

/** Whether a content type is JSON in UTF-8, the only charset that JSON has (RFC 8259, section 8.1). */
export const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType.trim())

/** Understands the bytes of a JSON body. */
export const parse = (bytes: Uint8Array): Either.Either<unknown, Problem> =>
  Either.try({
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

/**
 * Reads a body to its end, or to the first byte too many. What is left then is thrown away as it comes, as long as the listener lets a
 * request take: to close the connection on a client that still sends would reset it, and the client would never see the response.
 */
export const readBytes = (
  request: Pick<IncomingMessage, "on" | "off" | "resume">,
  bytesMax: number,
  done: WhenRead
): void => {
  const chunks: Array<Buffer> = []
  let size = 0
  const finish = (result: Either.Either<Uint8Array, Problem>) => {
    request.off("data", onData).off("end", onEnd).off("error", onError).off("close", onError)
    done(result)
  }
  const onData = (chunk: Buffer) => {
    size += chunk.length
    chunks.push(chunk)
    if (size <= bytesMax) return
    finish(Either.left(tooLarge(bytesMax)))
    request.resume()
  }
  const onEnd = () => finish(Either.right(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
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
    const detail = `The request needs the header Content-Type: ${type}.`
    return done(Either.left({ kind: "unsupported-media-type", detail }))
  }
  return Number(request.headers["content-length"] ?? 0) > bytesMax
    ? done(Either.left(tooLarge(bytesMax)))
    : request.readBytes(bytesMax, done)
}

/** Reads the bytes of a JSON body without an effect, as {@link read} does. */
export const readJsonBytes = (request: Readable, bytesMax: number, done: WhenRead): void =>
  readAs(request, "application/json", isJson, bytesMax, done)

/** Reads a JSON body; fails with the problem to answer. */
export const read = (request: Readable, bytesMax = bodyBytesMax): Effect.Effect<unknown, Problem> =>
  Effect.async((resume) => readJsonBytes(request, bytesMax, (bytes) => resume(Either.flatMap(bytes, parse))))

const formType = "application/x-www-form-urlencoded"

const isForm = (contentType: string | undefined): boolean =>
  contentType?.split(";")[0]!.trim().toLowerCase() === formType

/** Reads the body of an HTML form; fails with the problem to answer. */
export const readForm = (request: Readable): Effect.Effect<URLSearchParams, Problem> =>
  Effect.map(
    Effect.async<Uint8Array, Problem>((resume) => readAs(request, formType, isForm, bodyBytesMax, resume)),
    (bytes) => new URLSearchParams(Buffer.from(bytes).toString())
  )
