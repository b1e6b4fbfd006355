import { Clock, Effect, Either } from "effect"
import { AdminKey } from "../../accounts/AdminKey.ts"
import type { KnownCaller } from "../../accounts/Access.ts"
import * as AuditRecorder from "../../accounts/AuditRecorder.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import * as Secret from "../../secrets/Secret.ts"
import { WebhookListeners } from "../../storage/webhooks/WebhookListeners.ts"
import { type WebhookStatus, WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import { isPrivate } from "../../model/PrivateTarget.ts"
import { adminKeyIdOf, type Webhook, type WebhookEvent, webhooksMax } from "../../model/Webhook.ts"
import { drawChallenge } from "../../webhooks/WebhookMessages.ts"
import { drawSecret } from "../../webhooks/WebhookSignature.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Decode from "../exchange/Decode.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import * as PageRequest from "../exchange/PageRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as TargetUrl from "../links/TargetUrl.ts"
import {
  type DeadLetterParameters,
  NewWebhookBody,
  pageBounds,
  type WebhookBody
} from "../contract/WebhookApi.ts"
import type { Message } from "../../model/Messages.ts"

/** What the checks of a webhook depend on. */
export interface WebhookPolicy {
  readonly own: TargetUrl.OwnAddress
  readonly allowPrivate: boolean
}

const decodeNewWebhook = Decode.body(NewWebhookBody)

const blocked = (message: Message) => Problem.faulty("blocked-target", [{ path: "url", message }])

/** Private names and addresses are refused here so that the owner learns of it; names are resolved and checked when a message is sent. */
const checkUrl = (
  text: string,
  { allowPrivate, own }: WebhookPolicy
): Either.Either<string, Problem.Problem> =>
  TargetUrl.parse(text, own).pipe(
    Either.mapLeft((error) =>
      error._tag === "InvalidTarget"
        ? Problem.faulty("invalid-url", [{ path: "url", message: error.fault }])
        : blocked(`leads to this service itself (${error.host})`)
    ),
    Either.filterOrLeft(
      (url) => allowPrivate || !isPrivate(new URL(url).hostname),
      (url) => blocked(`leads to a private network (${new URL(url).hostname})`)
    )
  )

/** Checks the body that makes a webhook: gives where to post which events, or the problem to answer. */
const check = (
  json: unknown,
  policy: WebhookPolicy
): Either.Either<{ readonly url: string; readonly events: ReadonlyArray<WebhookEvent> }, Problem.Problem> =>
  Either.gen(function* () {
    const body = yield* decodeNewWebhook(json)
    return { url: yield* checkUrl(body.url, policy), events: [...new Set(body.events)] }
  })

/** Checks the parameters of a list of dead letters: gives the page that is asked for, or the problem to answer. */
const checkPage = (parameters: typeof DeadLetterParameters.Type) =>
  Problem.collectFaults((fault) => {
    const { after, limit } = PageRequest.check(parameters, pageBounds, fault)
    return { limit, after: after && { failedAt: after.at, id: after.id } }
  })

const noWebhook = Problem.refuse("not-found", "There is no webhook with this id.")

const bodyOf = (webhook: WebhookStatus): typeof WebhookBody.Type => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  createdAt: Iso8601.formatMoment(webhook.createdAt),
  status: webhook.status,
  pending: webhook.pending,
  deadLetters: webhook.deadLetters,
  dropped: webhook.dropped,
  failures: webhook.failures,
  lastFailure: webhook.lastFailure
})

const none = {
  status: "unverified",
  pending: 0,
  deadLetters: 0,
  dropped: 0,
  failures: 0,
  lastFailure: null
} as const

/** Adds, lists, verifies and removes webhooks, and lists and retries dead letters. */
export const make = (policy: WebhookPolicy) =>
  Effect.gen(function* () {
    const store = yield* WebhookStore
    const listeners = yield* WebhookListeners
    const recording = yield* AuditRecorder.make
    const { doerOf } = yield* RequestDoer.make
    const identify = yield* Caller.make
    const { digest } = yield* AdminKey

    /** The API key that a webhook ends with: the one in the request. */
    const keyOf = (request: Request, { keyId }: KnownCaller) =>
      keyId === null && Caller.presented(request.headers) !== undefined ? adminKeyIdOf(digest) : keyId

    const mayAdd = (request: Request) =>
      Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "links:write"))

    /** A webhook, if it is the caller's to manage. Others answer 404. */
    const manageable = Effect.fnUntraced(function* (
      request: Request,
      id: string,
      scope: "links:read" | "links:write"
    ) {
      const caller = yield* Caller.requireScope(yield* identify(request), scope)
      const webhook = isIdShaped(id) ? yield* Problem.orUnavailable(store.find(id)) : null
      return webhook !== null && Caller.mayManage(caller, webhook.owner)
        ? { caller, webhook }
        : yield* noWebhook
    })

    return {
      addWebhook: Effect.fn("webhooks.add")(function* (request) {
        const own = { ...policy.own, reachedAt: TargetUrl.reachedBy(request.headers["host"]) }
        const [caller, given] = yield* Caller.withBody(mayAdd(request), Body.read(request))
        const { events, url } = yield* check(given, { ...policy, own })
        // A webhook needs the scopes of what its messages show.
        yield* Caller.requireScope(caller, "links:read")
        if (events.includes("link.visited")) yield* Caller.requireScope(caller, "stats:read")
        const webhook: Webhook = {
          id: `whk_${(yield* Secret.draw(12)).toString("hex")}`,
          owner: caller.userId,
          keyId: keyOf(request, caller),
          url,
          events,
          secret: yield* drawSecret,
          createdAt: yield* Clock.currentTimeMillis
        }
        const challenge = yield* drawChallenge(webhook.createdAt)
        const added = yield* Problem.orUnavailable(
          recording(doerOf(request, caller), store.add(webhook, challenge, webhooksMax), (added) =>
            added ? [["webhook.added", webhook.id, webhook.owner]] : []
          )
        )
        if (!added) {
          return yield* Problem.refuse(
            "too-many-webhooks",
            `There may be ${webhooksMax} webhooks at most. Remove one first.`
          )
        }
        return json({ ...bodyOf({ ...webhook, ...none }), secret: webhook.secret }, 201)
      }),

      listWebhooks: Effect.fn("webhooks.list")(function* (request) {
        const { userId } = yield* Caller.requireScope(yield* identify(request), "links:read")
        const webhooks = yield* Problem.orUnavailable(store.list(userId))
        return json({ data: webhooks.map(bodyOf) })
      }),

      removeWebhook: Effect.fn("webhooks.remove")(function* (request, { id }) {
        const { caller, webhook } = yield* manageable(request, id, "links:write")
        const removed = yield* Problem.orUnavailable(
          recording(doerOf(request, caller), store.remove(id), (removed) =>
            removed ? [["webhook.removed", id, webhook.owner]] : []
          )
        )
        // This node stops at once, and the others within seconds. Errors are ignored: the node reads again soon.
        if (webhook.status !== "unverified") yield* Effect.ignore(listeners.refresh)
        return removed ? empty() : yield* noWebhook
      }),

      verifyWebhook: Effect.fn("webhooks.verify")(function* (request, { id }) {
        yield* manageable(request, id, "links:write")
        const challenge = yield* drawChallenge(yield* Clock.currentTimeMillis)
        const state = yield* Problem.orUnavailable(store.challenge(id, challenge))
        if (state === "ended") {
          const detail = "The API key or the user that made it has ended. Make a new webhook."
          return yield* Problem.refuse("webhook-ended", detail)
        }
        const { webhook } = yield* manageable(request, id, "links:write")
        return json(bodyOf(webhook), state === "unverified" ? 202 : 200)
      }),

      listDeadLetters: Effect.fn("webhooks.deadLetters")(function* (request, { id, ...parameters }) {
        yield* manageable(request, id, "links:read")
        const { after, limit } = yield* checkPage(parameters)
        const found = yield* Problem.orUnavailable(store.deadLetters(id, limit + 1, after))
        const { nextCursor, page } = PageRequest.pageOf(found, limit, ({ failedAt, id }) => ({
          at: failedAt,
          id
        }))
        return json({
          data: page.map(({ failedAt, queuedAt, ...letter }) => ({
            ...letter,
            queuedAt: Iso8601.formatMoment(queuedAt),
            failedAt: Iso8601.formatMoment(failedAt)
          })),
          nextCursor
        })
      }),

      retryDeadLetter: Effect.fn("webhooks.retry")(function* (request, { id, messageId }) {
        yield* manageable(request, id, "links:write")
        const revived = isIdShaped(messageId)
          ? yield* Problem.orUnavailable(store.revive(id, messageId))
          : "none"
        if (revived === "none")
          return yield* Problem.refuse("not-found", "There is no dead letter with this id.")
        if (revived === "full") {
          const detail = "Too many events wait already. Try again when some have been delivered."
          return yield* Problem.refuse("webhook-full", detail)
        }
        return empty(202)
      })
    } satisfies OperationsOf<"webhooks">
  })
