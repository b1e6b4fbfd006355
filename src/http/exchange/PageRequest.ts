import { Either, Schema } from "effect"
import type { Message } from "../../model/Messages.ts"

/** A query parameter as it came: text, or a list where it was there more than once. */
export type QueryText = string | ReadonlyArray<string>

/**
 * A query parameter that may be left out, as the contract says it by `jsonSchema`. Any text is let through: the route checks it and answers
 * with a problem that names it, which Effect would not do.
 */
export const queryParameter = (jsonSchema: object) =>
  Schema.optionalWith(Schema.Union(Schema.String, Schema.Array(Schema.String)).annotations({ jsonSchema }), {
    exact: true
  })

/** A {@link queryParameter} that is a moment. */
export const momentParameter = (description: string) =>
  queryParameter({ type: "string", format: "date-time", description })

/** A place in a list by moments: when, in milliseconds since the Unix epoch, and of what. */
export interface Place {
  readonly at: number
  readonly id: string
}

/** How many entries a page has: at most, and unless asked for otherwise. */
export interface PageBounds {
  readonly max: number
  readonly byDefault: number
}

/** The query parameters of a list that comes page by page, for the contract. */
export const parametersOf = ({ byDefault, max }: PageBounds) => ({
  limit: queryParameter({ type: "integer", minimum: 1, maximum: max, default: byDefault }),
  cursor: queryParameter({ type: "string", description: "The nextCursor of the page before" })
})

/** A cursor's content: a place in the list. It grants nothing: callers see only what they may see. */
const Cursor = Schema.StringFromBase64Url.pipe(
  Schema.compose(
    Schema.parseJson(Schema.Tuple(Schema.NonNegativeInt, Schema.String.pipe(Schema.pattern(/^[\w-]{1,64}$/))))
  )
)
const decodeCursor = Schema.decodeEither(Cursor)
const encodeCursor = Schema.encodeSync(Cursor)

/** The cursor of what lies behind a place. */
export const cursorOf = ({ at, id }: Place): string => encodeCursor([at, id])

/** The first `limit` of what was found, and the cursor of what lies behind them. One more than `limit` was asked for, to know whether there is more. */
export const pageOf = <A>(found: ReadonlyArray<A>, limit: number, placeOf: (entry: A) => Place) => ({
  page: found.slice(0, limit),
  nextCursor: found.length > limit ? cursorOf(placeOf(found[limit - 1]!)) : null
})

/** Understands the parameters of a page. `fault` receives what is wrong with them. */
export const check = (
  parameters: { readonly limit?: QueryText; readonly cursor?: QueryText },
  { byDefault, max }: PageBounds,
  fault: (path: string, message: Message) => void
): { readonly limit: number; readonly after: Place | null } => {
  const { cursor, limit = String(byDefault) } = parameters
  const wanted = typeof limit === "string" && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (wanted < 1 || wanted > max) fault("limit", `must be a whole number from 1 to ${max}`)
  if (cursor === undefined) return { limit: wanted, after: null }
  const content = typeof cursor === "string" ? Either.getOrUndefined(decodeCursor(cursor)) : undefined
  if (content === undefined) fault("cursor", "is not a cursor of this service")
  return { limit: wanted, after: content === undefined ? null : { at: content[0], id: content[1] } }
}
