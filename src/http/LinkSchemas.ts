import { Schema } from "effect"
import { RedirectStatus } from "../Link.ts"

/** Bounds of what a link's creator says of it; lengths count characters (Unicode code points). */
const titleLengthMax = 256
const tagLengthMax = 64
const tagsMax = 20
const visitsMax = 1_000_000_000

/** Characters of a short key or alias. */
const keyCharacters = /^[A-Za-z0-9_-]+$/

/** Whether a path segment can be a short key or an alias at all. */
export const isKeyShaped = (text: string): boolean => text.length <= 64 && keyCharacters.test(text)

// With messages of their own: a schema's would quote the whole value, whatever its size and depth.
const Text = Schema.String.annotations({ message: () => "must be a string" })
const Flag = Schema.Boolean.annotations({ message: () => "must be true or false" })
const Status = RedirectStatus.annotations({
  message: () => ({ message: "must be 301, 302, 307 or 308", override: true })
})

const Alias = Text.pipe(
  Schema.minLength(3, { message: () => "must have 3 to 64 characters" }),
  Schema.maxLength(64, { message: () => "must have 3 to 64 characters" }),
  Schema.pattern(keyCharacters, { message: () => "may contain A-Z, a-z, 0-9, - and _ only" })
)

/** Text of 1 to `max` characters that every database can hold: without control characters and halves of characters. */
const plainText = (max: number) =>
  Text.pipe(
    Schema.filter((text) => text.length > 0 && Array.from(text).length <= max, {
      jsonSchema: { minLength: 1, maxLength: max },
      message: () => `must have 1 to ${max} characters`
    }),
    Schema.pattern(/^[^\p{Cc}\p{Cs}]*$/u, { message: () => "may not contain control characters" })
  )

const Tags = Schema.Array(plainText(tagLengthMax))
  .annotations({ message: () => "must be a list of strings" })
  .pipe(
    Schema.maxItems(tagsMax, { message: () => `may have ${tagsMax} tags at most` }),
    Schema.annotations({ description: "A tag that comes twice counts once" })
  )

const wholeNumber = (max: number) => {
  const message = () => `must be a whole number from 1 to ${max.toLocaleString("en")}`
  return Schema.Number.annotations({ message }).pipe(
    Schema.int({ message }),
    Schema.between(1, max, { message })
  )
}

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

const Moment = Text.annotations({ description: "RFC 3339 date-time" })

/** The body of a create. What the schema alone cannot say of a field is checked by `CreateRequest`. */
export const CreateBody = Schema.Struct({
  url: Text.annotations({ description: "Target: http or https, at most 2,048 characters" }),
  alias: optional(Alias),
  expiresAt: optional(Moment),
  expiresIn: optional(Text.annotations({ description: "ISO 8601 duration, such as P30D" })),
  validSince: optional(Moment),
  maxVisits: optional(wholeNumber(visitsMax)),
  title: optional(plainText(titleLengthMax)),
  tags: optional(Tags),
  redirectStatus: optional(Status),
  forwardQuery: optional(Flag),
  crawlable: optional(Flag)
}).annotations({ identifier: "CreateLink" })

/** A link as clients see it; times are RFC 3339 in UTC. */
export const LinkBody = Schema.Struct({
  key: Schema.String,
  shortUrl: Schema.String,
  url: Schema.String,
  title: Schema.NullOr(Schema.String),
  tags: Schema.Array(Schema.String),
  createdAt: Schema.String,
  updatedAt: Schema.String,
  expiresAt: Schema.NullOr(Schema.String),
  validSince: Schema.NullOr(Schema.String),
  maxVisits: Schema.NullOr(Schema.Number),
  redirectStatus: RedirectStatus,
  forwardQuery: Schema.Boolean,
  crawlable: Schema.Boolean,
  hasPassword: Schema.Boolean,
  custom: Schema.Boolean,
  visits: Schema.Struct({ total: Schema.Number, nonBots: Schema.Number, bots: Schema.Number })
}).annotations({ identifier: "Link" })

/** What anybody may know of a link. `url` is `null` where a password guards it. */
export const PreviewBody = Schema.Struct({
  key: Schema.String,
  shortUrl: Schema.String,
  url: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  visits: Schema.Number
}).annotations({ identifier: "Preview" })
