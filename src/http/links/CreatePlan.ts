import { Either } from "effect"
import type { LinkDraft } from "../../actors/links/LinkDraft.ts"
import { foldedKey } from "../../keys/QualifiedKey.ts"
import { isLong, segmentsOf } from "../../model/Alias.ts"
import { hostNamed } from "../../model/Domain.ts"
import { type Link, unlessChosen } from "../../model/Link.ts"
import { type KnownDomains, mayUse } from "../domains/Domains.ts"
import * as Decode from "../exchange/Decode.ts"
import * as ExtraChoices from "./ExtraChoices.ts"
import { checkEnd, checkMoment, checkOrder, checkUrl, type CreatePolicy, distinct } from "./LinkChecks.ts"
import { aliasLengthFault, aliasMin, CreateBody } from "../contract/LinkSchemas.ts"
import { faulty, oneFault, type Problem } from "../exchange/Problem.ts"
import type { Repeats } from "./Idempotency.ts"
import { isReserved } from "./ReservedAliases.ts"
import type { Message } from "../../model/Messages.ts"

/** Who creates, and what their links are checked and made with. */
export interface Creator {
  /** `null` for the anonymous. */
  readonly owner: string | null
  /** Whether they are an administrator. */
  readonly isAdmin?: boolean
  /** What a link keeps of the API key by which it is made; see `Link`. */
  readonly keyLimit: Pick<Link, "keyId" | "keyRedirectsPerDay">
  readonly policy: CreatePolicy
  /** The `Idempotency-Key` of the create, if it has one. */
  readonly idempotencyKey: string | undefined
}

/** A link to be made. */
export interface PlannedLink {
  /** What is bound, but for the hash of its password. */
  readonly draft: LinkDraft
  /** Still to be hashed. */
  readonly password: string | null
  /** Whether a link of the same URL that its owner has already will do. */
  readonly mayReuse: boolean
}

/** What is to be done for a create. */
export interface CreatePlan {
  /** What its repeats are known by, where there may be some. */
  readonly repeats: Repeats | null
  /** The link to be made, or the problem to answer: a repeat gets the answer of the first try, also where it would be refused by now. */
  readonly link: Either.Either<PlannedLink, Problem>
}

/** The draft of a create that needs nothing but a minted key; `undefined` for others. */
export const plainDraftOf = ({ link, repeats }: CreatePlan): LinkDraft | undefined => {
  if (repeats !== null || Either.isLeft(link)) return undefined
  const { draft, mayReuse, password } = link.right
  return draft.alias === null && password === null && !mayReuse ? draft : undefined
}

const decodeBody = Decode.body(CreateBody)

const none = Either.right(null)

const importedForUsers = faulty("forbidden", [{ path: "imported", message: "is for users alone" }])

const refusedMoment = (field: "createdAt" | "updatedAt"): Problem =>
  faulty("invalid-request", [
    {
      path: `imported.${field}`,
      message:
        field === "createdAt"
          ? "cannot lie in the future, nor before 1970"
          : "cannot lie in the future, nor before createdAt"
    }
  ])

const tooShort = oneFault("invalid-request", "alias", aliasLengthFault)

const shortSegment = oneFault(
  "invalid-request",
  "alias",
  `must have ${aliasMin} characters at least in each segment`
)

const checkAlias = (alias: string, isAdmin: boolean): Either.Either<string, Problem> =>
  !isAdmin && segmentsOf(alias).some(({ length }) => length < aliasMin)
    ? isLong(alias)
      ? shortSegment
      : tooShort
    : isReserved(alias)
      ? oneFault("alias-reserved", "alias", `"${alias}" is reserved`)
      : Either.right(alias)

/** The number of the domain with a host name, where an owner may create links in it; `null`: it is the default one. */
const checkDomain = (
  text: string,
  owner: string | null,
  domains: KnownDomains
): Either.Either<number | null, Problem> => {
  const host = hostNamed(text)
  if (domains.isDefault(host)) return none
  const domain = domains.at(host)
  if (domain === undefined) return oneFault("invalid-request", "domain", "is not a domain of this service")
  if (!mayUse(domain, owner)) return oneFault("forbidden", "domain", "is for its owners alone")
  const { number, verifiedAt } = domain
  return verifiedAt === null
    ? oneFault("invalid-request", "domain", "has not been verified yet")
    : Either.right(number)
}

const noReuse = oneFault("invalid-request", "reuse", "cannot stand beside domain")

/** What a link brings along from elsewhere, as it is bound. */
const checkImported = (
  {
    bots = 0,
    createdAt: createdText,
    updatedAt: updatedText,
    visits = 0,
    visitsLeft
  }: NonNullable<(typeof CreateBody.Type)["imported"]>,
  maxVisits: number | undefined,
  now: number
): Either.Either<Pick<LinkDraft, "createdAt" | "updatedAt" | "visitsLeft" | "importedVisits">, Problem> =>
  Either.gen(function* () {
    const refuse = (field: string, message: Message) =>
      oneFault("invalid-request", `imported.${field}`, message)
    const momentOf = (field: "createdAt" | "updatedAt", text: string | undefined, from: number) =>
      text === undefined
        ? Either.right(undefined)
        : Either.filterOrLeft(
            checkMoment(`imported.${field}`, text),
            (moment) => moment >= from && moment <= now,
            () => refusedMoment(field)
          )
    const createdAt = yield* momentOf("createdAt", createdText, 0)
    const updatedAt = yield* momentOf("updatedAt", updatedText, createdAt ?? now)
    if (bots > visits) yield* refuse("bots", "cannot be more than the visits")
    if (visitsLeft !== undefined && visitsLeft > (maxVisits ?? 0)) {
      yield* refuse("visitsLeft", "cannot be more than maxVisits")
    }
    return {
      ...(createdAt !== undefined && { createdAt }),
      ...(updatedAt !== undefined && { updatedAt }),
      ...(visitsLeft !== undefined && { visitsLeft }),
      ...(visits > 0 && { importedVisits: { nonBots: visits - bots, bots } })
    }
  })

/** Step by step, and no step for a field that is not there, since a bulk has a thousand. */
const planLink = (
  json: unknown,
  { isAdmin = false, keyLimit, owner, policy }: Creator,
  now: number
): Either.Either<PlannedLink, Problem> => {
  const decoded = decodeBody(json)
  if (Either.isLeft(decoded)) return Either.left(decoded.left)
  const body = decoded.right
  const url = checkUrl(body.url, policy)
  if (Either.isLeft(url)) return Either.left(url.left)
  const alias = body.alias === undefined ? none : checkAlias(body.alias, isAdmin)
  if (Either.isLeft(alias)) return Either.left(alias.left)
  if (body.imported !== undefined && owner === null) return Either.left(importedForUsers)
  const imported = body.imported === undefined ? none : checkImported(body.imported, body.maxVisits, now)
  if (Either.isLeft(imported)) return Either.left(imported.left)
  const end = checkEnd(body, now, policy.defaultExpiry, body.imported !== undefined)
  if (Either.isLeft(end)) return Either.left(end.left)
  const beginning = body.validSince === undefined ? none : checkMoment("validSince", body.validSince)
  if (Either.isLeft(beginning)) return Either.left(beginning.left)
  const expiresAt = end.right ?? null
  const validSince = beginning.right
  const order = checkOrder("validSince", validSince, expiresAt)
  if (Either.isLeft(order)) return Either.left(order.left)
  const domain = body.domain === undefined ? none : checkDomain(body.domain, owner, policy.domains)
  if (Either.isLeft(domain)) return Either.left(domain.left)
  if (domain.right !== null && body.reuse === true) return noReuse
  const extras = ExtraChoices.chosenBy(body, policy)
  if (Either.isLeft(extras)) return Either.left(extras.left)
  const isFolding = alias.right !== null && domain.right !== null && policy.domains.ignoresCase(domain.right)
  const draft: LinkDraft = {
    url: url.right,
    alias: isFolding ? foldedKey(alias.right) : alias.right,
    title: body.title ?? unlessChosen.title,
    tags: body.tags === undefined ? unlessChosen.tags : distinct(body.tags),
    validSince,
    expiresAt,
    maxVisits: body.maxVisits ?? unlessChosen.maxVisits,
    passwordHash: null,
    redirectStatus: body.redirectStatus ?? unlessChosen.redirectStatus,
    forwardQuery: body.forwardQuery ?? unlessChosen.forwardQuery,
    crawlable: body.crawlable ?? unlessChosen.crawlable,
    owner,
    ...(domain.right !== null && { domain: domain.right }),
    ...(extras.right !== undefined && { extras: extras.right }),
    ...keyLimit,
    ...imported.right
  }
  // An anonymous creator has no links to be given again.
  return Either.right({
    draft,
    password: body.password ?? null,
    mayReuse: body.reuse === true && owner !== null
  })
}

/** Plans a create from its body, at `now` (milliseconds since the Unix epoch). */
export const planCreate = (json: unknown, creator: Creator, now: number): CreatePlan => {
  const { idempotencyKey, owner } = creator
  const repeats =
    idempotencyKey === undefined ? null : { key: idempotencyKey, owner, body: JSON.stringify(json) }
  return { repeats, link: planLink(json, creator, now) }
}
