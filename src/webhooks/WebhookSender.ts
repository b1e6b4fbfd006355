import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { Clock, Context, Data, Duration, Effect, Layer, Stream } from "effect"
import { isPrivate } from "../model/PrivateTarget.ts"
import type { Delivery } from "../storage/webhooks/WebhookStore.ts"
import { lookupPublic, privateOnly } from "./PublicLookup.ts"
import { headersOf } from "./WebhookSignature.ts"
import type { Message } from "../model/Messages.ts"

/** How long an attempt may take until the receiver's status arrives. */
const answerMax = Duration.seconds(10)

/** How much of an answer's body is read, and for how long: enough for a challenge, and to end connections cleanly. */
const bodyBytesMax = 4_096
const bodyMax = Duration.seconds(1)

/** The receiver did not accept the message; `reason` says why, for its owner. */
export class NotTaken extends Data.TaggedError("NotTaken")<{ readonly reason: Message }> {}

/** What a receiver answered: its status, and up to 4 KiB of the body, as far as it came within a second. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** Posts messages to webhooks. */
export class WebhookSender extends Context.Tag("linkmint/WebhookSender")<
  WebhookSender,
  {
    /**
     * Makes one attempt, which takes at most some 11 seconds. It succeeds when the receiver answers with a status from 200 to 299, and gives the beginning of the answer's body. Redirects are
     * not followed.
     */
    readonly send: (delivery: Delivery) => Effect.Effect<Answer, NotTaken>
  }
>() {}

const leadsToPrivate = new NotTaken({ reason: "It leads to a private network." })

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  if (error.cause !== undefined) return causeOf(error.cause)
  return "code" in error ? String(error.code) : error.message
}

/** Reads the beginning of a body; errors are ignored. */
const readSome = (response: HttpClientResponse.HttpClientResponse) => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  return response.stream.pipe(
    Stream.runForEachWhile((chunk) =>
      Effect.sync(() => {
        chunks.push(chunk.subarray(0, bodyBytesMax - bytes))
        return (bytes += chunk.length) < bodyBytesMax
      })
    ),
    Effect.timeoutOption(bodyMax),
    Effect.ignore,
    Effect.map(() => Buffer.concat(chunks).toString())
  )
}

/** How messages are sent. */
export interface WebhookSenderOptions {
  /** Whether they may go to private networks. */
  readonly allowPrivate: boolean
}

/** See {@link WebhookSender}: over an HTTP client. */
export const make = ({ allowPrivate }: WebhookSenderOptions) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const scoped = HttpClient.withScope(client)

    const post = ({ body, id, secret, url }: Delivery) =>
      Effect.gen(function* () {
        const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        const response = yield* HttpClientRequest.post(url).pipe(
          HttpClientRequest.setHeaders(headersOf({ id, timestamp, body }, secret)),
          HttpClientRequest.setHeader("user-agent", "Linkmint"),
          HttpClientRequest.bodyText(body, "application/json"),
          scoped.execute,
          Effect.timeoutFail({
            duration: answerMax,
            onTimeout: () => new NotTaken({ reason: "It did not answer within 10 seconds." })
          }),
          Effect.catchTags({
            RequestError: (error) => {
              const cause = causeOf(error)
              return cause === privateOnly
                ? leadsToPrivate
                : new NotTaken({ reason: `The request could not be sent: ${cause}.` })
            },
            ResponseError: (error) =>
              new NotTaken({ reason: `The answer could not be read: ${causeOf(error)}.` })
          })
        )
        const beginning = yield* readSome(response)
        const { status } = response
        if (status < 200 || status > 299) return yield* new NotTaken({ reason: `It answered ${status}.` })
        return { status, body: beginning }
      }).pipe(Effect.scoped)

    return WebhookSender.of({
      send: (delivery) =>
        !allowPrivate && isPrivate(new URL(delivery.url).hostname) ? leadsToPrivate : post(delivery)
    })
  })

/**
 * See {@link WebhookSender}. No connection is made to a private address unless that is allowed: addresses in URLs are checked before, names when they are
 * resolved for the connection.
 */
export const layer = (options: WebhookSenderOptions): Layer.Layer<WebhookSender> => {
  const dispatcher = Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({
          connect: {
            timeout: Duration.toMillis(answerMax),
            ...(!options.allowPrivate && { lookup: lookupPublic })
          },
          // There are many receivers, and each gets few messages: connections are not kept.
          keepAliveTimeout: 1_000,
          keepAliveMaxTimeout: 1_000
        })
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
  const clients = NodeHttpClient.layerUndiciWithoutDispatcher.pipe(
    Layer.provide(Layer.scoped(NodeHttpClient.Dispatcher, dispatcher))
  )
  return Layer.scoped(
    WebhookSender,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      // With the first message, since most nodes send none: to load undici takes a tenth of a start.
      const made = yield* Layer.buildWithScope(clients, scope).pipe(
        Effect.flatMap((context) => Effect.provide(make(options), context)),
        Effect.uninterruptible,
        Effect.cached
      )
      return WebhookSender.of({
        send: (delivery) => Effect.flatMap(made, ({ send }) => send(delivery))
      })
    })
  )
}
