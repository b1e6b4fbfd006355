import { request } from "./Client.ts"
import type { DeadLetters, MadeWebhook, Webhook } from "./Types.ts"

const base = "/api/v1/webhooks"
const of = (id: string) => `${base}/${encodeURIComponent(id)}`
const deadLettersOf = (id: string) => `${of(id)}/dead-letters`

const lettersPerPage = "25"

/** One's webhooks. */
export const list = async (signal: AbortSignal) =>
  (await request<{ readonly data: ReadonlyArray<Webhook> }>("GET", base, { signal })).data

/** Makes a webhook, and shows its secret once. */
export const add = (body: Pick<Webhook, "url" | "events">) => request<MadeWebhook>("POST", base, { body })

/** Has its receiver sent a new challenge. */
export const verify = (id: string) => request<Webhook>("POST", `${of(id)}/verify`)

/** Removes a webhook, and what waits for it. */
export const remove = (id: string) => request("DELETE", of(id))

/** A page of the messages that were given up, the newest first. */
export const deadLetters = (id: string, cursor: string | null, signal: AbortSignal) =>
  request<DeadLetters>(
    "GET",
    `${deadLettersOf(id)}?${new URLSearchParams({ limit: lettersPerPage, ...(cursor !== null && { cursor }) })}`,
    { signal }
  )

/** Queues a message again. */
export const retry = (id: string, messageId: string) =>
  request("POST", `${deadLettersOf(id)}/${encodeURIComponent(messageId)}/retry`)
