import { Clock, Effect, Either } from "effect"
import { type LinkFate, linkFates, type NotRemoved, Users } from "../../accounts/Users.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { User } from "../../storage/accounts/AccountStore.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import {
  type RemovalParameters,
  type UserBody,
  UserChangeBody,
  userPageBounds,
  type UserParameters,
  type UsersBody
} from "../contract/AccountSchemas.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Decode from "../exchange/Decode.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import { isIdShaped } from "../contract/LinkSchemas.ts"
import * as PageRequest from "../exchange/PageRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import { SessionCookie } from "../exchange/SessionCookie.ts"

const decodeChange = Decode.body(UserChangeBody)

/** A user as clients see one. */
export const bodyOf = (user: User): typeof UserBody.Type => ({
  id: user.id,
  email: user.email,
  firstName: user.firstName,
  middleName: user.middleName,
  lastName: user.lastName,
  admin: user.isAdmin,
  createdAt: Iso8601.formatMoment(user.createdAt),
  updatedAt: Iso8601.formatMoment(user.updatedAt),
  lastLoginAt: Iso8601.formatOptionalMoment(user.lastLoginAt),
  disabledAt: Iso8601.formatOptionalMoment(user.disabledAt)
})

/** Why an account stays as it is. */
const problems: Record<NotRemoved, Problem.Problem> = {
  nobody: { kind: "not-found", detail: "There is no user with this id." },
  "last-administrator": {
    kind: "last-administrator",
    detail: "Nobody else could manage this service. Make another administrator first."
  },
  deployment: {
    kind: "forbidden",
    detail: "This account is the service's own. It can be disabled, but not deleted."
  }
}

const needsSession = Problem.refuse(
  "forbidden",
  "An account is deleted in a session, by who has signed in, or by an administrator."
)

/** What is to become of the links. */
const fateOf = ({
  links = "keep"
}: typeof RemovalParameters.Type): Either.Either<LinkFate, Problem.Problem> => {
  const fate = linkFates.find((one) => one === links)
  return fate === undefined
    ? Problem.oneFault("invalid-request", "links", "must be keep or delete")
    : Either.right(fate)
}

const emailMax = 254

/** Checks which users are asked for: gives the query, or the problem to answer. */
const check = (parameters: typeof UserParameters.Type) =>
  Problem.collectFaults((fault) => {
    const { email } = parameters
    const isAddress =
      email === undefined ||
      (typeof email === "string" && email.length <= emailMax && !/\p{Cc}|\p{Cs}/u.test(email))
    if (!isAddress) fault("email", `must be an address of at most ${emailMax} characters`)
    const { after, limit } = PageRequest.check(parameters, userPageBounds, fault)
    return {
      limit,
      email: isAddress ? email : undefined,
      after: after === null ? undefined : { createdAt: after.at, id: after.id }
    }
  })

/** Lists, changes and removes accounts, for administrators. */
export const make = Effect.gen(function* () {
  const users = yield* Users
  const cookies = yield* SessionCookie
  const { doerOf } = yield* RequestDoer.make
  const identify = yield* Caller.make

  const requireAdmin = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "admin"))

  /** What cannot be undone needs a session that began with the password a short time ago. */
  const requireRecentAdmin = (request: Request) => Caller.recent(requireAdmin(request))

  return {
    listUsers: Effect.fn("users.list")(function* (request, parameters) {
      yield* requireAdmin(request)
      const { limit, ...query } = yield* check(parameters)
      const found = yield* Problem.orUnavailable(users.list({ ...query, limit: limit + 1 }))
      const { nextCursor, page } = PageRequest.pageOf(found, limit, ({ createdAt, id }) => ({
        at: createdAt,
        id
      }))
      const body: typeof UsersBody.Type = { data: page.map(bodyOf), nextCursor }
      return json(body)
    }),

    changeUser: Effect.fn("users.change")(function* (request, { id }) {
      const [caller, given] = yield* Caller.withBody(requireAdmin(request), Body.read(request))
      const body = yield* decodeChange(given)
      const { admin: isAdmin, disabled: isDisabled } = body
      if (isAdmin === undefined && isDisabled === undefined) {
        return yield* Problem.oneFault("invalid-request", "", "must say what to change: disabled or admin")
      }
      yield* Caller.requireRecent(caller, yield* Clock.currentTimeMillis)
      const changed = isIdShaped(id)
        ? yield* Problem.orUnavailable(users.change(id, { isAdmin, isDisabled }, doerOf(request, caller)))
        : "nobody"
      return typeof changed === "string" ? yield* Effect.fail(problems[changed]) : json(bodyOf(changed))
    }),

    removeUser: Effect.fn("users.remove")(function* (request, { id, ...parameters }) {
      const caller = yield* requireRecentAdmin(request)
      const links = yield* fateOf(parameters)
      const removed = isIdShaped(id)
        ? yield* Problem.orUnavailable(users.remove(id, links, doerOf(request, caller)))
        : "nobody"
      return removed === "removed" ? empty() : yield* Effect.fail(problems[removed])
    }),

    removeMe: Effect.fn("users.removeOwn")(function* (request, parameters) {
      const known = yield* Caller.requireKnown(yield* identify(request))
      const caller = yield* Caller.requireRecent(known, yield* Clock.currentTimeMillis)
      if (caller.session === undefined) return yield* needsSession
      const links = yield* fateOf(parameters)
      const removing = users.remove(caller.userId, links, doerOf(request, caller))
      const removed = yield* Problem.orUnavailable(removing)
      // `nobody`: another request of the same user has removed it already.
      return removed === "removed" || removed === "nobody"
        ? cookies.end(empty())
        : yield* Effect.fail(problems[removed])
    })
  } satisfies OperationsOf<"users">
})
