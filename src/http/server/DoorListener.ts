import { type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import {
  type Clock,
  DateTime,
  Effect,
  Either,
  type Fiber,
  FiberSet,
  Option,
  type Scope,
  Stream
} from "effect"
import type { Answer } from "../exchange/Answer.ts"
import { NodeRequest, type Request } from "../exchange/Request.ts"
import type { PlainAnswer } from "./Connections.ts"
import type { FrontDoor } from "./FrontDoor.ts"

/** A plain GET has no body. */
const noBody: Request["readBytes"] = (_, done) => done(Either.right(new Uint8Array()))

const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async((resume) => {
    const goOn = () => resume(Effect.void)
    response.once("drain", goOn)
    return Effect.sync(() => response.off("drain", goOn))
  })

/**
 * Sends a body as fast as its client takes it. Where it breaks off, the client sees that it is not whole. Not by Effect's `NodeSink` (0.108), which goes on after each chunk of one
 * element, whether or not it was taken.
 */
const pour = (body: Stream.Stream<Uint8Array>, response: ServerResponse): Effect.Effect<void> =>
  Stream.runForEach(body, (bytes) =>
    Effect.suspend(() => (response.write(bytes) ? Effect.void : drained(response)))
  ).pipe(
    Effect.matchCauseEffect({
      onSuccess: () => Effect.sync(() => response.end()),
      onFailure: (cause) =>
        Effect.zipRight(
          Effect.logDebug("An answer broke off", cause),
          Effect.sync(() => response.destroy())
        )
    })
  )

/** What cannot be in the value of a header, as `node:http` has it. */
const invalid = /[^\t\u0020-\u007e]/

/** Writes answers as `node:http` does on a connection that is kept alive. */
const writing = (clock: Clock.Clock, { keepAliveTimeout }: Pick<Server, "keepAliveTimeout">) => {
  const kept = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1_000)}\r\n\r\n`
  let second = Number.NaN
  let date = ""
  return ({ body, headers, status }: Answer<string>): string => {
    const now_ms = clock.unsafeCurrentTimeMillis()
    if (Math.floor(now_ms / 1_000) !== second) {
      second = Math.floor(now_ms / 1_000)
      date = DateTime.toDateUtc(DateTime.unsafeMake(now_ms)).toUTCString()
    }
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (let at = 0; at < headers.length; at += 2) {
      if (invalid.test(headers[at + 1]!))
        throw new TypeError(`The header ${headers[at]} has an invalid value`)
      head += `${headers[at]}: ${headers[at + 1]}\r\n`
    }
    return `${head}Date: ${date}\r\n${kept}${body}`
  }
}

/** Answers plain GETs on the socket, as far as `answerNow` does; see `Connections`. */
export const makePlain = (
  clock: Clock.Clock,
  server: Pick<Server, "keepAliveTimeout">,
  answerNow: FrontDoor["answerNow"]
): PlainAnswer => {
  const write = writing(clock, server)
  return (get, { remoteAddress }) => {
    const answer = answerNow({
      method: "GET",
      url: get.url,
      headers: get.headers,
      remoteAddress: Option.fromNullable(remoteAddress),
      readBytes: noBody
    })
    return answer && write(answer)
  }
}

/** Has the requests of a server of `node:http` answered at the front door. Answers that are still being sent end with the scope. */
export const make = ({
  serve
}: Pick<FrontDoor, "serve">): Effect.Effect<RequestListener, never, Scope.Scope> =>
  Effect.map(FiberSet.makeRuntime<never>(), (run) => {
    const send = (response: ServerResponse, { body, headers, status }: Answer, isHead: boolean) => {
      if (response.writableEnded || response.destroyed) return
      response.writeHead(status, headers)
      if (typeof body === "string" || body instanceof Uint8Array) return void response.end(body)
      if (isHead) return void response.end()
      const fiber: Fiber.RuntimeFiber<void> = run(pour(body, response))
      response.once("close", () => fiber.unsafeInterruptAsFork(fiber.id()))
    }

    return (message, response) => {
      let isOver = false
      const giveUp = serve(new NodeRequest(message), (answer) => {
        isOver = true
        send(response, answer, message.method === "HEAD")
      })
      if (!isOver) {
        response.once("close", () => {
          if (!isOver) giveUp()
        })
      }
    }
  })
