import { Clock, Effect, Either } from "effect"
import { type LinkFate, linkFates, type NotRemoved, Users } from "../../accounts/Users.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import {
  type RemovalParameters,
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
import { bodyOf } from "./UserAnswers.ts"

const decodeChange = Decode.body(UserChangeBody)

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

const needsSession: Problem.Problem = {
  kind: "forbidden",
  detail: "An account is deleted in a session, by who has signed in, or by an administrator."
}

/** What is to become of the links. */
const fateOf = ({
  links = "keep"
}: typeof RemovalParameters.Type): Either.Either<LinkFate, Problem.Problem> => {
  const fate = linkFates.find((one) => one === links)
  return fate === undefined
    ? Problem.oneFault("invalid-request", "links", `must be ${linkFates.join(" or ")}`)
    : Either.right(fate)
}

const emailMax = 254

/** Lists, changes and removes accounts, for administrators. */
export const make = Effect.gen(function* () {
  const users = yield* Users
  const cookies = yield* SessionCookie
  const { doerOf } = yield* RequestDoer.make
  const identify = yield* Caller.make

  const requireAdmin = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "admin"))

  /** What cannot be taken back is not done by who has found an open session. */
  const requireRecentAdmin = (request: Request) =>
    Effect.zipWith(requireAdmin(request), Clock.currentTimeMillis, Caller.requireRecent).pipe(Effect.flatten)

  const list = Effect.fn("users.list")(function* (request: Request, parameters: typeof UserParameters.Type) {
    yield* requireAdmin(request)
    const errors: Array<Problem.Fault> = []
    const fault = (path: string, message: string) => void errors.push({ path, message })
    const { email } = parameters
    const isAddress =
      email === undefined ||
      (typeof email === "string" && email.length <= emailMax && !/\p{Cc}|\p{Cs}/u.test(email))
    if (!isAddress) fault("email", `must be an address of at most ${emailMax} characters`)
    const { after, limit } = PageRequest.check(parameters, userPageBounds, fault)
    if (errors.length > 0) return yield* Effect.fail(Problem.faulty("invalid-request", errors))
    const found = yield* Problem.orUnavailable(
      users.list({
        email: isAddress ? email : undefined,
        after: after === null ? undefined : { createdAt: after.at, id: after.id },
        // One more tells whether there is a next page.
        limit: limit + 1
      })
    )
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const body: typeof UsersBody.Type = {
      data: page.map(bodyOf),
      nextCursor:
        last !== undefined && found.length > limit
          ? PageRequest.cursorOf({ at: last.createdAt, id: last.id })
          : null
    }
    return json(body)
  })

  const change = Effect.fn("users.change")(function* (request: Request, id: string) {
    yield* requireAdmin(request)
    const body = yield* decodeChange(yield* Body.read(request))
    const { admin: isAdmin, disabled: isDisabled } = body
    if (isAdmin === undefined && isDisabled === undefined) {
      const fault = { path: "", message: "must say what to change: disabled or admin" }
      return yield* Effect.fail(Problem.faulty("invalid-request", [fault]))
    }
    // Again, since a body can take its time.
    const caller = yield* requireRecentAdmin(request)
    const changed = isIdShaped(id)
      ? yield* Problem.orUnavailable(users.change(id, { isAdmin, isDisabled }, doerOf(request, caller)))
      : "nobody"
    return typeof changed === "string" ? yield* Effect.fail(problems[changed]) : json(bodyOf(changed))
  })

  const remove = Effect.fn("users.remove")(function* (
    request: Request,
    id: string,
    parameters: typeof RemovalParameters.Type
  ) {
    const caller = yield* requireRecentAdmin(request)
    const links = yield* fateOf(parameters)
    const removed = isIdShaped(id)
      ? yield* Problem.orUnavailable(users.remove(id, links, doerOf(request, caller)))
      : "nobody"
    return removed === "removed" ? empty() : yield* Effect.fail(problems[removed])
  })

  const removeOwn = Effect.fn("users.removeOwn")(function* (
    request: Request,
    parameters: typeof RemovalParameters.Type
  ) {
    const known = yield* Caller.requireKnown(yield* identify(request))
    const caller = yield* Caller.requireRecent(known, yield* Clock.currentTimeMillis)
    if (caller.session === undefined) return yield* Effect.fail(needsSession)
    const links = yield* fateOf(parameters)
    const removing = users.remove(caller.userId, links, doerOf(request, caller))
    const removed = yield* Problem.orUnavailable(removing)
    // Another request of the same user was quicker: what was asked for is so.
    return removed === "removed" || removed === "nobody"
      ? cookies.end(empty())
      : yield* Effect.fail(problems[removed])
  })

  return {
    listUsers: list,
    changeUser: (request, { id }) => change(request, id),
    removeMe: removeOwn,
    removeUser: (request, { id, ...parameters }) => remove(request, id, parameters)
  } satisfies OperationsOf<"users">
})
