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
  const client = HttpClient.make((request, { href: url }) => {
    const { body, headers } = request
    const text = body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : ""
    return receiver
      .call(process, "Webhook.send", () => {
        const id = headers["webhook-id"] ?? ""
        journal.add({ tag: "received", by: process.id, url, events: toldBy(id, text), headers, body: text })
        return answerOf(url, text)
      })
      .pipe(
        Effect.map((answer) => {
          const response: Pick<
            HttpClientResponse.HttpClientResponse,
            "request" | "status" | "headers" | "stream"
          > = {
            request,
            status: answer === "" ? 204 : 200,
            headers: Headers.empty,
            stream: Stream.make(Buffer.from(answer))
          }
          return response as HttpClientResponse.HttpClientResponse
        }),
        Effect.mapError(
          ({ reason }) =>
            new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error(reason) })
        )
      )
  })
  return WebhookSender.make({ allowPrivate: false }).pipe(
    Effect.map(({ send }) =>
      WebhookSender.WebhookSender.of({ send: (delivery) => Effect.withTracerEnabled(send(delivery), false) })
    ),
    Effect.provideService(HttpClient.HttpClient, client)
  )
}
