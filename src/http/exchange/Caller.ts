import { Clock, Effect, Either, Redacted } from "effect"
import type { KnownCaller, Scope } from "../../accounts/Access.ts"
import { Accounts } from "../../accounts/Accounts.ts"
import { Sessions } from "../../accounts/Sessions.ts"
import type { Link } from "../../model/Link.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as Problem from "./Problem.ts"
import type { Request } from "./Request.ts"
import type { Message } from "../../model/Messages.ts"

/** What is looked at of a request. */
type Source = Pick<Request, "headers" | "method">

/** Who sent a request. */
export type Caller = KnownCaller | "anonymous"

const unauthorized = (detail: Message): Problem.Problem => ({ kind: "unauthorized", detail })

const forged: Problem.Problem = {
  kind: "forbidden",
  detail: "A session is accepted only in requests of this service's own pages."
}

/** The API key of a request: `X-Api-Key`, or `Authorization: Bearer`. */
export const presented = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  headers["x-api-key"] ?? /^Bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1]

const temporaryPassword: Problem.Problem = {
  kind: "password-change-required",
  detail: "Somebody else may know this password. Choose another one first: PUT /api/v1/me/password."
}

/** Identifies callers; `sessionBy` says whether that counts as a use of their session. */
const identifier = (sessionBy: "of" | "peek") =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const sessions = yield* Sessions
    const cookies = yield* SessionCookie

    const known = (
      found: Effect.Effect<KnownCaller | null, StorageError>,
      otherwise: Message
    ): Effect.Effect<Caller, Problem.Problem> =>
      Effect.flatMap(Problem.orUnavailable(found), (caller) =>
        caller === null ? Effect.fail(unauthorized(otherwise)) : Effect.succeed(caller)
      )

    return (request: Source): Effect.Effect<Caller, Problem.Problem> => {
      const { headers } = request
      const key = presented(headers)
      if (key !== undefined) return known(accounts.ofKey(Redacted.make(key)), "The API key is not valid.")
      if (headers["authorization"] !== undefined) {
        return Effect.fail(unauthorized("The Authorization header must be of the form: Bearer KEY."))
      }
      const token = cookies.tokenOf(request)
      if (token === undefined) return Effect.succeed("anonymous")
      return cookies.mayBeForged(request)
        ? Effect.fail(forged)
        : known(sessions[sessionBy](token), "The session has ended.")
    }
  })

/**
 * Identifies the caller by the request's API key, else by its session cookie. An unknown key or session is refused even where none is needed: a client that
 * sends one means to be someone. Also users who have signed in with a password that they have not chosen themselves: it opens nothing but the way to another one.
 */
export const makeNewcomer = identifier("of")

const withOwnPassword = Effect.map(
  (identify: Effect.Effect.Success<typeof makeNewcomer>) => (request: Source) =>
    Effect.filterOrFail(
      identify(request),
      (caller) => caller === "anonymous" || caller.session?.hasTemporaryPassword !== true,
      () => temporaryPassword
    )
)

/** The same, without users who have yet to choose a password of their own. */
export const make = withOwnPassword(makeNewcomer)

/** The same for an answer that goes on, such as a stream: asking whether its caller is still known counts as no use of the session. */
export const makeAgain = withOwnPassword(identifier("peek"))

/**
 * Reads a body for a caller whom `accept` lets, and gives both. Who that is, is asked again when the body has come: it can take seconds, in which a session or a key
 * ends.
 */
export const withBody = <A, B, E1, E2>(
  accept: Effect.Effect<A, E1>,
  read: Effect.Effect<B, E2>
): Effect.Effect<readonly [A, B], E1 | E2> =>
  Effect.flatMap(Effect.zipRight(accept, read), (body) => Effect.map(accept, (caller) => [caller, body]))

/** Identifies callers without an effect; `undefined` where {@link make} must be used, or would refuse. */
export const makeNow = Effect.map(Accounts, (accounts) => ({ headers }: Source): Caller | undefined => {
  const key = presented(headers)
  if (key !== undefined) return accounts.ofKeyNow(Redacted.make(key)) ?? undefined
  return headers["authorization"] === undefined && headers["cookie"] === undefined ? "anonymous" : undefined
})

/** Accepts callers who are authenticated, whatever they may do: 401 `unauthorized` for the others. */
export const requireKnown = (caller: Caller): Either.Either<KnownCaller, Problem.Problem> =>
  caller === "anonymous"
    ? Either.left(
        unauthorized("This needs an API key, as X-Api-Key: KEY or Authorization: Bearer KEY, or a session.")
      )
    : Either.right(caller)

/** Accepts callers who have a scope, and returns who they are: 401 `unauthorized` for the anonymous, 403 `forbidden` for the others. */
export const requireScope = (caller: Caller, scope: Scope): Either.Either<KnownCaller, Problem.Problem> =>
  Either.filterOrLeft(
    requireKnown(caller),
    ({ scopes }) => scopes.has(scope) || scopes.has("admin"),
    () => ({ kind: "forbidden", detail: `This needs the scope ${scope}.` })
  )

/**
 * Accepts callers who may manage their API keys or sessions (`what`): in a session, or with a key that has the scope `admin`. Otherwise a leaked key could outlive its expiry, its limits
 * and its revocation.
 */
export const requireKeeper = (
  caller: Caller,
  what: "API keys" | "Sessions"
): Either.Either<KnownCaller, Problem.Problem> =>
  Either.filterOrLeft(
    requireKnown(caller),
    ({ isAdmin, keyId }) => keyId === null || isAdmin,
    () => ({
      kind: "forbidden",
      detail: `${what} are managed in a session, or with a key that has the scope admin.`
    })
  )

/** How long a caller who has signed in may do what needs the password again, in milliseconds. */
export const recentFor_ms = 15 * 60_000

/** Accepts callers who entered their password within the last minutes, or who present a key: 403 `reauthentication-required` for the others. */
export const requireRecent = (
  caller: KnownCaller,
  now: number
): Either.Either<KnownCaller, Problem.Problem> =>
  caller.session === undefined || now - caller.session.begunAt < recentFor_ms
    ? Either.right(caller)
    : Either.left({
        kind: "reauthentication-required",
        detail: "This needs a session that began within 15 minutes. Sign in again: POST /api/v1/session."
      })

/** The same of whom an effect gives, by the current time. */
export const recent = <E>(
  caller: Effect.Effect<KnownCaller, E>
): Effect.Effect<KnownCaller, E | Problem.Problem> =>
  Effect.flatten(Effect.zipWith(caller, Clock.currentTimeMillis, requireRecent))

/** Accepts callers who may create links: those with the scope for it, and the anonymous where they may. */
export const requireCreator = (
  caller: Caller,
  anonymousCreates: boolean
): Either.Either<Caller, Problem.Problem> =>
  caller === "anonymous" && anonymousCreates ? Either.right(caller) : requireScope(caller, "links:write")

/** The owner of what a caller makes; `null` for the anonymous. */
export const ownerOf = (caller: Caller): string | null => (caller === "anonymous" ? null : caller.userId)

/** What a link keeps of the API key by which a caller makes it: that and its limit of redirects, where it has one. */
export const keyLimitOf = (caller: Caller): Pick<Link, "keyId" | "keyRedirectsPerDay"> => {
  if (caller === "anonymous") return {}
  const { keyId, limits } = caller
  return keyId === null || limits.redirectsPerDay === null
    ? {}
    : { keyId, keyRedirectsPerDay: limits.redirectsPerDay }
}

/** Whether what `owner` made is a caller's to see and change. What has no owner is the administrators'. */
export const mayManage = (caller: KnownCaller, owner: string | null): boolean =>
  caller.isAdmin || caller.userId === owner
