import { Either, type Option } from "effect"
import type { LinkDraft } from "../actors/Links.ts"
import type * as Iso8601 from "../Iso8601.ts"
import { unlessChosen } from "../Link.ts"
import * as Decode from "./Decode.ts"
import { checkEnd, checkMoment, checkOrder, checkUrl, distinct, type LinkPolicy } from "./LinkChecks.ts"
import { CreateBody } from "./LinkSchemas.ts"
import { oneFault, type Problem } from "./Problem.ts"

/** What the checks of a create need to know of this service. */
export interface CreatePolicy extends LinkPolicy {
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

const { passwordHash: _, ...none } = unlessChosen

const decodeBody = Decode.body(CreateBody)

const checkAlias = (alias: string | undefined): Either.Either<string | null, Problem> =>
  alias !== undefined && reservedAliases.has(alias.toLowerCase())
    ? oneFault("alias-reserved", "alias", `"${alias}" is reserved`)
    : Either.right(alias ?? null)

/** What to bind for its owner, and the link's password, which is not hashed yet. */
export interface Create {
  readonly draft: Omit<LinkDraft, "owner" | "passwordHash">
  readonly password: string | null
  /** Whether a link of the same URL that its owner has already will do. */
  readonly reuse: boolean
}

/** Checks the body of a create at `now` (milliseconds since the Unix epoch): gives what to create, or the problem to answer. */
export const check = (json: unknown, policy: CreatePolicy, now: number): Either.Either<Create, Problem> =>
  Either.gen(function* () {
    const body = yield* decodeBody(json)
    const url = yield* checkUrl(body.url, policy)
    const alias = yield* checkAlias(body.alias)
    const end = (yield* checkEnd(body, now, policy.defaultExpiry)) ?? null
    const beginning = body.validSince === undefined ? null : yield* checkMoment("validSince", body.validSince)
    yield* checkOrder("validSince", beginning, end)
    const { expiresIn: _, password = null, reuse = false, tags = [], ...others } = body
    const times = { expiresAt: end, validSince: beginning }
    return { draft: { ...none, ...others, ...times, url, alias, tags: distinct(tags) }, password, reuse }
  })
