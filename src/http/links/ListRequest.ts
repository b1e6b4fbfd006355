import { Either, Schema } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { isRanked, type LinkOrder, type LinkQuery, type Position } from "../../storage/links/LinkStore.ts"
import { isLinkText } from "../contract/LinkSchemas.ts"
import type { KnownDomains } from "../domains/Domains.ts"
import { type Fault, faulty, type Problem } from "../exchange/Problem.ts"
import { type QueryText, queryParameter } from "../exchange/PageRequest.ts"
import type { Message } from "../../model/Messages.ts"

/** Links on a page: at most, and unless asked for otherwise. */
const limitMax = 500
const limitDefault = 50

/** Characters of what is searched for at most. */
const searchMax = 256

/**
 * Links that are looked at for a page of a search at most: some 0.1 s of work for the database. A page can have fewer links than were asked for
 * because of it, and then says where the next one begins.
 */
const lookedAtMax = 50_000

/** Links that are counted for a total at most. */
const countedMax = 10_000

const byAge = ["createdAt-desc", "createdAt-asc"] as const
const byVisits = ["visits-desc", "lastVisit-desc"] as const
const orders = [...byAge, ...byVisits] as const satisfies ReadonlyArray<LinkOrder>

/** Which links a list has. */
const archives = ["false", "true", "any"] as const

const text = (description: string) =>
  queryParameter({ type: "string", minLength: 1, maxLength: searchMax, description })

/** The query parameters of a list, for the contract. */
export const ListParameters = Schema.Struct({
  limit: queryParameter({ type: "integer", minimum: 1, maximum: limitMax, default: limitDefault }),
  cursor: queryParameter({
    type: "string",
    description: "The nextCursor of the page before, in the same order"
  }),
  q: text("Is in the key, the URL or the title, in whatever case"),
  tag: text("A tag of the link, to the letter"),
  notTag: text("A tag that the link does not have, to the letter"),
  archived: queryParameter({
    type: "string",
    enum: archives,
    default: archives[0],
    description: "Whether the links are archived, or may be"
  }),
  domain: text("The host name of the domain that the link is in: all domains where it is missing"),
  orderBy: queryParameter({ type: "string", enum: orders, default: orders[0] }),
  total: queryParameter({
    type: "string",
    enum: ["true", "false"],
    default: "false",
    description: "Whether the answer has the number of links on all pages"
  }),
  owner: text("For administrators: the user whose links are listed, instead of everybody's")
})

const Moment = Schema.NonNegativeInt
const Key = Schema.String.pipe(Schema.filter((key) => isLinkText(key)))

/** A cursor's content: an order and a place in it, with its rank where the order has one. It grants nothing: callers see only their own links. */
const Cursor = Schema.StringFromBase64Url.pipe(
  Schema.compose(
    Schema.parseJson(
      Schema.Union(
        Schema.Tuple(Schema.Literal(...byAge), Moment, Key),
        Schema.Tuple(Schema.Literal(...byVisits), Moment, Key, Schema.NonNegativeInt)
      )
    )
  )
)

const decodeCursor = Schema.decodeEither(Cursor)
const encodeCursor = Schema.encodeSync(Cursor)

/** The cursor of what lies behind a place in an order. */
export const cursorOf = (order: LinkOrder, { createdAt, key, rank = 0 }: Position): string =>
  encodeCursor(isRanked(order) ? [order, createdAt, key, rank] : [order, createdAt, key])

// With control characters and halves of characters PostgreSQL would refuse the query.
const isSearchable = (value: string) =>
  /^[^\p{Cc}\p{Cs}]+$/u.test(value) && Array.from(value).length <= searchMax

const isOneOf = <A extends string>(values: ReadonlyArray<A>, value: QueryText): value is A =>
  values.some((known) => known === value)

/** Checks a list's parameters: gives what the caller may see of it, or the problem to answer. */
export const check = (
  parameters: typeof ListParameters.Type,
  caller: KnownCaller,
  domains: KnownDomains
): Either.Either<LinkQuery, Problem> => {
  const {
    archived = archives[0],
    cursor,
    domain,
    limit = String(limitDefault),
    notTag,
    orderBy = orders[0],
    owner,
    q,
    tag,
    total = "false"
  } = parameters
  const errors: Array<Fault> = []
  const fault = (path: string, message: Message) => void errors.push({ path, message })

  const searched = (path: string, value: QueryText | undefined): string | undefined => {
    if (value === undefined || (typeof value === "string" && isSearchable(value))) return value as string
    fault(path, `must have 1 to ${searchMax} characters, and no control characters`)
    return undefined
  }

  const wanted = typeof limit === "string" && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (wanted < 1 || wanted > limitMax) fault("limit", `must be a whole number from 1 to ${limitMax}`)
  const order = isOneOf(orders, orderBy) ? orderBy : orders[0]
  if (order !== orderBy) {
    fault("orderBy", "must be createdAt-desc, createdAt-asc, visits-desc or lastVisit-desc")
  }

  if (!isOneOf(archives, archived)) fault("archived", "must be false, true or any")
  if (total !== "true" && total !== "false") fault("total", "must be true or false")

  const placeOf = (cursor: QueryText): Position | undefined => {
    const content = typeof cursor === "string" ? Either.getOrUndefined(decodeCursor(cursor)) : undefined
    if (content === undefined) return void fault("cursor", "is not a cursor of this service")
    const [of, createdAt, key] = content
    if (of !== order) return void fault("cursor", `belongs to a list in the order ${of}`)
    return content.length === 4 ? { createdAt, key, rank: content[3] } : { createdAt, key }
  }

  const domainOf = (host: QueryText): number | undefined => {
    const number = typeof host === "string" ? domains.numberAt(host) : undefined
    if (number === undefined) fault("domain", "is not a domain of this service")
    return number
  }

  const query = {
    order,
    limit: wanted,
    lookedAtMax,
    countedMax: total === "true" ? countedMax : undefined,
    text: searched("q", q),
    tag: searched("tag", tag),
    notTag: searched("notTag", notTag),
    archived: archived === "any" ? undefined : archived === "true",
    domain: domain === undefined ? undefined : domainOf(domain),
    owner: searched("owner", owner),
    after: cursor === undefined ? undefined : placeOf(cursor)
  }
  if (errors.length > 0) return Either.left(faulty("invalid-request", errors))
  if (caller.isAdmin) return Either.right(query)
  return query.owner === undefined || query.owner === caller.userId
    ? Either.right({ ...query, owner: caller.userId })
    : Either.left({ kind: "forbidden", detail: "The links of others are listed for administrators alone." })
}
