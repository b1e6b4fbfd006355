import { Either, type Option } from "effect"
import type { LinkDraft } from "../actors/Links.ts"
import type * as Iso8601 from "../Iso8601.ts"
import { unlessChosen } from "../Link.ts"
import * as Decode from "./Decode.ts"
import { checkEnd, checkMoment, checkOrder, checkUrl, distinct, type LinkPolicy } from "./LinkChecks.ts"
import { CreateBody } from "./LinkSchemas.ts"
import { oneFault, type Problem } from "./Problem.ts"
import { isReserved } from "./ReservedAliases.ts"

/** What the checks of a create need to know of this service. */
export interface CreatePolicy extends LinkPolicy {
  readonly defaultExpiry: Option.Option<Iso8601.Duration>
}

const { passwordHash: _, ...none } = unlessChosen

const decodeBody = Decode.body(CreateBody)

const checkAlias = (alias: string | undefined): Either.Either<string | null, Problem> =>
  alias !== undefined && isReserved(alias)
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
