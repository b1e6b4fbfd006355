import { Headers, HttpClient, HttpClientError, type HttpClientResponse } from "@effect/platform"
import { Effect, Stream } from "effect"
import * as WebhookSender from "../../webhooks/WebhookSender.ts"
import type { Journal } from "../Journal.ts"
import { eventsOf } from "../stores/WebhookStoreMemory.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { VirtualServer } from "../world/VirtualServer.ts"

/** How receivers of webhooks answer, by the ends of their URLs: with the challenge in one of two ways, with all that they are sent, or with nothing. */
export const manners = ["text", "json", "echo", "mute"] as const
/** See {@link manners}. */
export type Manner = (typeof manners)[number]

/** Whether such a receiver proves that it wants the messages of a webhook. */
export const proves = (url: string): boolean => /\/(text|json)$/.test(url)

/** A message as a receiver reads it. */
interface Message {
  readonly type: string
  readonly data: { readonly challenge?: string }
}

/** How likely a receiver that takes no messages says so, rather than not to listen; and how. */
const toldShare = 0.6
const refusals = [301, 400, 404, 410, 429, 500, 503] as const

const answerOf = (url: string, body: string): string => {
  if (url.endsWith("/echo")) return body
  const { challenge } = (JSON.parse(body) as Message).data
  if (challenge === undefined || !proves(url)) return ""
  return url.endsWith("/json") ? JSON.stringify({ challenge }) : challenge
}

/** Ids of the events that a message tells of. */
const toldBy = (id: string, body: string): ReadonlyArray<string> => {
  const { type } = JSON.parse(body) as Message
  if (type === "webhook.verification") return []
  return eventsOf({ id, body, event: type === "events" ? type : "link.created" })
}

/** The product's sender of a process, over a network that leads to the receivers of all webhooks. */
export const senderTo = (
  receiver: VirtualServer,
  process: VirtualProcess,
  journal: Pick<Journal, "add">
): Effect.Effect<typeof WebhookSender.WebhookSender.Service> => {
  const chance = process.world.chance("receivers")
  const client = HttpClient.make((request, { href: url }) => {
    const responseOf = (status: number, text: string): HttpClientResponse.HttpClientResponse => {
      const response: Pick<
        HttpClientResponse.HttpClientResponse,
        "request" | "status" | "headers" | "stream"
      > = {
        request,
        status,
        headers: Headers.empty,
        stream: Stream.make(Buffer.from(text))
      }
      return response as HttpClientResponse.HttpClientResponse
    }
    const { body, headers } = request
    const text = body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : ""
    journal.add({ tag: "sending", by: process.id, url })
    return receiver
      .call(process, "Webhook.send", () => {
        const id = headers["webhook-id"] ?? ""
        journal.add({ tag: "received", by: process.id, url, events: toldBy(id, text), headers, body: text })
        return answerOf(url, text)
      })
      .pipe(
        Effect.map((answer) => responseOf(answer === "" ? 204 : 200, answer)),
        Effect.catchAll(({ applied, reason }) =>
          applied === "no" && chance.happens(toldShare)
            ? Effect.succeed(responseOf(chance.pick(refusals), answerOf(url, text)))
            : Effect.fail(
                new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error(reason) })
              )
        ),
        Effect.ensuring(Effect.sync(() => journal.add({ tag: "sent", by: process.id, url })))
      )
  })
  return WebhookSender.make({ allowPrivate: false }).pipe(
    Effect.map(({ send }) =>
      WebhookSender.WebhookSender.of({ send: (delivery) => Effect.withTracerEnabled(send(delivery), false) })
    ),
    Effect.provideService(HttpClient.HttpClient, client)
  )
}
