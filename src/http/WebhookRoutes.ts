import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect } from "effect"
import * as Iso8601 from "../Iso8601.ts"
import * as Secret from "../Secret.ts"
import { WebhookListeners } from "../storage/WebhookListeners.ts"
import { type WebhookStatus, WebhookStore } from "../storage/WebhookStore.ts"
import { type Webhook, webhooksMax } from "../Webhook.ts"
import { drawSecret } from "../webhooks/WebhookSignature.ts"
import { Api } from "./Api.ts"
import * as Body from "./Body.ts"
import * as Caller from "./Caller.ts"
import { isIdShaped } from "./LinkSchemas.ts"
import * as Problem from "./Problem.ts"
import { fromEffect } from "./Request.ts"
import { reachedBy } from "./TargetUrl.ts"
import * as WebhookRequest from "./WebhookRequest.ts"
import type { DeadLetterParameters, WebhookBody } from "./WebhookSchemas.ts"

type Request = HttpServerRequest.HttpServerRequest

const notFound = (detail: string) => Effect.fail<Problem.Problem>({ kind: "not-found", detail })

const json = (body: object, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.unsafeJson(body, { status, headers: { ...headers, "cache-control": "no-store" } })

const bodyOf = (webhook: WebhookStatus): typeof WebhookBody.Type => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  createdAt: Iso8601.formatMoment(webhook.createdAt),
  pending: webhook.pending,
  deadLetters: webhook.deadLetters,
  dropped: webhook.dropped,
  failures: webhook.failures
})

const none = { pending: 0, deadLetters: 0, dropped: 0, failures: 0 }

/** Makes, lists and removes webhooks, and shows and queues again what they did not take. */
export const layer = (policy: WebhookRequest.WebhookPolicy) =>
  HttpApiBuilder.group(Api, "webhooks", (handlers) =>
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const listeners = yield* WebhookListeners

      /** This node heeds a change at once, and the others soon; also when it cannot ask just now. */
      const heed = Effect.ignore(listeners.refresh)

      const add = Effect.fn("webhooks.add")(function* (request: Request) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), "links:write")
        const own = { ...policy.own, reachedAt: reachedBy(request.headers["host"]) }
        const { events, url } = yield* WebhookRequest.check(yield* Body.read(fromEffect(request)), {
          ...policy,
          own
        })
        // A webhook shows what these scopes show.
        yield* Caller.requireScope(caller, "links:read")
        if (events.includes("link.visited")) yield* Caller.requireScope(caller, "stats:read")
        const webhook: Webhook = {
          id: `whk_${(yield* Secret.draw(12)).toString("hex")}`,
          owner: caller.userId,
          url,
          events,
          secret: yield* drawSecret,
          createdAt: yield* Clock.currentTimeMillis
        }
        if (!(yield* Problem.orUnavailable(store.add(webhook, webhooksMax)))) {
          const detail = `There may be ${webhooksMax} webhooks at most. Remove one first.`
          return yield* Effect.fail<Problem.Problem>({ kind: "too-many-webhooks", detail })
        }
        yield* heed
        return json({ ...bodyOf({ ...webhook, ...none }), secret: webhook.secret }, 201)
      })

      const list = Effect.fn("webhooks.list")(function* (request: Request) {
        const { userId } = yield* Caller.requireScope(yield* Caller.identify(request), "links:read")
        const webhooks = yield* Problem.orUnavailable(store.list(userId))
        return json({ data: webhooks.map(bodyOf) })
      })

      /** A webhook, if it is the caller's to manage. Another one is not there for him. */
      const manageable = Effect.fnUntraced(function* (
        request: Request,
        id: string,
        scope: "links:read" | "links:write"
      ) {
        const caller = yield* Caller.requireScope(yield* Caller.identify(request), scope)
        const webhook = isIdShaped(id) ? yield* Problem.orUnavailable(store.find(id)) : null
        return webhook !== null && Caller.mayManage(caller, webhook.owner)
          ? webhook
          : yield* notFound("There is no webhook with this id.")
      })

      const remove = Effect.fn("webhooks.remove")(function* (request: Request, id: string) {
        yield* manageable(request, id, "links:write")
        const removed = yield* Problem.orUnavailable(store.remove(id))
        yield* heed
        return removed ? HttpServerResponse.empty() : yield* notFound("There is no webhook with this id.")
      })

      const deadLetters = Effect.fn("webhooks.deadLetters")(function* (
        request: Request,
        id: string,
        parameters: typeof DeadLetterParameters.Type
      ) {
        yield* manageable(request, id, "links:read")
        const { after, limit } = yield* WebhookRequest.checkPage(parameters)
        // One more tells whether there is a next page.
        const found = yield* Problem.orUnavailable(store.deadLetters(id, limit + 1, after))
        const page = found.slice(0, limit)
        return json({
          data: page.map(({ failedAt, queuedAt, ...letter }) => ({
            ...letter,
            queuedAt: Iso8601.formatMoment(queuedAt),
            failedAt: Iso8601.formatMoment(failedAt)
          })),
          nextCursor: found.length > limit ? WebhookRequest.cursorOf(page.at(-1)!) : null
        })
      })

      const retry = Effect.fn("webhooks.retry")(function* (request: Request, id: string, messageId: string) {
        yield* manageable(request, id, "links:write")
        const revived = isIdShaped(messageId) && (yield* Problem.orUnavailable(store.revive(id, messageId)))
        return revived
          ? HttpServerResponse.empty({ status: 202 })
          : yield* notFound("There is no dead letter with this id.")
      })

      return handlers
        .handleRaw("addWebhook", ({ request }) => Problem.orRespond(add(request)))
        .handleRaw("listWebhooks", ({ request }) => Problem.orRespond(list(request)))
        .handleRaw("removeWebhook", ({ path, request }) => Problem.orRespond(remove(request, path.id)))
        .handleRaw("listDeadLetters", ({ path, request, urlParams }) =>
          Problem.orRespond(deadLetters(request, path.id, urlParams))
        )
        .handleRaw("retryDeadLetter", ({ path, request }) =>
          Problem.orRespond(retry(request, path.id, path.messageId))
        )
    })
  )
