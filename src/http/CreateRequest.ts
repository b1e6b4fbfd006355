import { Either, Option } from "effect"
import type { LinkDraft } from "../actors/Links.ts"
import * as Iso8601 from "../Iso8601.ts"
import { unlessChosen } from "../Link.ts"
import * as Decode from "./Decode.ts"
import { CreateBody } from "./LinkSchemas.ts"
import { faulty, type Problem } from "./Problem.ts"
import type { TargetPolicyService } from "./TargetPolicy.ts"
import * as TargetUrl from "./TargetUrl.ts"

/** What the checks of a create need to know of this service. */
export interface CreatePolicy {
  readonly own: TargetUrl.OwnAddress
  readonly targets: TargetPolicyService
  readonly defaultExpiry: Option.Option<Iso8601.Duration>
}

/** First path segments that this service has, or keeps for itself. Compared without regard to case. */
const reservedAliases = new Set(
  (
    "about account admin api app apps assets auth blog cluster config dashboard docs favicon graphql health help home " +
    "images index js css key keys link links login logout me metrics new null oauth openapi privacy public qr root " +
    "register robots search session settings sign-in sign-up signin signup sitemap static stats status support " +
    "system terms undefined url urls user users well-known www"
  ).split(" ")
)

const decodeBody = Decode.body(CreateBody)

const oneFault = (kind: Problem["kind"], path: string, message: string) =>
  Either.left(faulty(kind, [{ path, message }]))

const blocked = (fault: string) => faulty("blocked-target", [{ path: "url", message: fault }])

const checkUrl = (text: string, { own, targets }: CreatePolicy): Either.Either<string, Problem> =>
  TargetUrl.parse(text, own).pipe(
    Either.mapLeft((error) =>
      error._tag === "InvalidTarget"
        ? faulty("invalid-url", [{ path: "url", message: error.fault }])
        : blocked(`leads to this service itself (${error.host})`)
    ),
    Either.flatMap((url) => {
      const fault = targets.faultOf(url)
      return fault === undefined ? Either.right(url) : Either.left(blocked(fault))
    })
  )

const checkMoment = (path: string, text: string): Either.Either<number, Problem> =>
  Either.fromNullable(Iso8601.parseMoment(text), () =>
    faulty("invalid-request", [
      { path, message: "must be an RFC 3339 date-time such as 2027-01-01T00:00:00Z" }
    ])
  )

const checkExpiry = (
  body: typeof CreateBody.Type,
  now: number,
  orElse: Option.Option<Iso8601.Duration>
): Either.Either<number | null, Problem> => {
  const { expiresAt, expiresIn } = body
  if (expiresAt !== undefined && expiresIn !== undefined) {
    return oneFault("invalid-request", "expiresIn", "cannot stand beside expiresAt")
  }
  if (expiresAt !== undefined) {
    return Either.flatMap(checkMoment("expiresAt", expiresAt), (moment) =>
      moment > now && moment <= Iso8601.momentMax
        ? Either.right(moment)
        : oneFault("invalid-request", "expiresAt", "must lie in the future, before the year 10000")
    )
  }
  const lifetime = expiresIn === undefined ? Option.getOrUndefined(orElse) : Iso8601.parseDuration(expiresIn)
  if (lifetime === undefined) {
    return expiresIn === undefined
      ? Either.right(null)
      : oneFault(
          "invalid-request",
          "expiresIn",
          "must be an ISO 8601 duration above zero such as P30D or PT10M"
        )
  }
  const end = Iso8601.after(now, lifetime)
  return end > now && end <= Iso8601.momentMax
    ? Either.right(end)
    : oneFault("invalid-request", "expiresIn", "must end before the year 10000")
}

/** A link that has ended before it begins would never redirect. */
const checkBeginning = (
  validSince: string | undefined,
  expiresAt: number | null
): Either.Either<number | null, Problem> =>
  validSince === undefined
    ? Either.right(null)
    : Either.filterOrLeft(
        checkMoment("validSince", validSince),
        (moment) => moment < (expiresAt ?? Number.POSITIVE_INFINITY),
        () => faulty("invalid-request", [{ path: "validSince", message: "must lie before the link's end" }])
      )

const checkAlias = (alias: string | undefined): Either.Either<string | null, Problem> =>
  alias !== undefined && reservedAliases.has(alias.toLowerCase())
    ? oneFault("alias-reserved", "alias", `"${alias}" is reserved`)
    : Either.right(alias ?? null)

/** Checks the body of a create at `now` (milliseconds since the Unix epoch): gives what to bind for its owner, or the problem to answer. */
export const check = (
  json: unknown,
  policy: CreatePolicy,
  now: number
): Either.Either<Omit<LinkDraft, "owner">, Problem> =>
  Either.gen(function* () {
    const body = yield* decodeBody(json)
    const url = yield* checkUrl(body.url, policy)
    const alias = yield* checkAlias(body.alias)
    const expiresAt = yield* checkExpiry(body, now, policy.defaultExpiry)
    const validSince = yield* checkBeginning(body.validSince, expiresAt)
    const { expiresIn: _, tags = [], ...chosen } = body
    return { ...unlessChosen, ...chosen, url, alias, expiresAt, validSince, tags: [...new Set(tags)] }
  })
