import { HttpApiBuilder, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect, Redacted } from "effect"
import { Accounts } from "../accounts/Accounts.ts"
import { Quotas, type QuotaUse } from "../accounts/Quotas.ts"
import * as Iso8601 from "../Iso8601.ts"
import type { User } from "../storage/AccountStore.ts"
import { LogInBody, type MeBody, NewUserBody, type UserBody } from "./AccountSchemas.ts"
import { Api } from "./Api.ts"
import * as Body from "./Body.ts"
import * as Caller from "./Caller.ts"
import { ClientAddress } from "./ClientAddress.ts"
import * as Decode from "./Decode.ts"
import * as Problem from "./Problem.ts"
import { fromEffect } from "./Request.ts"
import * as RateLimit from "./RateLimit.ts"
import { SessionCookie } from "./SessionCookie.ts"

/** What the account routes need to know of the operator's choices. */
export interface AccountRoutesOptions {
  /** Whether everybody may make an account. */
  readonly signUp: boolean
}

const decodeNewUser = Decode.body(NewUserBody)
const decodeLogIn = Decode.body(LogInBody)

const noStore = { "cache-control": "no-store" }

const wrongLogin: Problem.Problem = {
  kind: "unauthorized",
  detail: "The e-mail address or the password is wrong."
}

const forged: Problem.Problem = {
  kind: "forbidden",
  detail: "Sessions begin and end on this service's own pages alone."
}

const bodyOf = (user: User): typeof UserBody.Type => ({
  id: user.id,
  email: user.email,
  firstName: user.firstName,
  middleName: user.middleName,
  lastName: user.lastName,
  admin: user.isAdmin,
  createdAt: Iso8601.formatMoment(user.createdAt),
  updatedAt: Iso8601.formatMoment(user.updatedAt),
  lastLoginAt: user.lastLoginAt === null ? null : Iso8601.formatMoment(user.lastLoginAt)
})

const quotaOf = (use: QuotaUse | null, now: number) =>
  use === null
    ? null
    : {
        limit: use.limit,
        used: use.limit - use.remaining,
        remaining: use.remaining,
        resetAt: Iso8601.formatMoment(now + use.resetIn_ms)
      }

/** Adds users, begins and ends sessions, and tells callers who they are. */
export const layer = ({ signUp }: AccountRoutesOptions) =>
  HttpApiBuilder.group(Api, "accounts", (handlers) =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const quotas = yield* Quotas
      const cookies = yield* SessionCookie
      const { clientOf } = yield* ClientAddress

      const addUser = Effect.fn("accounts.addUser")(function* (request: HttpServerRequest.HttpServerRequest) {
        const caller = yield* Caller.identify(request)
        if (!signUp) yield* Caller.requireScope(caller, "admin")
        const body = yield* decodeNewUser(yield* Body.read(fromEffect(request)))
        const isAdmin = caller !== "anonymous" && caller.isAdmin
        if (!isAdmin) yield* RateLimit.check(quotas.attempt(clientOf(request), null))
        const { email, firstName = null, lastName = null, middleName = null } = body
        const draft = { email, firstName, middleName, lastName, password: Redacted.make(body.password) }
        const user = yield* Problem.orUnavailable(accounts.addUser(draft))
        if (user === null) {
          const fault = { path: "email", message: "belongs to an account already" }
          return yield* Effect.fail(Problem.faulty("email-taken", [fault]))
        }
        return HttpServerResponse.unsafeJson(bodyOf(user), { status: 201, headers: noStore })
      })

      const logIn = Effect.fn("accounts.logIn")(function* (request: HttpServerRequest.HttpServerRequest) {
        // Another site could sign its visitors in with an account of its own, and read what they do there.
        if (cookies.mayBeForged(request)) return yield* Effect.fail(forged)
        const { email, password } = yield* decodeLogIn(yield* Body.read(fromEffect(request)))
        const standing = yield* RateLimit.check(quotas.attempt(clientOf(request), email.toLowerCase()))
        const session = yield* Problem.orUnavailable(accounts.logIn(email, Redacted.make(password)))
        if (session === null) return yield* Effect.fail(wrongLogin)
        const response = HttpServerResponse.empty({ headers: noStore })
        return RateLimit.show(cookies.begin(response, session.token), standing)
      })

      const logOut = Effect.fn("accounts.logOut")(function* (request: HttpServerRequest.HttpServerRequest) {
        if (cookies.mayBeForged(request)) return yield* Effect.fail(forged)
        const token = cookies.tokenOf(request)
        if (token !== undefined) yield* Problem.orUnavailable(accounts.logOut(token))
        return cookies.end(HttpServerResponse.empty({ headers: noStore }))
      })

      const me = Effect.fn("accounts.me")(function* (request: HttpServerRequest.HttpServerRequest) {
        const caller = yield* Caller.requireKnown(yield* Caller.identify(request))
        const user = yield* Problem.orUnavailable(accounts.user(caller.userId))
        if (user === null) {
          return yield* Effect.fail<Problem.Problem>({ kind: "unauthorized", detail: "The account is gone." })
        }
        const uses = yield* Problem.orUnavailable(quotas.of(caller))
        const now = yield* Clock.currentTimeMillis
        const body: typeof MeBody.Type = {
          ...bodyOf(user),
          scopes: [...caller.scopes],
          quotas: {
            createsPerMinute: quotaOf(uses.createsPerMinute, now),
            redirectsPerDay: quotaOf(uses.redirectsPerDay, now)
          }
        }
        return HttpServerResponse.unsafeJson(body, { headers: noStore })
      })

      return handlers
        .handleRaw("addUser", ({ request }) => Problem.orRespond(addUser(request)))
        .handleRaw("logIn", ({ request }) => Problem.orRespond(logIn(request)))
        .handleRaw("logOut", ({ request }) => Problem.orRespond(logOut(request)))
        .handleRaw("me", ({ request }) => Problem.orRespond(me(request)))
    })
  )
