import { Effect, Either, Option, Redacted } from "effect"
import { Passwords } from "../../accounts/Passwords.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { Domains, type KnownDomains } from "../domains/Domains.ts"
import { faulty, oneFault, orUnavailable, type Problem } from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy, type TargetPolicyService } from "./TargetPolicy.ts"
import * as TargetUrl from "./TargetUrl.ts"
import type { Message } from "../../model/Messages.ts"

/** What the checks of a link need to know of this service. */
export interface LinkPolicy {
  readonly own: TargetUrl.OwnAddress
  readonly targets: TargetPolicyService
  readonly domains: KnownDomains
}

/** What the checks of a create need to know of this service. */
export interface CreatePolicy extends LinkPolicy {
  readonly defaultExpiry: Option.Option<Iso8601.Duration>
}

const blocked = (path: string, fault: Message) => faulty("blocked-target", [{ path, message: fault }])

/** The target as it is stored. `path` is the field to be blamed. */
export const checkUrl = (
  text: string,
  { domains, own, targets }: LinkPolicy,
  path = "url"
): Either.Either<string, Problem> => {
  const target = TargetUrl.parse(text, own)
  if (Either.isLeft(target)) {
    const error = target.left
    return Either.left(
      error._tag === "InvalidTarget"
        ? faulty("invalid-url", [{ path, message: error.fault }])
        : blocked(path, `leads to this service itself (${error.host})`)
    )
  }
  const further = domains.leadsTo(target.right)
  if (further !== undefined) return Either.left(blocked(path, `leads to this service itself (${further})`))
  const fault = targets.faultOf(target.right)
  return fault === undefined ? Either.right(target.right) : Either.left(blocked(path, fault))
}

const parseMoment = (path: string, text: string): Either.Either<number, Problem> =>
  Either.fromNullable(Iso8601.parseMoment(text), () =>
    faulty("invalid-request", [
      { path, message: "must be an RFC 3339 date-time such as 2027-01-01T00:00:00Z" }
    ])
  )

/** A moment of RFC 3339 that has a year from 0 to 9999 in UTC as well, in milliseconds since the Unix epoch. */
export const checkMoment = (path: string, text: string): Either.Either<number, Problem> =>
  Either.filterOrLeft(
    parseMoment(path, text),
    (moment) => moment >= Iso8601.momentMin && moment <= Iso8601.momentMax,
    () => faulty("invalid-request", [{ path, message: "must lie in the years 0 to 9999 of UTC" }])
  )

const endAfter = (lifetime: Iso8601.Duration, now: number): Either.Either<number, Problem> => {
  const end = Iso8601.after(now, lifetime)
  return end > now && end <= Iso8601.momentMax
    ? Either.right(end)
    : oneFault("invalid-request", "expiresIn", "must end before the year 10000")
}

const noEnd = Either.right(undefined)

/**
 * When a link ends that is written at `now`: `undefined` where neither field says it, and nothing else does. `mayBeOver`: whether it can have ended already.
 */
export const checkEnd = (
  { expiresAt, expiresIn }: { readonly expiresAt?: string; readonly expiresIn?: string },
  now: number,
  orElse: Option.Option<Iso8601.Duration>,
  mayBeOver = false
): Either.Either<number | undefined, Problem> => {
  if (expiresAt !== undefined && expiresIn !== undefined) {
    return oneFault("invalid-request", "expiresIn", "cannot stand beside expiresAt")
  }
  if (expiresAt !== undefined && mayBeOver) return checkMoment("expiresAt", expiresAt)
  if (expiresAt !== undefined) {
    return Either.flatMap(parseMoment("expiresAt", expiresAt), (moment) =>
      moment > now && moment <= Iso8601.momentMax
        ? Either.right(moment)
        : oneFault("invalid-request", "expiresAt", "must lie in the future, before the year 10000")
    )
  }
  if (expiresIn === undefined) {
    return Option.isNone(orElse) ? noEnd : endAfter(orElse.value, now)
  }
  const lifetime = Iso8601.parseDuration(expiresIn)
  return lifetime === undefined
    ? oneFault(
        "invalid-request",
        "expiresIn",
        "must be an ISO 8601 duration above zero such as P30D or PT10M"
      )
    : endAfter(lifetime, now)
}

/** Lets a link pass that begins before it ends: another one would never redirect. `path` is the field to be blamed. */
export const checkOrder = (
  path: "validSince" | "expiresAt",
  validSince: number | null,
  expiresAt: number | null
): Either.Either<void, Problem> => {
  if (validSince === null || expiresAt === null || validSince < expiresAt) return Either.void
  return oneFault(
    "invalid-request",
    path,
    path === "validSince" ? "must lie before the link's end" : "must lie after validSince"
  )
}

/** Tags, each once. */
export const distinct = (tags: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(tags)]

/** What creates and changes of links are checked with. */
export const make = Effect.fnUntraced(function* (options: Omit<CreatePolicy, "domains" | "targets">) {
  const passwords = yield* Passwords
  const targets = yield* TargetPolicy
  const domains = yield* Domains
  const { own, ...others } = options
  return {
    policyOf: (request: Pick<Request, "headers">): CreatePolicy => ({
      own: { reachedAt: TargetUrl.reachedBy(request.headers["host"]), ...own },
      targets,
      domains,
      ...others
    }),
    hash: (password: string, owner: string | null) =>
      orUnavailable(passwords.hash(Redacted.make(password), owner === null ? "stranger" : "link"))
  }
})
