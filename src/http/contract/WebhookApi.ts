import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Problem from "../exchange/Problem.ts"
import { joinedType, webhookEvents, webhookStates } from "../../model/Webhook.ts"
import { listOf, pageOf, Url } from "./LinkSchemas.ts"
import { parametersOf } from "../exchange/PageRequest.ts"

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

/** A webhook as its owner sees it. */
export const WebhookBody = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  events: Schema.Array(Schema.Literal(...webhookEvents)),
  createdAt: Schema.String,
  /** `unverified` until its receiver has answered a challenge, and `ended` with the API key that made it. */
  status: Schema.Literal(...webhookStates),
  /** Events that wait or are on their way. */
  pending: Schema.Number,
  deadLetters: Schema.Number,
  /** Events that were dropped because too many waited, or because it ended. */
  dropped: Schema.Number,
  /** Attempts that failed since the last one that did not, and why the last one did. */
  failures: Schema.Number,
  lastFailure: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Webhook" })

/** A webhook that was made: the one time that its secret is shown. */
export const MadeWebhookBody = Schema.Struct({ ...WebhookBody.fields, secret: Schema.String }).annotations({
  identifier: "MadeWebhook"
})

/** An owner's webhooks. */
export const WebhooksBody = listOf(WebhookBody, "Webhooks")

/** Messages that were given up. */
export const DeadLettersBody = pageOf(
  Schema.Struct({
    id: Schema.String,
    event: Schema.Literal(...webhookEvents, joinedType),
    /** How many events it has. */
    events: Schema.Number,
    queuedAt: Schema.String,
    failedAt: Schema.String,
    attempts: Schema.Number,
    reason: Schema.String
  }),
  "DeadLetters"
)

/** Dead letters on a page. */
export const pageBounds = { max: 100, byDefault: 50 } as const

/** The query parameters of a list of dead letters, for the contract. */
export const DeadLetterParameters = Schema.Struct(parametersOf(pageBounds))

const WebhookPath = Schema.Struct({ id: Schema.String })

/** Webhooks, in the contract. */
export const webhooks = HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("addWebhook", "/api/v1/webhooks")
      .setPayload(NewWebhookBody)
      .addSuccess(MadeWebhookBody, { status: 201 })
      .addError(Problem.schema("invalid-url", "unauthorized", "forbidden", "too-many-webhooks"))
      .addError(Problem.schema("payload-too-large", "unsupported-media-type", "blocked-target"))
      .annotate(OpenApi.Summary, "Create a webhook")
      .annotate(
        OpenApi.Description,
        "Makes a webhook, which is told of the caller's own links once its receiver has answered a challenge. Its secret is shown this once."
      )
  )
  .add(
    HttpApiEndpoint.get("listWebhooks", "/api/v1/webhooks")
      .addSuccess(WebhooksBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Summary, "List own webhooks")
      .annotate(OpenApi.Description, "The caller's own webhooks.")
  )
  .add(
    HttpApiEndpoint.del("removeWebhook", "/api/v1/webhooks/:id")
      .setPath(WebhookPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "Remove a webhook")
      .annotate(OpenApi.Description, "Removes a webhook, and all messages that wait for it.")
  )
  .add(
    HttpApiEndpoint.post("verifyWebhook", "/api/v1/webhooks/:id/verify")
      .setPath(WebhookPath)
      .addSuccess(WebhookBody)
      .addSuccess(WebhookBody, { status: 202 })
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "webhook-ended"))
      .annotate(OpenApi.Summary, "Challenge a webhook again")
      .annotate(
        OpenApi.Description,
        "Sends a new challenge to the receiver of a webhook that is not verified, in place of the one before. A webhook that is verified is shown as it is."
      )
  )
  .add(
    HttpApiEndpoint.get("listDeadLetters", "/api/v1/webhooks/:id/dead-letters")
      .setPath(WebhookPath)
      .setUrlParams(DeadLetterParameters)
      .addSuccess(DeadLettersBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "List dead letters")
      .annotate(OpenApi.Description, "Messages that could not be delivered, the newest first.")
  )
  .add(
    HttpApiEndpoint.post("retryDeadLetter", "/api/v1/webhooks/:id/dead-letters/:messageId/retry")
      .setPath(Schema.Struct({ id: Schema.String, messageId: Schema.String }))
      .addSuccess(HttpApiSchema.Empty(202))
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "webhook-full"))
      .annotate(OpenApi.Summary, "Send a dead letter again")
      .annotate(OpenApi.Description, "Queues a message again as if it were new, under its own id.")
  )
