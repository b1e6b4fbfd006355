import { Schema } from "effect"

/**
 * A link as it is stored and as actors exchange it. Times are milliseconds since the Unix epoch.
 *
 * A row with `deletedAt` is a tombstone: it answers 410 and keeps its key from being bound again.
 */
export const Link = Schema.Struct({
  key: Schema.String,
  url: Schema.String,
  /** Whether the key is an alias that the caller chose, rather than a minted key. */
  custom: Schema.Boolean,
  createdAt: Schema.Number,
  updatedAt: Schema.Number,
  expiresAt: Schema.NullOr(Schema.Number),
  deletedAt: Schema.NullOr(Schema.Number),
  /**
   * A number that this create alone has, so that its repeat is known for what it is. Not read back. In a tombstone it is the number of the deletion,
   * for the same reason.
   */
  createId: Schema.optionalWith(Schema.Number, { exact: true })
})
/** See {@link Link}. */
export type Link = typeof Link.Type

/** What a key stands for at a moment: a live link, one that has ended, or nothing. */
export type LinkState = "live" | "expired" | "deleted"

/** The state of a link at `now` (milliseconds since the Unix epoch). It expires at `expiresAt`, not after it. */
export const stateAt = (link: Link, now: number): LinkState => {
  if (link.deletedAt !== null) return "deleted"
  return link.expiresAt !== null && link.expiresAt <= now ? "expired" : "live"
}
