import { Either } from "effect"
import { isPrivate } from "../../model/PrivateTarget.ts"
import type { WebhookEvent } from "../../model/Webhook.ts"
import * as Decode from "../exchange/Decode.ts"
import * as PageRequest from "../exchange/PageRequest.ts"
import { collectFaults, faulty, type Problem } from "../exchange/Problem.ts"
import * as TargetUrl from "../links/TargetUrl.ts"
import { type DeadLetterParameters, NewWebhookBody, pageBounds } from "../contract/WebhookApi.ts"

/** What the checks of a webhook depend on. */
export interface WebhookPolicy {
  readonly own: TargetUrl.OwnAddress
  readonly allowPrivate: boolean
}

const decode = Decode.body(NewWebhookBody)

const blocked = (message: string) => faulty("blocked-target", [{ path: "url", message }])

/** Private names and addresses are refused here so that the owner learns of it; names are resolved and checked when a message is sent. */
const checkUrl = (text: string, { allowPrivate, own }: WebhookPolicy): Either.Either<string, Problem> =>
  TargetUrl.parse(text, own).pipe(
    Either.mapLeft((error) =>
      error._tag === "InvalidTarget"
        ? faulty("invalid-url", [{ path: "url", message: error.fault }])
        : blocked(`leads to this service itself (${error.host})`)
    ),
    Either.filterOrLeft(
      (url) => allowPrivate || !isPrivate(new URL(url).hostname),
      (url) => blocked(`leads to a private network (${new URL(url).hostname})`)
    )
  )

/** Checks the body that makes a webhook: gives where to post which events, or the problem to answer. */
export const check = (
  json: unknown,
  policy: WebhookPolicy
): Either.Either<{ readonly url: string; readonly events: ReadonlyArray<WebhookEvent> }, Problem> =>
  Either.gen(function* () {
    const body = yield* decode(json)
    return { url: yield* checkUrl(body.url, policy), events: [...new Set(body.events)] }
  })

/** Checks the parameters of a list of dead letters: gives the page that is asked for, or the problem to answer. */
export const checkPage = (parameters: typeof DeadLetterParameters.Type) =>
  collectFaults((fault) => {
    const { after, limit } = PageRequest.check(parameters, pageBounds, fault)
    return { limit, after: after && { failedAt: after.at, id: after.id } }
  })
