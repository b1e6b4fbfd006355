import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Layer } from "effect"
import type { AuditEvent, Doer } from "../../model/Audit.ts"
import { type AuditEntry, AuditLog, type AuditQuery, placesOf } from "./AuditLog.ts"
import { camelRows, sqlPort } from "../sql/SqlPort.ts"
import { isOneOfFree } from "../sql/SqlDialect.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"

/** An entry as its row has it: who did it is in columns of their own. */
interface EntryRow extends Omit<AuditEntry, "doer">, Omit<Doer, "by"> {
  readonly doer: Doer["by"]
}

const entryOf = ({ client, doer, keyId, userId, ...entry }: EntryRow): AuditEntry => ({
  ...entry,
  doer: { by: doer, userId, keyId, client }
})

const rowOf = ({ doer, lastAt, ...entry }: AuditEntry) => ({
  ...entry,
  doer: doer.by,
  user_id: doer.userId,
  key_id: doer.keyId,
  client: doer.client,
  last_at: lastAt
})

/** `AuditLog` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The larger of two values.
  const larger = sql.onDialectOrElse({
    orElse: () => sql.literal("max"),
    pg: () => sql.literal("greatest")
  })

  const again = (entry: AuditEntry) => sql`
    UPDATE audit_entries SET count = count + 1, last_at = ${larger}(last_at, ${entry.at})
    WHERE id = ${entry.id} RETURNING id`

  /** The entry of an event that has none yet, by the number of entries in its hour. */
  const placeOf = Effect.fnUntraced(function* ({ first, given, hour }: ReturnType<typeof placesOf>) {
    if (hour === null) return first
    const { client } = first.doer
    const isOwn = client === null ? sql`client IS NULL` : sql`client = ${client}`
    const isCounted =
      hour.userId === null ? sql`user_id IS NULL AND doer <> 'command'` : sql`user_id = ${hour.userId}`
    const [counted] = yield* sql<{ all_of: number; of_client: number }>`
      SELECT count(*) AS all_of, count(CASE WHEN ${isOwn} THEN 1 END) AS of_client FROM audit_entries
      WHERE ${isCounted} AND at >= ${hour.from} AND at < ${hour.until}`
    return given(counted!.all_of, counted!.of_client)
  })

  const record = Effect.fnUntraced(function* (event: AuditEvent) {
    const places = placesOf(event)
    if ((yield* again(places.first)).length > 0) return
    const entry = yield* placeOf(places)
    yield* sql`
      INSERT INTO audit_entries ${sql.insert(rowOf(entry))}
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
    const rows = yield* camelRows(
      user === undefined
        ? sql<EntryRow>`${newest()}`
        : sql<EntryRow>`
            SELECT * FROM (${newest(sql`user_id = ${user}`)}) AS done
            UNION SELECT * FROM (${newest(sql`owner = ${user}`)}) AS suffered
            ORDER BY at DESC, id DESC LIMIT ${limit}`
    )
    return rows.map(entryOf)
  })

  return sqlPort(AuditLog, {
    record: (event) => inTransaction(sql, record(event)),
    recording: (act, eventsOf) =>
      inTransaction(
        sql,
        Effect.tap(act, (done) => Effect.forEach(eventsOf(done), record, { discard: true }))
      ),
    list,
    forget: Effect.fnUntraced(function* (before, max) {
      const old = sql`SELECT id FROM audit_entries WHERE at < ${before} AND last_at < ${before} ORDER BY at LIMIT ${max}`
      const rows = yield* sql`DELETE FROM audit_entries WHERE ${isOneOfFree(sql, "id", old)} RETURNING id`
      return rows.length
    })
  })
})

/** `AuditLog` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<AuditLog, never, SqlClient.SqlClient> = Layer.effect(AuditLog, make)
