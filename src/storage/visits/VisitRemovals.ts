import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect } from "effect"
import { bucketOfSubject } from "../../keys/Buckets.ts"
import type { Link } from "../../model/Link.ts"
import { subjectOfLink } from "../../model/Visit.ts"
import type { FreedLink } from "../links/LinkLifetime.ts"
import { type Columns, rowsOf } from "../sql/SqlRows.ts"
import type { StorageError } from "../StorageError.ts"

/** Whether visits are in other databases than their links. Then `VisitDatabases` has the visits of freed links forgotten, each database's by itself, and otherwise the sweep (`LinkSweep`). */
export class VisitsApart extends Context.Reference<VisitsApart>()("linkmint/VisitsApart", {
  defaultValue: () => false
}) {}

const rowsOfSubjects = (sql: SqlClient.SqlClient, subjects: ReadonlyArray<string>) =>
  rowsOf(sql, {
    subject: ["text", subjects],
    bucket: ["smallint", subjects.map(bucketOfSubject)]
  })

/**
 * Remembers that the visits of links are to be forgotten, in the caller's transaction, which frees them: no later one finds these links, the process may end before it has forgotten their
 * visits, and the database that has those may be away.
 */
export const remember = (
  sql: SqlClient.SqlClient,
  links: ReadonlyArray<FreedLink>
): Effect.Effect<void, SqlError> => {
  if (links.length === 0) return Effect.void
  const rows = rowsOfSubjects(sql, links.map(subjectOfLink))
  return Effect.asVoid(
    sql`INSERT INTO visit_removals (subject, bucket) SELECT subject, bucket FROM ${rows} AS given WHERE true ON CONFLICT DO NOTHING`
  )
}

/**
 * What `INSERT`s of links are given of aliases, so that {@link isRemembered} tells those that would have the visits of former links. A minted key is not given again with a time of creation that somebody chose.
 */
export const subjectsOf = (links: ReadonlyArray<Link>): Columns => {
  const subjects = links.map((link) => (link.custom ? subjectOfLink(link) : null))
  return {
    visits_subject: ["text", subjects],
    visits_bucket: ["smallint", subjects.map((subject) => subject && bucketOfSubject(subject))]
  }
}

/** Whether the visits are still to be forgotten of a former link that had the key of a row named `inserted`, and was made at the same moment. A statement that has waited for the transaction that frees the key need not see it. */
export const isRemembered = `EXISTS (SELECT 1 FROM visit_removals AS former
  WHERE former.bucket = inserted.visits_bucket AND former.subject = inserted.visits_subject)`

/** Links whose visits are forgotten at a time at most. */
export const removedAtOnce = 200

/** The subjects that a database of links remembers, `max` at most, in their order. */
export const remembered = (
  sql: SqlClient.SqlClient,
  max: number
): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(
    sql<{ subject: string }>`SELECT subject FROM visit_removals ORDER BY bucket, subject LIMIT ${max}`,
    (rows) => rows.map(({ subject }) => subject)
  )

/** Remembers subjects no longer: their visits are forgotten. */
export const drop = (
  sql: SqlClient.SqlClient,
  subjects: ReadonlyArray<string>
): Effect.Effect<void, SqlError> =>
  subjects.length === 0
    ? Effect.void
    : Effect.asVoid(
        sql`DELETE FROM visit_removals WHERE (bucket, subject) IN (SELECT bucket, subject FROM ${rowsOfSubjects(sql, subjects)} AS given)`
      )

/**
 * Has visits forgotten of links in `buckets` that one database of links remembers, in their order; `forget` may be called with the same ones again. Gives whether there may be more.
 */
export const forgetSome = (
  sql: SqlClient.SqlClient,
  buckets: ReadonlyArray<number>,
  forget: (subjects: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
): Effect.Effect<boolean, SqlError | StorageError> =>
  Effect.gen(function* () {
    const rows = yield* sql<{ subject: string }>`
      SELECT subject FROM visit_removals WHERE bucket = ANY(${buckets}::smallint[])
      ORDER BY bucket, subject LIMIT ${removedAtOnce}`
    if (rows.length === 0) return false
    const subjects = rows.map(({ subject }) => subject)
    yield* forget(subjects)
    yield* drop(sql, subjects)
    return rows.length === removedAtOnce
  })
