import { Effect, Redacted } from "effect"
import { Accounts } from "../../accounts/Accounts.ts"
import * as Devices from "../../accounts/Devices.ts"
import { Quotas } from "../../accounts/Quotas.ts"
import { Sessions, type SessionView } from "../../accounts/Sessions.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import { NewPasswordBody, type SessionBody } from "../contract/AccountSchemas.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import * as Decode from "../exchange/Decode.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import { orRefused } from "./AccountRoutes.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import { SessionCookie } from "../exchange/SessionCookie.ts"

const decodeNewPassword = Decode.body(NewPasswordBody)

const wrongPassword = Problem.oneFault("invalid-request", "currentPassword", "is not the password")

const needsSession = Problem.refuse(
  "forbidden",
  "A password is changed in a session, by who has signed in with it."
)

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
export const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const sessions = yield* Sessions
  const quotas = yield* Quotas
  const devices = yield* Devices.make
  const cookies = yield* SessionCookie
  const { clientOf } = yield* ClientAddress
  const { doerOf, sessionClientOf } = yield* RequestDoer.make
  const identify = yield* Caller.make
  const identifyNewcomer = yield* Caller.makeNewcomer

  const keeperOf = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireKeeper(caller, "Sessions"))

  return {
    listSessions: Effect.fn("sessions.list")(function* (request) {
      const { session, userId } = yield* keeperOf(request)
      const all = yield* Problem.orUnavailable(sessions.list(userId))
      return json({ data: all.map((one) => bodyOf(one, session?.id)) })
    }),

    endOtherSessions: Effect.fn("sessions.endOthers")(function* (request) {
      const caller = yield* keeperOf(request)
      const { session, userId } = caller
      const doer = doerOf(request, caller)
      yield* Problem.orUnavailable(sessions.endOthers(userId, session?.id ?? null, doer))
      return empty()
    }),

    endSession: Effect.fn("sessions.end")(function* (request, { id }) {
      const caller = yield* keeperOf(request)
      const ending = Effect.suspend(() => sessions.endOne(caller.userId, id, doerOf(request, caller)))
      const hasEnded = isIdShaped(id) && (yield* Problem.orUnavailable(ending))
      return hasEnded ? empty() : yield* Problem.refuse("not-found", "There is no session with this id.")
    }),

    changePassword: Effect.fn("sessions.changePassword")(function* (request) {
      const { session, userId } = yield* Caller.requireKnown(yield* identifyNewcomer(request))
      if (session === undefined) return yield* needsSession
      // Before the body, which costs something to read and to check.
      yield* RateLimit.check(quotas.attempt(clientOf(request)))
      const body = yield* decodeNewPassword(yield* Body.read(request))
      const user = yield* Problem.orUnavailable(accounts.user(userId))
      if (user === null) return yield* needsSession
      yield* RateLimit.check(quotas.confirm(user.id))
      const change = {
        current: Redacted.make(body.currentPassword),
        password: Redacted.make(body.password),
        revokesKeys: body.revokeKeys ?? false
      }
      const changed = yield* orRefused(accounts.changePassword(userId, change, sessionClientOf(request)))
      return changed === null
        ? yield* wrongPassword
        : cookies.begin(empty(), changed.token, yield* devices.begin(changed.user))
    })
  } satisfies OperationsOf<"sessions">
})
