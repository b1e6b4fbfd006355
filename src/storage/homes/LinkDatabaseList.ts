import type { SqlClient } from "@effect/sql"
import { Context, Effect } from "effect"

/** Databases of links that this node speaks to, by number. By default the control database alone. */
export class LinkDatabaseList extends Context.Reference<LinkDatabaseList>()("linkmint/LinkDatabaseList", {
  defaultValue: (): ReadonlyArray<ListedDatabase> => []
}) {}

/** A database of links, as it is shown. */
export interface ListedDatabase {
  readonly number: number
  readonly sql: SqlClient.SqlClient
  readonly isAway: () => boolean
  /** How many buckets are at home there. */
  readonly buckets: () => number
}

/** Carries messages and free keys from the further databases to the control database, and has visits forgotten in theirs, some at a time. By default there are none. */
export class LinkCarrier extends Context.Reference<LinkCarrier>()("linkmint/LinkCarrier", {
  defaultValue: () => ({
    /** Gives whether there may be more. Never fails: what cannot be carried now stays where it is. */
    carry: Effect.succeed(false) as Effect.Effect<boolean>
  })
}) {}
