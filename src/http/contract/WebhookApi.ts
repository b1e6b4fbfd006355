import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Problem from "../exchange/Problem.ts"
import {
  DeadLetterParameters,
  DeadLettersBody,
  MadeWebhookBody,
  NewWebhookBody,
  WebhookBody,
  WebhooksBody
} from "./WebhookSchemas.ts"

const WebhookPath = Schema.Struct({ id: Schema.String })

/** Webhooks, in the contract. */
export const webhooks = HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("addWebhook", "/api/v1/webhooks")
      .setPayload(NewWebhookBody)
      .addSuccess(MadeWebhookBody, { status: 201 })
      .addError(Problem.schema("invalid-url", "unauthorized", "forbidden", "too-many-webhooks"))
      .addError(Problem.schema("payload-too-large", "unsupported-media-type", "blocked-target"))
      .annotate(
        OpenApi.Description,
        "Makes a webhook, which is told of the caller's own links once its receiver has answered a challenge. Its secret is shown this once."
      )
  )
  .add(
    HttpApiEndpoint.get("listWebhooks", "/api/v1/webhooks")
      .addSuccess(WebhooksBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Description, "The caller's own webhooks.")
  )
  .add(
    HttpApiEndpoint.del("removeWebhook", "/api/v1/webhooks/:id")
      .setPath(WebhookPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Description, "Removes a webhook, and all messages that wait for it.")
  )
  .add(
    HttpApiEndpoint.post("verifyWebhook", "/api/v1/webhooks/:id/verify")
      .setPath(WebhookPath)
      .addSuccess(WebhookBody)
      .addSuccess(WebhookBody, { status: 202 })
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "webhook-ended"))
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
      .annotate(OpenApi.Description, "Messages that could not be delivered, the newest first.")
  )
  .add(
    HttpApiEndpoint.post("retryDeadLetter", "/api/v1/webhooks/:id/dead-letters/:messageId/retry")
      .setPath(Schema.Struct({ id: Schema.String, messageId: Schema.String }))
      .addSuccess(HttpApiSchema.Empty(202))
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "webhook-full"))
      .annotate(OpenApi.Description, "Queues a message again as if it were new, under its own id.")
  )
