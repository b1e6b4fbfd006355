import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Redacted } from "effect"
import { Accounts } from "../../accounts/Accounts.ts"
import * as Devices from "../../accounts/Devices.ts"
import { Quotas } from "../../accounts/Quotas.ts"
import { Sessions, type SessionView } from "../../accounts/Sessions.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { NewPasswordBody, type SessionBody } from "../contract/AccountSchemas.ts"
import { Api } from "../contract/Api.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import * as Decode from "../exchange/Decode.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import { orRefused } from "./PasswordRefusal.ts"
import * as Problem from "../exchange/Problem.ts"
import { fromEffect } from "../exchange/Request.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import { SessionCookie } from "../exchange/SessionCookie.ts"

const decodeNewPassword = Decode.body(NewPasswordBody)

const noStore = { "cache-control": "no-store" }

const wrongPassword = Problem.faulty("invalid-request", [
  { path: "currentPassword", message: "is not the password" }
])

const needsSession: Problem.Problem = {
  kind: "forbidden",
  detail: "A password is changed in a session, by who has signed in with it."
}

const noSession: Problem.Problem = { kind: "not-found", detail: "There is no session with this id." }

const bodyOf = ({ id, ...session }: SessionView, current: string | undefined): typeof SessionBody.Type => ({
  id,
  current: id === current,
  browser: session.browser,
  os: session.os,
  createdAt: Iso8601.formatMoment(session.createdAt),
  lastUsedAt: Iso8601.formatMoment(session.lastUsedAt),
  expiresAt: Iso8601.formatMoment(session.expiresAt)
})

/** Lists and ends a user's sessions, and changes the password. */
export const layer = HttpApiBuilder.group(Api, "sessions", (handlers) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const sessions = yield* Sessions
    const quotas = yield* Quotas
    const devices = yield* Devices.make
    const cookies = yield* SessionCookie
    const { clientOf } = yield* ClientAddress
    const { doerOf, sessionClientOf } = yield* RequestDoer.make

    const keeperOf = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.flatMap(Caller.identify(request), (caller) => Caller.requireKeeper(caller, "Sessions"))

    const list = Effect.fn("sessions.list")(function* (request: HttpServerRequest.HttpServerRequest) {
      const { session, userId } = yield* keeperOf(request)
      const all = yield* Problem.orUnavailable(sessions.list(userId))
      const data = all.map((one) => bodyOf(one, session?.id))
      return HttpServerResponse.unsafeJson({ data }, { headers: noStore })
    })

    const endOthers = Effect.fn("sessions.endOthers")(function* (
      request: HttpServerRequest.HttpServerRequest
    ) {
      const caller = yield* keeperOf(request)
      const { session, userId } = caller
      const doer = doerOf(request, caller)
      yield* Problem.orUnavailable(sessions.endOthers(userId, session?.id ?? null, doer))
      return HttpServerResponse.empty({ headers: noStore })
    })

    const end = Effect.fn("sessions.end")(function* (
      request: HttpServerRequest.HttpServerRequest,
      id: string
    ) {
      const caller = yield* keeperOf(request)
      const ending = Effect.suspend(() => sessions.endOne(caller.userId, id, doerOf(request, caller)))
      const hasEnded = isIdShaped(id) && (yield* Problem.orUnavailable(ending))
      return hasEnded ? HttpServerResponse.empty({ headers: noStore }) : yield* Effect.fail(noSession)
    })

    const changePassword = Effect.fn("sessions.changePassword")(function* (
      request: HttpServerRequest.HttpServerRequest
    ) {
      const { session, userId } = yield* Caller.requireKnown(yield* Caller.identifyNewcomer(request))
      if (session === undefined) return yield* Effect.fail(needsSession)
      // Before the body, which costs something to read and to check.
      yield* RateLimit.check(quotas.attempt(clientOf(request)))
      const body = yield* decodeNewPassword(yield* Body.read(fromEffect(request)))
      const user = yield* Problem.orUnavailable(accounts.user(userId))
      if (user === null) return yield* Effect.fail(needsSession)
      yield* RateLimit.check(quotas.confirm(user.id))
      const change = {
        current: Redacted.make(body.currentPassword),
        password: Redacted.make(body.password),
        revokesKeys: body.revokeKeys ?? false
      }
      const changed = yield* orRefused(accounts.changePassword(userId, change, sessionClientOf(request)))
      return changed === null
        ? yield* Effect.fail(wrongPassword)
        : cookies.begin(
            HttpServerResponse.empty({ headers: noStore }),
            changed.token,
            yield* devices.begin(changed.user)
          )
    })

    return handlers
      .handleRaw("listSessions", ({ request }) => Problem.orRespond(list(request)))
      .handleRaw("endOtherSessions", ({ request }) => Problem.orRespond(endOthers(request)))
      .handleRaw("endSession", ({ path, request }) => Problem.orRespond(end(request, path.id)))
      .handleRaw("changePassword", ({ request }) => Problem.orRespond(changePassword(request)))
  })
)
