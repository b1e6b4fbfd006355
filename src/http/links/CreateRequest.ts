import { Either, type Option } from "effect"
import type { LinkDraft } from "../../actors/links/Links.ts"
import type * as Iso8601 from "../../model/Iso8601.ts"
import { unlessChosen } from "../../model/Link.ts"
import * as Decode from "../exchange/Decode.ts"
import { checkEnd, checkMoment, checkOrder, checkUrl, distinct, type LinkPolicy } from "./LinkChecks.ts"
import { CreateBody } from "../contract/LinkSchemas.ts"
import { oneFault, type Problem } from "../exchange/Problem.ts"
import { isReserved } from "./ReservedAliases.ts"

/** What the checks of a create need to know of this service. */
export interface CreatePolicy extends LinkPolicy {
  readonly defaultExpiry: Option.Option<Iso8601.Duration>
}

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

/** Whether a create of an owner gets a minted key, and needs nothing else first. */
export const isPlain = ({ draft, password, reuse }: Create, owner: string | null): boolean =>
  draft.alias === null && password === null && !(reuse && owner !== null)

/** Checks the body of a create at `now` (milliseconds since the Unix epoch): gives what to create, or the problem to answer. Step by step, since a bulk has a thousand. */
export const check = (json: unknown, policy: CreatePolicy, now: number): Either.Either<Create, Problem> => {
  const decoded = decodeBody(json)
  if (Either.isLeft(decoded)) return Either.left(decoded.left)
  const body = decoded.right
  const url = checkUrl(body.url, policy)
  if (Either.isLeft(url)) return Either.left(url.left)
  const alias = checkAlias(body.alias)
  if (Either.isLeft(alias)) return Either.left(alias.left)
  const end = checkEnd(body, now, policy.defaultExpiry)
  if (Either.isLeft(end)) return Either.left(end.left)
  const beginning =
    body.validSince === undefined ? Either.right(null) : checkMoment("validSince", body.validSince)
  if (Either.isLeft(beginning)) return Either.left(beginning.left)
  const expiresAt = end.right ?? null
  const validSince = beginning.right
  const order = checkOrder("validSince", validSince, expiresAt)
  if (Either.isLeft(order)) return Either.left(order.left)
  const draft = {
    url: url.right,
    alias: alias.right,
    title: body.title ?? unlessChosen.title,
    tags: body.tags === undefined ? unlessChosen.tags : distinct(body.tags),
    validSince,
    expiresAt,
    maxVisits: body.maxVisits ?? unlessChosen.maxVisits,
    redirectStatus: body.redirectStatus ?? unlessChosen.redirectStatus,
    forwardQuery: body.forwardQuery ?? unlessChosen.forwardQuery,
    crawlable: body.crawlable ?? unlessChosen.crawlable
  }
  return Either.right({ draft, password: body.password ?? null, reuse: body.reuse ?? false })
}
