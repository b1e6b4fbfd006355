import type { RequestListener, ServerResponse } from "node:http"
import type { Writable } from "node:stream"
import { Effect, type Fiber, FiberSet, type Scope, Stream } from "effect"
import { type Answer, fixedOf } from "../exchange/Answer.ts"
import { NodeRequest } from "../exchange/Request.ts"
import type { FrontDoor } from "./FrontDoor.ts"

const drained = (response: Writable): Effect.Effect<void> =>
  Effect.async((resume) => {
    const goOn = () => resume(Effect.void)
    response.once("drain", goOn)
    return Effect.sync(() => response.off("drain", goOn))
  })

/**
 * Sends a body as fast as its client takes it. Where it breaks off, the client sees that it is not whole. Not by Effect's `NodeSink` (0.108), which goes on after each chunk of one
 * element, whether or not it was taken.
 */
const pour = (body: Stream.Stream<Uint8Array>, response: Writable): Effect.Effect<void> =>
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

/** From so many characters on a text is sent as bytes: `node:http` (20) sets three bytes aside for each character of a text, which takes the kernel longer than to send it. */
const longText = 16_384

/** Sends bodies that are streams. */
export type Pour = (body: Stream.Stream<Uint8Array>, to: Writable) => void

/** What sends bodies until the scope closes, or their clients have gone. */
export const pouring: Effect.Effect<Pour, never, Scope.Scope> = Effect.map(
  FiberSet.makeRuntime<never>(),
  (run) => (body, to) => {
    const fiber: Fiber.RuntimeFiber<void> = run(pour(body, to))
    to.once("close", () => fiber.unsafeInterruptAsFork(fiber.id()))
  }
)

/** Has the requests of a server of `node:http` answered at the front door. */
export const make = ({ serve }: Pick<FrontDoor, "serve">, pour: Pour): RequestListener => {
  const send = (response: ServerResponse, answer: Answer, isHead: boolean) => {
    if (response.writableEnded || response.destroyed) return
    const { body, headers, status } = answer
    response.writeHead(status, [...fixedOf(answer), ...headers])
    if (typeof body === "string") {
      return void response.end(body.length < longText ? body : Buffer.from(body))
    }
    if (body instanceof Uint8Array) return void response.end(body)
    if (isHead) return void response.end()
    pour(body, response)
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
}
