import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect } from "effect"
import { bucketOfSubject } from "../../keys/Buckets.ts"
import { subjectOfLink } from "../../model/Visit.ts"
import type { FreedLink } from "../links/LinkLifetime.ts"
import { isOneOf } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import type { StorageError } from "../StorageError.ts"

/**
 * Whether visits are in other databases than their links. Then the transaction that frees a link also remembers that its visits are to be forgotten, until they are: the database that has them may be
 * away. Otherwise the process that frees a link has its visits forgotten as well.
 */
export class VisitsApart extends Context.Reference<VisitsApart>()("linkmint/VisitsApart", {
  defaultValue: () => false
}) {}

/** Remembers that the visits of links are to be forgotten, in the caller's transaction. */
export const remember = (
  sql: SqlClient.SqlClient,
  links: ReadonlyArray<FreedLink>
): Effect.Effect<void, SqlError> => {
  if (links.length === 0) return Effect.void
  const subjects = links.map(subjectOfLink)
  const rows = rowsOf(sql, {
    subject: ["text", subjects],
    bucket: ["smallint", subjects.map(bucketOfSubject)]
  })
  return Effect.asVoid(
    sql`INSERT INTO visit_removals (subject, bucket) SELECT subject, bucket FROM ${rows} AS given WHERE true ON CONFLICT DO NOTHING`
  )
}

/** Links whose visits are forgotten at a time at most. */
const removedAtOnce = 200

/**
 * Has visits forgotten of links in `buckets` that one database of links remembers, in their order; `forget` may be called with the same ones again. Gives whether there may be more.
 */
export const forgetSome = (
  sql: SqlClient.SqlClient,
  buckets: ReadonlyArray<number>,
  forget: (subjects: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
): Effect.Effect<boolean, SqlError | StorageError> =>
  Effect.gen(function* () {
    const rows = yield* sql<{ subject: string; bucket: number }>`
      SELECT subject, bucket FROM visit_removals WHERE bucket = ANY(${buckets}::smallint[])
      ORDER BY bucket, subject LIMIT ${removedAtOnce}`
    if (rows.length === 0) return false
    const subjects = rows.map(({ subject }) => subject)
    yield* forget(subjects)
    const some = [...new Set(rows.map(({ bucket }) => bucket))]
    yield* sql`DELETE FROM visit_removals WHERE bucket = ANY(${some}::smallint[]) AND ${isOneOf(sql, "subject", subjects)}`
    return rows.length === removedAtOnce
  })
