import { Clock, Effect, Redacted } from "effect"
import { Accounts } from "../../accounts/Accounts.ts"
import * as Devices from "../../accounts/Devices.ts"
import type { PasswordRefused } from "../../accounts/PasswordPolicy.ts"
import type { PasswordsBusy } from "../../accounts/Passwords.ts"
import { Quotas, type QuotaUse } from "../../accounts/Quotas.ts"
import { Sessions, type SessionView } from "../../accounts/Sessions.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import {
  LogInBody,
  type MeBody,
  NewPasswordBody,
  NewUserBody,
  type SessionBody,
  type SignUpBody
} from "../contract/AccountSchemas.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import * as Decode from "../exchange/Decode.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import { SessionCookie } from "../exchange/SessionCookie.ts"
import { bodyOf } from "./UserRoutes.ts"

/** The operator's settings for accounts. */
export interface AccountRoutesOptions {
  /** Whether everybody may make an account. */
  readonly signUp: boolean
}

const decodeNewUser = Decode.body(NewUserBody)
const decodeLogIn = Decode.body(LogInBody)
const decodeNewPassword = Decode.body(NewPasswordBody)

const forged = Problem.refuse("forbidden", "Sessions begin and end on this service's own pages alone.")

const wrongPassword = Problem.oneFault("invalid-request", "currentPassword", "is not the password")

const isAdministrator = (caller: Caller.Caller) => caller !== "anonymous" && caller.isAdmin

const needsSession = Problem.refuse(
  "forbidden",
  "A password is changed in a session, by who has signed in with it."
)

/** Answers what is wrong with a new password, and 503 to all other errors. */
const orRefused = <A>(
  self: Effect.Effect<A, StorageError | PasswordsBusy | PasswordRefused>
): Effect.Effect<A, Problem.Problem> =>
  Effect.catchAll(self, (error) =>
    error._tag === "PasswordRefused"
      ? Problem.oneFault("invalid-request", "password", error.message)
      : Problem.orUnavailable(Effect.fail(error))
  )

const quotaOf = (use: QuotaUse | null, now: number) =>
  use === null
    ? null
    : {
        limit: use.limit,
        used: use.limit - use.remaining,
        remaining: use.remaining,
        resetAt: Iso8601.formatMoment(now + use.resetIn_ms)
      }

const sessionBodyOf = (
  { id, ...session }: SessionView,
  current: string | undefined
): typeof SessionBody.Type => ({
  id,
  current: id === current,
  browser: session.browser,
  os: session.os,
  createdAt: Iso8601.formatMoment(session.createdAt),
  lastUsedAt: Iso8601.formatMoment(session.lastUsedAt),
  expiresAt: Iso8601.formatMoment(session.expiresAt)
})

/** Adds users, begins, lists and ends sessions, changes passwords, and shows callers their account. */
export const make = ({ signUp }: AccountRoutesOptions) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const sessions = yield* Sessions
    const quotas = yield* Quotas
    const cookies = yield* SessionCookie
    const { clientOf } = yield* ClientAddress
    const identify = yield* Caller.make
    const identifyNewcomer = yield* Caller.makeNewcomer
    const doing = yield* RequestDoer.make
    const devices = yield* Devices.make

    const keeperOf = (request: Request) =>
      Effect.flatMap(identify(request), (caller) => Caller.requireKeeper(caller, "Sessions"))

    const ofAccounts = {
      addUser: Effect.fn("accounts.addUser")(function* (request) {
        const accepted = Effect.tap(identify(request), (caller) =>
          signUp ? Effect.void : Caller.requireScope(caller, "admin")
        )
        // Before the body, which costs something to read and to check.
        if (!isAdministrator(yield* accepted)) yield* RateLimit.check(quotas.attempt(clientOf(request)))
        const body = yield* decodeNewUser(yield* Body.read(request))
        // Again, as in `Caller.withBody`.
        const caller = yield* accepted
        const isAdmin = isAdministrator(caller)
        const { email, firstName = null, lastName = null, middleName = null } = body
        const draft = { email, firstName, middleName, lastName, password: Redacted.make(body.password) }
        const user = yield* orRefused(accounts.addUser(draft, doing.doerOf(request, caller)))
        if (!isAdmin) {
          // Not the user, nor whether the address was taken: strangers must not learn who has an account.
          const body: typeof SignUpBody.Type = { email }
          return json(body, 202)
        }
        return user === null
          ? yield* Problem.oneFault("email-taken", "email", "belongs to an account already")
          : json(bodyOf(user), 201)
      }),

      logIn: Effect.fn("accounts.logIn")(function* (request) {
        // Another site could sign its visitors in to an account of its own, and read what they do there.
        if (cookies.mayBeForged(request)) return yield* forged
        // Before the body, which costs something to read and to check.
        const ofClient = yield* RateLimit.check(quotas.attempt(clientOf(request)))
        const { email, password } = yield* decodeLogIn(yield* Body.read(request))
        const account = email.toLowerCase()
        const device = yield* Problem.orUnavailable(devices.find(email, cookies.deviceOf(request)))
        const ofAccount = yield* RateLimit.check(quotas.logIn(clientOf(request), account, device))
        const replaced = cookies.tokenOf(request) ?? null
        const session = yield* Problem.orUnavailable(
          accounts.logIn(email, Redacted.make(password), doing.sessionClientOf(request), replaced)
        )
        if (session === null) {
          return yield* Problem.refuse("unauthorized", "The e-mail address or the password is wrong.")
        }
        quotas.loggedIn(account, device)
        const begun = cookies.begin(empty(), session.token, yield* devices.begin(session.user))
        return RateLimit.shownIn(begun, RateLimit.tighter(ofClient, ofAccount))
      }),

      logOut: Effect.fn("accounts.logOut")(function* (request) {
        if (cookies.mayBeForged(request)) return yield* forged
        const token = cookies.tokenOf(request)
        if (token !== undefined) yield* Problem.orUnavailable(sessions.end(token, doing.clientOf(request)))
        return cookies.end(empty())
      }),

      me: Effect.fn("accounts.me")(function* (request) {
        const caller = yield* Caller.requireKnown(yield* identifyNewcomer(request))
        const user = yield* Problem.orUnavailable(accounts.user(caller.userId))
        if (user === null) return yield* Problem.refuse("unauthorized", "The account is gone.")
        const uses = yield* Problem.orUnavailable(quotas.of(caller))
        const now = yield* Clock.currentTimeMillis
        const body: typeof MeBody.Type = {
          ...bodyOf(user),
          scopes: [...caller.scopes],
          passwordChangeRequired: user.passwordIsTemporary,
          quotas: {
            createsPerMinute: quotaOf(uses.createsPerMinute, now),
            redirectsPerDay: quotaOf(uses.redirectsPerDay, now)
          }
        }
        return json(body)
      })
    } satisfies OperationsOf<"accounts">

    const ofSessions = {
      listSessions: Effect.fn("sessions.list")(function* (request) {
        const { session, userId } = yield* keeperOf(request)
        const all = yield* Problem.orUnavailable(sessions.list(userId))
        return json({ data: all.map((one) => sessionBodyOf(one, session?.id)) })
      }),

      endOtherSessions: Effect.fn("sessions.endOthers")(function* (request) {
        const caller = yield* keeperOf(request)
        const { session, userId } = caller
        const doer = doing.doerOf(request, caller)
        yield* Problem.orUnavailable(sessions.endOthers(userId, session?.id ?? null, doer))
        return empty()
      }),

      endSession: Effect.fn("sessions.end")(function* (request, { id }) {
        const caller = yield* keeperOf(request)
        const ending = Effect.suspend(() => sessions.endOne(caller.userId, id, doing.doerOf(request, caller)))
        const hasEnded = isIdShaped(id) && (yield* Problem.orUnavailable(ending))
        return hasEnded ? empty() : yield* Problem.refuse("not-found", "There is no session with this id.")
      }),

      changePassword: Effect.fn("sessions.changePassword")(function* (request) {
        const inSession = Effect.flatMap(identifyNewcomer(request), (caller) =>
          Effect.flatMap(Caller.requireKnown(caller), ({ session, userId }) =>
            session === undefined ? needsSession : Effect.succeed({ session, userId })
          )
        )
        // Before the body, which costs something to read and to check.
        const limited = RateLimit.check(quotas.attempt(clientOf(request)))
        const reading = Effect.zipRight(limited, Body.read(request))
        const [{ session, userId }, given] = yield* Caller.withBody(inSession, reading)
        const body = yield* decodeNewPassword(given)
        yield* RateLimit.check(quotas.confirm(session.id))
        const change = {
          current: Redacted.make(body.currentPassword),
          password: Redacted.make(body.password),
          revokesKeys: body.revokeKeys ?? false
        }
        const changed = yield* orRefused(
          accounts.changePassword(userId, change, doing.sessionClientOf(request))
        )
        return changed === null
          ? yield* wrongPassword
          : cookies.begin(empty(), changed.token, yield* devices.begin(changed.user))
      })
    } satisfies OperationsOf<"sessions">

    return { accounts: ofAccounts, sessions: ofSessions }
  })
