import { Schema } from "effect"
import { Rules, Variants } from "./Rules.ts"

/** Statuses that a redirect may have. */
export const RedirectStatus = Schema.Literal(301, 302, 307, 308)
/** See {@link RedirectStatus}. */
export type RedirectStatus = typeof RedirectStatus.Type

/** What the creator of a link chooses, and may change later. Times are milliseconds since the Unix epoch. */
const choices = {
  url: Schema.String,
  title: Schema.NullOr(Schema.String),
  tags: Schema.Array(Schema.String),
  /** It redirects from this moment on, until `expiresAt`. */
  validSince: Schema.NullOr(Schema.Number),
  expiresAt: Schema.NullOr(Schema.Number),
  /** Redirects at most. */
  maxVisits: Schema.NullOr(Schema.Number),
  passwordHash: Schema.NullOr(Schema.String),
  redirectStatus: RedirectStatus,
  /** Whether the query string of the short URL is merged into the target's. */
  forwardQuery: Schema.Boolean,
  /** Whether `robots.txt` lets crawlers follow it. */
  crawlable: Schema.Boolean
}

/** See {@link choices}. */
export const LinkChoices = Schema.Struct(choices)
/** See {@link LinkChoices}. */
export type LinkChoices = typeof LinkChoices.Type

const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** What crawlers of chats and social sites are shown of a link instead of its target. It has one member at least. */
export const LinkCard = Schema.Struct({
  title: maybe(Schema.String),
  description: maybe(Schema.String),
  /** The address of an image. */
  image: maybe(Schema.String)
})
/** See {@link LinkCard}. */
export type LinkCard = typeof LinkCard.Type

/** What a creator can choose beside {@link choices}, and few do. A link has one member at least, or no extras. No member is `null`, and no member of a member. */
export const LinkExtras = Schema.Struct({
  /** Where visitors are sent once the link has expired or is used up. */
  expiredUrl: maybe(Schema.String),
  /** The path that follows the key in a request is appended to the target's. */
  forwardPath: maybe(Schema.Literal(true)),
  /** Whose parameter holds where the target and a forwarded query string have one of the same name. Without it both do. */
  queryPrecedence: maybe(Schema.Literal("request", "target")),
  card: maybe(LinkCard),
  rules: maybe(Rules),
  variants: maybe(Variants),
  /** What its owner notes about it, shown to its owner and administrators alone. */
  note: maybe(Schema.String),
  /** It redirects as before, and is in those lists alone that ask for it. */
  archived: maybe(Schema.Literal(true)),
  /** Whether anybody may see its statistics. */
  publicStats: maybe(Schema.Literal(true))
})
/** See {@link LinkExtras}. */
export type LinkExtras = typeof LinkExtras.Type

const orRemoved = <A, I>({ from }: { readonly from: Schema.Schema<A, I> }) => maybe(Schema.NullOr(from))

/** The members of the extras that an owner changes, each as a whole: `null` removes it, the others stay as they are. */
export const ExtrasChange = Schema.Struct({
  expiredUrl: orRemoved(LinkExtras.fields.expiredUrl),
  forwardPath: orRemoved(LinkExtras.fields.forwardPath),
  queryPrecedence: orRemoved(LinkExtras.fields.queryPrecedence),
  card: orRemoved(LinkExtras.fields.card),
  rules: orRemoved(LinkExtras.fields.rules),
  variants: orRemoved(LinkExtras.fields.variants),
  note: orRemoved(LinkExtras.fields.note),
  archived: orRemoved(LinkExtras.fields.archived),
  publicStats: orRemoved(LinkExtras.fields.publicStats)
} satisfies Readonly<Record<keyof LinkExtras, unknown>>)
/** See {@link ExtrasChange}. */
export type ExtrasChange = typeof ExtrasChange.Type

/** The fields of a link that its owner changes: the others stay as they are. */
export const LinkChange = Schema.partialWith(LinkChoices, { exact: true }).pipe(
  Schema.extend(Schema.Struct({ extras: maybe(ExtrasChange) }))
)
/** See {@link LinkChange}. */
export type LinkChange = typeof LinkChange.Type

/** The defaults of a link's fields. */
export const unlessChosen: Omit<LinkChoices, "url"> = {
  title: null,
  tags: [],
  validSince: null,
  expiresAt: null,
  maxVisits: null,
  passwordHash: null,
  redirectStatus: 302,
  forwardQuery: false,
  crawlable: false
}

/**
 * A link as it is stored and as actors exchange it. Times are milliseconds since the Unix epoch.
 *
 * A row with `deletedAt` is a tombstone: it answers 410 and keeps its key from being bound again.
 */
export const Link = Schema.Struct({
  key: Schema.String,
  ...choices,
  /** The id of the owner; `null` if it was created anonymously. */
  owner: Schema.NullOr(Schema.String),
  /** Whether the key is an alias that the caller chose, rather than a minted key. */
  custom: Schema.Boolean,
  createdAt: Schema.Number,
  updatedAt: Schema.Number,
  deletedAt: Schema.NullOr(Schema.Number),
  /** The API key by which it was made, and how many redirects a day (of UTC) that allows its links; only where it has such a limit. */
  keyId: Schema.optionalWith(Schema.String, { exact: true }),
  keyRedirectsPerDay: Schema.optionalWith(Schema.Number, { exact: true }),
  /** Visits that another service, or another deployment, had counted before the link came here. Only where there are some. */
  importedVisits: Schema.optionalWith(Schema.Struct({ nonBots: Schema.Number, bots: Schema.Number }), {
    exact: true
  }),
  /** See {@link LinkExtras}. */
  extras: maybe(LinkExtras),
  /** Redirects that are left of `maxVisits`, below zero where a change has lowered that below those used; `null` exactly where that is. Only the store has the newest number. */
  visitsLeft: Schema.NullOr(Schema.Number),
  /**
   * A number that only this create has, so that its repeat is recognized. Not read back. In a row that was changed it is the number
   * of the newest change, in a tombstone that of the deletion.
   */
  createId: Schema.optionalWith(Schema.Number, { exact: true })
})
/** See {@link Link}. */
export type Link = typeof Link.Type

/** The state of a link: it redirects (`live`), does not yet (`pending`), or does not any more. */
export type LinkState = "live" | "pending" | "expired" | "used-up" | "deleted"

/** The state of a link at `now` (milliseconds since the Unix epoch). It is valid from `validSince` on, and expires at `expiresAt`, not after it. */
export const stateAt = (link: Link, now: number): LinkState => {
  if (link.deletedAt !== null) return "deleted"
  if (link.expiresAt !== null && link.expiresAt <= now) return "expired"
  if (link.validSince !== null && now < link.validSince) return "pending"
  return link.visitsLeft !== null && link.visitsLeft <= 0 ? "used-up" : "live"
}

/** The redirects that are left when `maxVisits` changes: those used under the former limits count, if there were any. */
const visitsLeftOf = (link: Link, maxVisits: number | null): number | null => {
  if (maxVisits === null) return null
  const used = (link.maxVisits ?? 0) - (link.visitsLeft ?? 0)
  return maxVisits - used
}

/** The redirects that are left as they are shown: none where more were used than are allowed by now. */
export const shownVisitsLeft = (visitsLeft: number): number => Math.max(0, visitsLeft)

/**
 * The fields of a link that filters of lists look at, as somebody has read them: the condition of a write that is to be made only while the link still
 * has them. The others that filters look at never change.
 */
export const LinkCondition = Schema.Struct({
  url: choices.url,
  title: choices.title,
  tags: choices.tags,
  archived: Schema.Boolean
})
/** See {@link LinkCondition}. */
export type LinkCondition = typeof LinkCondition.Type

/** The condition that a link is still as this one. */
export const conditionOf = ({ extras, tags, title, url }: Link): LinkCondition => ({
  url,
  title,
  tags,
  archived: extras?.archived === true
})

const isSameCondition = Schema.equivalence(LinkCondition)

/** Whether a link meets a condition, if there is one. */
export const meets = (link: Link, condition: LinkCondition | undefined): boolean =>
  condition === undefined || isSameCondition(conditionOf(link), condition)

/** Extras as a change leaves them; `undefined` where none are left. */
export const changedExtras = (
  before: LinkExtras | undefined,
  change: ExtrasChange
): LinkExtras | undefined => {
  const after = Object.entries({ ...before, ...change }).filter(([, member]) => member !== null)
  return after.length === 0 ? undefined : Object.fromEntries(after)
}

/** The link as a change leaves it. */
export const changed = (link: Link, { extras: extrasChange, ...change }: LinkChange): Link => {
  const { extras: before, ...others } = link
  const extras = extrasChange === undefined ? before : changedExtras(before, extrasChange)
  return {
    ...others,
    ...change,
    ...(extras !== undefined && { extras }),
    ...(change.maxVisits !== undefined && { visitsLeft: visitsLeftOf(link, change.maxVisits) })
  }
}
