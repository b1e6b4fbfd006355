import { Record, Schema, Struct } from "effect"
import { aliasMax, aliasPattern, isAlias, segmentsMax } from "../../model/Alias.ts"
import { domainKeyOf } from "../../keys/QualifiedKey.ts"
import { LinkExtras, RedirectStatus } from "../../model/Link.ts"
import { Rules, Variants } from "../../model/Rules.ts"
import * as Problem from "../exchange/Problem.ts"
import { passwordLengthMax } from "../../accounts/Passwords.ts"

/** Bounds of a link's fields; lengths count characters (Unicode code points). */
const titleLengthMax = 256
const tagLengthMax = 64
const cardDescriptionMax = 512
const noteLengthMax = 1_024
const tagsMax = 20
const visitsMax = 1_000_000_000

/** Whether a text can be that of a link as it is stored: a key, or one with the number of its domain. */
export const isLinkText = (text: string): boolean => {
  const { domain, key } = domainKeyOf(text)
  return isAlias(key) && Number.isSafeInteger(domain)
}

/** Whether a path segment can be an id of this service: the database is not asked for other texts, which it might refuse. */
export const isIdShaped = (text: string): boolean => /^[\w-]{1,64}$/.test(text)

// With messages of their own: a schema's would quote the whole value, whatever its size and depth.
/** Any text. */
export const Text = Schema.String.annotations({ message: () => "must be a string" })
/** Yes or no. */
export const Flag = Schema.Boolean.annotations({ message: () => "must be true or false" })
const Status = RedirectStatus.annotations({
  message: () => ({ message: "must be 301, 302, 307 or 308", override: true })
})

const QueryPrecedence = Schema.Literal("append", "request", "target").annotations({
  description:
    "Whose parameter holds where the target and a forwarded query string have one of the same name",
  message: () => ({ message: "must be append, request or target", override: true })
})

/** Characters of an alias at least, unless an administrator makes it. */
export const aliasMin = 3

/** What is said of an alias that is too long or too short. */
export const aliasLengthFault = `must have ${aliasMin} to ${aliasMax} characters`

const Alias = Text.pipe(
  Schema.minLength(1, { message: () => aliasLengthFault }),
  Schema.maxLength(aliasMax, { message: () => aliasLengthFault }),
  Schema.filter(isAlias, {
    jsonSchema: { pattern: aliasPattern.source },
    message: () =>
      `may contain A-Z, a-z, 0-9, - and _ only, in up to ${segmentsMax} segments with a slash between them`
  }),
  Schema.annotations({
    description: `Up to ${segmentsMax} segments with a slash between them, of ${aliasMin} characters at least each, unless an administrator makes the link. In a domain that ignores case it is kept in lower case`
  })
)

/** The host name of a domain of this service. */
const Domain = Text.pipe(
  Schema.maxLength(253, { message: () => "must have at most 253 characters" }),
  Schema.annotations({ description: "The domain of the link: the default one where it is missing" })
)

/** Text of 1 to `max` characters. */
const bounded = (max: number) =>
  Text.pipe(
    // A character has at most two code units: longer texts need not be split.
    Schema.filter((text) => text.length > 0 && text.length <= 2 * max && Array.from(text).length <= max, {
      jsonSchema: { minLength: 1, maxLength: max },
      message: () => `must have 1 to ${max.toLocaleString("en")} characters`
    })
  )

/** Text of 1 to `max` characters that every database can hold: without control characters and halves of characters. */
export const plainText = (max: number) =>
  bounded(max).pipe(
    Schema.pattern(/^[^\p{Cc}\p{Cs}]*$/u, { message: () => "may not contain control characters" })
  )

/** {@link plainText} that can have several lines. */
const textOfLines = (max: number) =>
  bounded(max).pipe(
    Schema.pattern(/^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u, {
      message: () => "may not contain control characters other than line breaks and tabs"
    })
  )

const Tags = Schema.Array(plainText(tagLengthMax))
  .annotations({ message: () => "must be a list of strings" })
  .pipe(
    Schema.maxItems(tagsMax, { message: () => `may have ${tagsMax} tags at most` }),
    Schema.annotations({ description: "A tag that comes twice counts once" })
  )

const wholeBetween = (min: number, max: number) => {
  const message = () => `must be a whole number from ${min} to ${max.toLocaleString("en")}`
  return Schema.Number.annotations({ message }).pipe(
    Schema.int({ message }),
    Schema.between(min, max, { message })
  )
}

/** A whole number from 1 to `max`. */
export const wholeNumber = (max: number) => wholeBetween(1, max)

/** A field that may be missing, and may not be `null`. */
export const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Schema.optionalWith(schema, { exact: true })

/** A moment as clients write it; see `Iso8601.parseMoment`. */
export const Moment = Text.annotations({
  description: "RFC 3339 date-time",
  jsonSchema: { type: "string", format: "date-time" }
})

/** A URL as clients write it; see `TargetUrl`. */
export const Url = Text.annotations({
  description: "http or https, at most 2,048 characters",
  jsonSchema: { type: "string", format: "uri" }
})

const Card = Schema.Struct({
  title: optional(plainText(titleLengthMax)),
  description: optional(plainText(cardDescriptionMax)),
  image: optional(Url.annotations({ description: "The address of an image: a URL like that of a link" }))
}).annotations({
  description:
    "What chats and social sites show of the link: their crawlers get it instead of a redirect. It has one member at least",
  message: () => ({ message: "must be an object", override: false })
})

/** The fields of a create beside the target and the key, which can be changed and cleared later. */
const settings = {
  expiresAt: Moment,
  expiresIn: Text.annotations({
    description: "ISO 8601 duration, such as P30D",
    jsonSchema: { type: "string", format: "duration" }
  }),
  validSince: Moment,
  maxVisits: wholeNumber(visitsMax),
  password: plainText(passwordLengthMax),
  title: plainText(titleLengthMax),
  tags: Tags,
  redirectStatus: Status,
  forwardQuery: Flag,
  crawlable: Flag,
  expiredUrl: Url.annotations({
    description: "Where visitors are sent once the link has expired or is used up: a URL like that of a link"
  }),
  forwardPath: Flag.annotations({
    description: "Appends the path that follows the key to the target's path"
  }),
  queryPrecedence: QueryPrecedence,
  card: Card,
  rules: Rules,
  variants: Variants,
  note: textOfLines(noteLengthMax).annotations({
    description: "What the owner notes about the link. Shown to the owner and administrators alone"
  }),
  archived: Flag.annotations({
    description: "It redirects as before, and is in those lists alone that ask for archived links"
  }),
  publicStats: Flag.annotations({
    description:
      "Whether anybody may see the link's statistics, but for those of its rules, campaigns and cities"
  })
}

/** See {@link settings}. */
export const settingNames = Struct.keys(settings)

const whatever = Schema.partialWith(Schema.Struct(settings), { exact: true })

/** Visits that were counted elsewhere, at most. */
const importedMax = 1_000_000_000_000

/** What a link brings along that existed elsewhere before. */
const Imported = Schema.Struct({
  createdAt: optional(Moment.annotations({ description: "Not in the future" })),
  updatedAt: optional(Moment.annotations({ description: "From createdAt on, not in the future" })),
  visits: optional(wholeBetween(0, importedMax)),
  bots: optional(wholeBetween(0, importedMax).annotations({ description: "How many of the visits" })),
  visitsLeft: optional(
    wholeBetween(0, visitsMax).annotations({ description: "Redirects that are left of maxVisits" })
  )
}).annotations({
  description: "For users: the link existed elsewhere before. It may have expired already",
  message: () => ({ message: "must be an object", override: false })
})

/** The body of a create. What the schema alone cannot say of a field is checked by `CreatePlan`. */
export const CreateBody = Schema.Struct({
  url: Url,
  alias: optional(Alias),
  domain: optional(Domain),
  reuse: optional(
    Flag.annotations({ description: "Give the caller's own link of this URL, if there is one" })
  ),
  imported: optional(Imported)
})
  .pipe(Schema.extend(whatever))
  .annotations({ identifier: "CreateLink" })

/** Links in one bulk at most. */
export const bulkMax = 1_000

/** The body of a bulk, for the contract. Each item is checked by itself, so that it fails alone. */
export const BulkBody = Schema.Struct({
  links: Schema.Array(CreateBody).pipe(Schema.minItems(1), Schema.maxItems(bulkMax))
}).annotations({ identifier: "CreateLinks" })

/** The body of a patch without the settings that it clears. What the schema alone cannot say of a field is checked by `PatchRequest`. */
export const ChangeBody = Schema.Struct({ url: optional(Url) }).pipe(Schema.extend(whatever))

/** The body of a patch, for the contract: `null` clears. */
export const PatchBody = Schema.Struct({
  url: optional(Url),
  ...Record.map(settings, (schema: Schema.Schema.AnyNoContext) =>
    Schema.optionalWith(Schema.NullOr(schema), { exact: true })
  )
}).annotations({ identifier: "ChangeLink" })

/** Links that one bulk edit looks at, at most. */
export const bulkEditMax = 200

/** The body of a bulk edit, for the contract. What to change is checked by `PatchRequest`, for each link. */
export const BulkEditBody = Schema.Struct({
  filter: Schema.Struct({
    q: optional(Text),
    tag: optional(Text),
    notTag: optional(Text),
    archived: optional(Text),
    domain: optional(Text),
    owner: optional(Text)
  }).annotations({
    description: "The links that a list with these parameters has",
    message: () => ({ message: "must be an object", override: false })
  }),
  change: optional(
    Schema.Struct({
      ...PatchBody.fields,
      addTags: optional(Tags),
      removeTags: optional(Tags)
    }).annotations({ description: "Changes each link as PATCH does; tags can be added and taken away" })
  ),
  delete: optional(
    Schema.Literal(true).annotations({
      description: "Deletes each link",
      message: () => ({ message: "must be true", override: true })
    })
  ),
  dryRun: optional(Flag.annotations({ description: "Says how many links there are, and changes nothing" })),
  limit: optional(
    wholeNumber(bulkEditMax).annotations({ description: "Links that this request looks at, at most" })
  ),
  cursor: optional(Text.annotations({ description: "The nextCursor of the request before" }))
}).annotations({ identifier: "EditLinks" })

/** A list of entries. */
export const listOf = <A, I>(entry: Schema.Schema<A, I>, identifier: string) =>
  Schema.Struct({ data: Schema.Array(entry) }).annotations({ identifier })

/** A page of a list, and the cursor of the next page, if there is one. */
export const pageOf = <A, I>(entry: Schema.Schema<A, I>, identifier: string) =>
  Schema.Struct({ data: Schema.Array(entry), nextCursor: Schema.NullOr(Schema.String) }).annotations({
    identifier
  })

const inFurtherDomain = optional(
  Schema.String.annotations({ description: "The link's domain, unless that is the default one" })
)

const Total = Schema.Struct({ count: Schema.Number, isExact: Schema.Boolean }).annotations({
  description: "Where isExact is false, there are more than count, or not all links were searched"
})

const Partial = Schema.Boolean.annotations({
  description:
    "true: links are missing, or the visits of some are unavailable, because one of the databases that have them does not answer"
})

const Visits = Schema.Struct({
  total: Schema.Number,
  nonBots: Schema.Number,
  bots: Schema.Number,
  unavailable: optional(
    Schema.Literal(true).annotations({
      description: "The database that has them does not answer, and the numbers are 0"
    })
  )
})

/** A link as clients see it; times are RFC 3339 in UTC. */
export const LinkBody = Schema.Struct({
  key: Schema.String,
  domain: inFurtherDomain,
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
  /** Only where there is a `maxVisits`. */
  visitsLeft: optional(
    Schema.Number.annotations({ description: "Redirects that are left of maxVisits, where it has one" })
  ),
  visits: Visits,
  importedVisits: optional(
    Visits.annotations({ description: "What was counted before the link was imported, where that is known" })
  ),
  // What few links have is shown only where it is chosen.
  ...LinkExtras.fields
}).annotations({ identifier: "Link" })

/** The answer to a bulk: the result of each item, in the order given. */
export const BulkAnswer = Schema.Struct({
  results: Schema.Array(
    Schema.Union(
      Schema.Struct({
        status: Schema.Literal(200, 201),
        replayed: optional(
          Schema.Literal(true).annotations({ description: "It is the answer of an earlier request again" })
        ),
        link: LinkBody
      }),
      Schema.Struct({ status: Schema.Number, problem: Problem.ProblemBody })
    )
  )
}).annotations({ identifier: "CreatedLinks" })

const editedLink = { key: Schema.String, domain: inFurtherDomain, status: Schema.Number }

/** The answer to a bulk edit: what became of each link, the newest first. */
export const BulkEditAnswer = Schema.Struct({
  changed: Schema.Number,
  unchanged: Schema.Number.annotations({ description: "Links that are already as they should be" }),
  failed: Schema.Number,
  results: Schema.Array(
    Schema.Union(
      Schema.Struct({ ...editedLink, changed: Schema.Boolean }),
      Schema.Struct({ ...editedLink, problem: Problem.ProblemBody })
    )
  ),
  nextCursor: Schema.NullOr(Schema.String),
  total: optional(Total.annotations({ description: "How many links there are. In a dry run alone" })),
  partial: optional(Partial)
}).annotations({ identifier: "EditedLinks" })

/** What anybody may know of a link. `url` is `null` where a password guards it. */
export const PreviewBody = Schema.Struct({
  key: Schema.String,
  domain: inFurtherDomain,
  shortUrl: Schema.String,
  url: Schema.NullOr(Schema.String),
  varies: optional(
    Schema.Literal(true).annotations({
      description:
        "The link has rules or variants: url is where it leads who asks, and others may be led elsewhere"
    })
  ),
  createdAt: Schema.String,
  visits: Schema.Number
}).annotations({ identifier: "Preview" })

/** A page of links as clients see it. */
export const LinksBody = Schema.Struct({
  ...pageOf(LinkBody, "Links").fields,
  /** How many links all pages have, where that was asked for. */
  total: optional(Total),
  partial: optional(Partial)
}).annotations({ identifier: "Links" })
