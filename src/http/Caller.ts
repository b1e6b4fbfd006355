import type { HttpServerRequest } from "@effect/platform"
import { Effect, Either, Redacted } from "effect"
import { Accounts, type KnownCaller, type Scope } from "../accounts/Accounts.ts"
import * as Problem from "./Problem.ts"

/** Who sent a request. */
export type Caller = KnownCaller | "anonymous"

const unauthorized = (detail: string): Problem.Problem => ({ kind: "unauthorized", detail })

/** The API key of a request: `X-Api-Key`, or `Authorization: Bearer`. */
const presented = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  headers["x-api-key"] ?? /^Bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1]

const ofKey = (key: string): Effect.Effect<Caller, Problem.Problem, Accounts> =>
  Effect.flatMap(Accounts, ({ ofKey }) => ofKey(Redacted.make(key))).pipe(
    Problem.orUnavailable,
    Effect.filterOrFail(
      (caller) => caller !== null,
      () => unauthorized("The API key is not valid.")
    )
  )

/**
 * Tells the caller by the request's API key. A key that is not known is refused even where none is needed: whoever sends one means to be
 * someone.
 */
export const identify = ({
  headers
}: Pick<HttpServerRequest.HttpServerRequest, "headers">): Effect.Effect<
  Caller,
  Problem.Problem,
  Accounts
> => {
  const key = presented(headers)
  if (key !== undefined) return ofKey(key)
  return headers["authorization"] === undefined
    ? Effect.succeed("anonymous")
    : Effect.fail(unauthorized("The Authorization header must be of the form: Bearer KEY."))
}

/** Lets callers pass who have a scope, and gives who they are: 401 `unauthorized` for the anonymous, 403 `forbidden` for the others. */
export const requireScope = (caller: Caller, scope: Scope): Either.Either<KnownCaller, Problem.Problem> => {
  if (caller === "anonymous") {
    return Either.left(unauthorized("This needs an API key, as X-Api-Key: KEY or Authorization: Bearer KEY."))
  }
  return caller.scopes.has(scope) || caller.scopes.has("admin")
    ? Either.right(caller)
    : Either.left({ kind: "forbidden", detail: `This needs an API key with the scope ${scope}.` })
}

/** The owner of what a caller makes; `null` for the anonymous. */
export const ownerOf = (caller: Caller): string | null => (caller === "anonymous" ? null : caller.userId)

/** Whether what `owner` made is a caller's to see and change. What has no owner is the administrators'. */
export const mayManage = (caller: KnownCaller, owner: string | null): boolean =>
  caller.isAdmin || caller.userId === owner
