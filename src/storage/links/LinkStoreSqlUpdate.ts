import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { channel } from "./LinkInvalidationsPostgres.ts"
import {
  changeableColumns,
  changedJson,
  type LinkColumn,
  linkColumns,
  linkOf,
  type LinkRow,
  meetsOnPostgres,
  meetsOnSqlite
} from "./LinkColumns.ts"
import { type Update, updatesRemembered } from "./LinkStore.ts"
import { askByKey } from "../sql/Turns.ts"

/** `name` of a change, `u.change`, if it has it, else the column as it is. */
const onPostgres = ({ column, name, type }: LinkColumn) => {
  const value = type === "jsonb" ? `u.change -> '${name}'` : `(u.change ->> '${name}')::${type}`
  return `${column} = CASE WHEN u.change ? '${name}' THEN ${value} ELSE links.${column} END`
}

const onSqlite = ({ column, name, type }: LinkColumn) => {
  const value = `u.value ${type === "jsonb" ? "->" : "->>"} '$.change.${name}'`
  return `${column} = CASE WHEN json_type(u.value, '$.change.${name}') IS NULL THEN links.${column} ELSE ${value} END`
}

/** `LinkStore.updateMany` on SQLite and PostgreSQL. */
export const makeUpdateMany = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const list = (parts: ReadonlyArray<string>) => sql.literal(parts.join(", "))
  const names = list(linkColumns.map(({ column }) => column))
  const qualified = list(linkColumns.map(({ column }) => `links.${column}`))
  const newestIds = sql.literal(`'$[0 to ${updatesRemembered - 1}]'`)
  const setOnPostgres = list(changeableColumns.map(onPostgres))
  const setOnSqlite = list(changeableColumns.map(onSqlite))
  const isMetOnPostgres = sql.literal(meetsOnPostgres("u.only_if"))
  const isMetOnSqlite = sql.literal(meetsOnSqlite("u.value -> '$.onlyIf'"))

  /** Those that are not there, are deleted, do not meet their condition, or were updated by a repeat's first coming, are passed over. Returns the others as they are then. */
  const updateRows = (updates: ReadonlyArray<Update>) => {
    const json = JSON.stringify(
      updates.map((update) => ({ ...update, change: changedJson(update.change, update.owner) }))
    )
    return sql.onDialectOrElse({
      orElse: () => sql<LinkRow>`
        UPDATE links SET ${setOnSqlite},
          extras = CASE WHEN json_type(u.value, '$.change.extras') IS NULL THEN links.extras
            ELSE nullif(json_patch(json_patch(coalesce(links.extras, '{}'), u.value -> '$.change.extrasOut'),
                                   u.value -> '$.change.extras'), '{}') END,
          visits_left = CASE WHEN json_type(u.value, '$.change.maxVisits') IS NULL THEN links.visits_left
            ELSE u.value ->> '$.change.maxVisits' - coalesce(links.max_visits - links.visits_left, 0) END,
          updated_at = max(links.updated_at, u.value ->> 'at'), create_id = u.value ->> 'updateId',
          update_ids = (SELECT json_group_array(value) FROM (
            SELECT u.value ->> 'updateId' AS value UNION ALL SELECT value FROM json_each(links.update_ids)
            LIMIT ${updatesRemembered}))
        FROM json_each(${json}) AS u
        WHERE links.key = u.value ->> 'key' AND links.owner IS u.value ->> 'owner' AND links.deleted_at IS NULL
          AND ${isMetOnSqlite}
          AND NOT EXISTS (SELECT 1 FROM json_each(links.update_ids) AS i WHERE i.value = u.value ->> 'updateId')
        RETURNING ${names}`,
      pg: () => sql<LinkRow>`
        WITH u AS (
          SELECT value ->> 'key' AS key, value ->> 'owner' AS owner, (value ->> 'at')::bigint AS at,
                 value -> 'updateId' AS id, value -> 'change' AS change, value -> 'onlyIf' AS only_if
          FROM jsonb_array_elements(${json}::jsonb)
        ), locked AS (
          SELECT links.key FROM links JOIN u ON u.key = links.key ORDER BY links.key FOR UPDATE OF links
        ), updated AS (
          UPDATE links SET ${setOnPostgres},
            extras = CASE WHEN NOT u.change ? 'extras' THEN links.extras
              ELSE nullif(coalesce(links.extras, '{}')::jsonb
                - ARRAY(SELECT jsonb_object_keys(u.change -> 'extrasOut')) || (u.change -> 'extras'), '{}')::text END,
            visits_left = CASE WHEN NOT u.change ? 'maxVisits' THEN links.visits_left
              WHEN u.change ->> 'maxVisits' IS NULL THEN NULL
              ELSE (u.change ->> 'maxVisits')::bigint - coalesce(links.max_visits - links.visits_left, 0) END,
            updated_at = greatest(links.updated_at, u.at), create_id = u.id::bigint,
            update_ids = jsonb_path_query_array(u.id || links.update_ids, ${newestIds})
          FROM u JOIN locked ON locked.key = u.key
          WHERE links.key = u.key AND links.owner IS NOT DISTINCT FROM u.owner AND links.deleted_at IS NULL
            AND NOT links.update_ids @> u.id AND ${isMetOnPostgres}
          RETURNING links.*
        )
        SELECT ${names}, pg_notify(${channel}, key) FROM updated`
    })
  }

  /** The rows that these updates made what they are or were, as they are now. */
  const repeatedRows = (updates: ReadonlyArray<Update>) => {
    const json = JSON.stringify(updates)
    return sql.onDialectOrElse({
      orElse: () => sql<LinkRow>`
        SELECT ${qualified} FROM json_each(${json}) AS u JOIN links ON links.key = u.value ->> 'key'
        WHERE links.owner IS u.value ->> 'owner'
          AND EXISTS (SELECT 1 FROM json_each(links.update_ids) AS i WHERE i.value = u.value ->> 'updateId')`,
      pg: () => sql<LinkRow>`
        SELECT ${qualified} FROM jsonb_array_elements(${json}::jsonb) AS u
        JOIN links ON links.key = u.value ->> 'key' AND links.owner IS NOT DISTINCT FROM u.value ->> 'owner'
          AND links.update_ids @> (u.value -> 'updateId')`
    })
  }

  const byKey = (rows: ReadonlyArray<LinkRow>) => rows.map((row) => [row.key, linkOf(row)] as const)

  /** One statement, and where it passed something over, a second one: a repeat is seen even where its first coming is committed meanwhile. */
  const updateAll = Effect.fnUntraced(function* (updates: ReadonlyArray<Update>) {
    const rows = new Map(byKey(yield* updateRows(updates)))
    const passedOver = updates.filter(({ key }) => !rows.has(key))
    const repeated = passedOver.length === 0 ? [] : byKey(yield* repeatedRows(passedOver))
    for (const [key, link] of repeated) rows.set(key, link)
    return updates.map(({ key }) => rows.get(key) ?? null)
  })

  return (updates: ReadonlyArray<Update>) => askByKey(sql, updates, updateAll)
})
