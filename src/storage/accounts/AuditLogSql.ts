import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Layer } from "effect"
import type { AuditAction, AuditEvent, Doer } from "../../model/Audit.ts"
import { type AuditEntry, AuditLog, type AuditQuery, placesOf } from "./AuditLog.ts"
import { isOneOfFree } from "../sql/SqlDialect.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"

interface EntryRow {
  readonly id: string
  readonly doer: Doer["by"]
  readonly user_id: string | null
  readonly key_id: string | null
  readonly client: string | null
  readonly action: AuditAction
  readonly target: string | null
  readonly owner: string | null
  readonly at: string | number
  readonly last_at: string | number
  readonly count: string | number
}

const entryOf = (row: EntryRow): AuditEntry => ({
  id: row.id,
  doer: { by: row.doer, userId: row.user_id, keyId: row.key_id, client: row.client },
  action: row.action,
  target: row.target,
  owner: row.owner,
  at: Number(row.at),
  lastAt: Number(row.last_at),
  count: Number(row.count)
})

const rowOf = ({ action, at, count, doer, id, lastAt, owner, target }: AuditEntry): EntryRow => ({
  id,
  doer: doer.by,
  user_id: doer.userId,
  key_id: doer.keyId,
  client: doer.client,
  action,
  target,
  owner,
  at,
  last_at: lastAt,
  count
})

/** `AuditLog` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The larger of two values is another function in each dialect.
  const larger = sql.onDialectOrElse({
    orElse: () => sql.literal("max"),
    pg: () => sql.literal("greatest")
  })

  const again = (entry: AuditEntry) => sql`
    UPDATE audit_entries SET count = count + 1, last_at = ${larger}(last_at, ${entry.at})
    WHERE id = ${entry.id} RETURNING id`

  /** The entry of an event that has none yet, by those of the hour. */
  const placeOf = Effect.fnUntraced(function* ({ first, given, hour }: ReturnType<typeof placesOf>) {
    if (hour === null) return first
    const { client } = first.doer
    const isOwn = client === null ? sql`client IS NULL` : sql`client = ${client}`
    const isCounted =
      hour.userId === null ? sql`user_id IS NULL AND doer <> 'command'` : sql`user_id = ${hour.userId}`
    const [counted] = yield* sql<{ all_of: string | number; of_client: string | number }>`
      SELECT count(*) AS all_of, count(CASE WHEN ${isOwn} THEN 1 END) AS of_client FROM audit_entries
      WHERE ${isCounted} AND at >= ${hour.from} AND at < ${hour.until}`
    return given(Number(counted!.all_of), Number(counted!.of_client))
  })

  const record = Effect.fnUntraced(function* (event: AuditEvent) {
    const places = placesOf(event)
    if ((yield* again(places.first)).length > 0) return
    const entry = yield* placeOf(places)
    yield* sql`
      INSERT INTO audit_entries ${sql.insert({ ...rowOf(entry) })}
      ON CONFLICT (id) DO UPDATE
      SET count = audit_entries.count + 1, last_at = ${larger}(audit_entries.last_at, excluded.last_at)`
  })

  const list = Effect.fnUntraced(function* ({ action, after, from, limit, until, user }: AuditQuery) {
    const filters: ReadonlyArray<Statement.Fragment> = [
      ...(action === undefined ? [] : [sql`action = ${action}`]),
      ...(from === undefined ? [] : [sql`at >= ${from}`]),
      ...(until === undefined ? [] : [sql`at < ${until}`]),
      ...(after === undefined ? [] : [sql`(at, id) < (${after.at}, ${after.id})`])
    ]
    const newest = (...more: ReadonlyArray<Statement.Fragment>) => {
      const wanted = [...filters, ...more]
      return sql`
        SELECT * FROM audit_entries ${wanted.length === 0 ? sql`` : sql`WHERE ${sql.and(wanted)}`}
        ORDER BY at DESC, id DESC LIMIT ${limit}`
    }
    // Each half reads an index of its own, and no more of it than the page needs.
    const rows = yield* user === undefined
      ? sql<EntryRow>`${newest()}`
      : sql<EntryRow>`
          SELECT * FROM (${newest(sql`user_id = ${user}`)}) AS done
          UNION SELECT * FROM (${newest(sql`owner = ${user}`)}) AS suffered
          ORDER BY at DESC, id DESC LIMIT ${limit}`
    return rows.map(entryOf)
  })

  return AuditLog.of({
    record: Effect.fn("AuditLog.record")(
      (event) => inTransaction(sql, record(event)),
      asStorageError("AuditLog.record")
    ),

    // What the act fails with is no error of the database's: stores have named those by themselves.
    recording: <A, E>(act: Effect.Effect<A, E>, eventsOf: (done: A) => ReadonlyArray<AuditEvent>) =>
      inTransaction(
        sql,
        Effect.tap(act, (done) => Effect.forEach(eventsOf(done), record, { discard: true }))
      ).pipe(asStorageError("AuditLog.recording"), Effect.withSpan("AuditLog.recording")) as Effect.Effect<
        A,
        E | StorageError
      >,

    list: Effect.fn("AuditLog.list")(list, asStorageError("AuditLog.list")),

    forget: Effect.fn("AuditLog.forget")(function* (before, max) {
      const old = sql`SELECT id FROM audit_entries WHERE at < ${before} AND last_at < ${before} ORDER BY at LIMIT ${max}`
      const rows = yield* sql`DELETE FROM audit_entries WHERE ${isOneOfFree(sql, "id", old)} RETURNING id`
      return rows.length
    }, asStorageError("AuditLog.forget"))
  })
})

/** `AuditLog` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<AuditLog, never, SqlClient.SqlClient> = Layer.effect(AuditLog, make)
