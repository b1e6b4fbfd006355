import { Schema } from "effect"
import { webhookEvents } from "../Webhook.ts"
import { Url } from "./LinkSchemas.ts"
import { queryParameter } from "./QueryParameter.ts"

const Event = Schema.Literal(...webhookEvents).annotations({
  message: () => ({ message: `must be one of ${webhookEvents.join(", ")}`, override: true })
})

/** The body that makes a webhook. Its URL is checked by the route. */
export const NewWebhookBody = Schema.Struct({
  url: Url,
  events: Schema.Array(Event)
    .annotations({ message: () => "must be a list of events" })
    .pipe(
      Schema.minItems(1, { message: () => "must name one event at least" }),
      Schema.maxItems(webhookEvents.length, { message: () => "must name each event once" })
    )
}).annotations({ identifier: "NewWebhook" })

const shown = {
  id: Schema.String,
  url: Schema.String,
  events: Schema.Array(Schema.Literal(...webhookEvents)),
  createdAt: Schema.String,
  /** Messages that wait or are on their way. */
  pending: Schema.Number,
  deadLetters: Schema.Number,
  /** Messages that were dropped because too many waited. */
  dropped: Schema.Number,
  /** Attempts that failed since the last one that did not. */
  failures: Schema.Number
}

/** A webhook as its owner sees it. */
export const WebhookBody = Schema.Struct(shown).annotations({ identifier: "Webhook" })

/** A webhook that was made: the one time that its secret is shown. */
export const MadeWebhookBody = Schema.Struct({ ...shown, secret: Schema.String }).annotations({
  identifier: "MadeWebhook"
})

/** An owner's webhooks. */
export const WebhooksBody = Schema.Struct({ data: Schema.Array(WebhookBody) }).annotations({
  identifier: "Webhooks"
})

/** Messages that were given up. */
export const DeadLettersBody = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      event: Schema.Literal(...webhookEvents),
      queuedAt: Schema.String,
      failedAt: Schema.String,
      attempts: Schema.Number,
      reason: Schema.String
    })
  ),
  nextCursor: Schema.NullOr(Schema.String)
}).annotations({ identifier: "DeadLetters" })

/** Dead letters on a page: at most, and unless asked for otherwise. */
export const pageMax = 100
export const pageDefault = 50

/** The query parameters of a list of dead letters, for the contract. */
export const DeadLetterParameters = Schema.Struct({
  limit: queryParameter({ type: "integer", minimum: 1, maximum: pageMax, default: pageDefault }),
  cursor: queryParameter({ type: "string", description: "The nextCursor of the page before" })
})
