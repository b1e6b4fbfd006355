import { SqlClient, type Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Array, Cause, Effect, Exit, Layer, Option } from "effect"
import { Direct, type Run } from "../../fibers/Direct.ts"
import type { Link } from "../../model/Link.ts"
import { channel } from "./LinkInvalidationsPostgres.ts"
import {
  insertedColumns,
  insertedRows,
  linkColumns,
  linkOfCells,
  type LinkRow,
  meetsOnPostgres,
  meetsOnSqlite
} from "./LinkColumns.ts"
import { FurtherDomains } from "./FurtherDomains.ts"
import { isInForce } from "./buckets/LinkEpoch.ts"
import { hashIfIndexed } from "./LinksByUrlSql.ts"
import { type Deletion, LinkStore } from "./LinkStore.ts"
import * as LinkRanksSql from "./LinkRanksSql.ts"
import { makeList } from "./LinkStoreSqlList.ts"
import { makeUpdateMany } from "./LinkStoreSqlUpdate.ts"
import { makeTakeVisits } from "./LinkStoreSqlVisits.ts"
import { LinkTenure, refused, type Tenure, Tenured } from "./buckets/LinkTenure.ts"
import { ask, type Cells, direct, type DirectStatement } from "../sql/DirectSql.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { databaseNow, isOneOf, prepared } from "../sql/SqlDialect.ts"
import { type Given, givenOf, parametersOf, tableOf } from "../sql/SqlRows.ts"
import { asStorageError, storageErrorOf } from "../sql/SqlTransaction.ts"
import { askByKey, placesByKey } from "../sql/Turns.ts"
import * as VisitRemovals from "../visits/VisitRemovals.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { StorageError } from "../StorageError.ts"

/** Which of the questions are about keys that a statement returned. */
const areAmong = (questions: ReadonlyArray<{ readonly key: string }>, done: ReadonlyArray<string>) => {
  if (done.length === questions.length) return questions.map(() => true)
  const keys = new Set(done)
  return questions.map(({ key }) => keys.has(key))
}

/** What SQLite and PostgreSQL call a row that has the primary key already. */
const conflictCodes: ReadonlyArray<unknown> = ["SQLITE_CONSTRAINT_PRIMARYKEY", "23505"]

/** Whether an `INSERT` met a row of one of its keys, and wrote nothing. */
const isConflict = ({ cause }: SqlError) =>
  cause instanceof Error && "code" in cause && conflictCodes.includes(cause.code)

/** A failure that comes when a part has been written. */
const mayBeApplied = ({ operation, reason }: StorageError) =>
  new StorageError({ operation, reason, applied: "unknown" })

/** From so many links on, PostgreSQL inserts a batch by two of its processes: that takes two thirds of the time. */
const splitFrom = 500

/** Whether a row is of a minted link in a further domain, by its key without the domain: its text is that, `~` and digits. */
const isMintedIn = (row: string, plain: string) =>
  `${row}.key > ${plain} || '~' AND ${row}.key < ${plain} || '~a' AND NOT ${row}.custom`

/** See `FurtherDomains`; `plain`: the key of an inserted row without its domain. */
const mintedElsewhere = (plain: string) => `NOT inserted.custom AND (
  EXISTS (SELECT 1 FROM links AS other WHERE other.key = ${plain} AND other.key <> inserted.key)
  OR EXISTS (SELECT 1 FROM links AS other WHERE ${isMintedIn("other", plain)} AND other.key <> inserted.key))`

/** Texts of a statement that are kept, one for each choice of columns that vary: mostly there are a handful. */
const textsMax = 64

const halvesOf = (links: ReadonlyArray<Link>) => Array.chunksOf(links, Math.ceil(links.length / 2))

/**
 * `LinkStore` on SQLite and PostgreSQL. Each operation is one statement, whatever the batch's size, but for large inserts and for batches that have a key
 * twice.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const list = (parts: ReadonlyArray<string>) => sql.literal(parts.join(", "))
  const linkNames = list(linkColumns.map(({ column }) => column))
  const hash = hashIfIndexed(sql)
  /** A repeat of a create finds its own row: it writes the row as it is, so that the row is returned. */
  const unlessRepeat = sql`
    ON CONFLICT (key) DO UPDATE SET url = links.url
    WHERE links.create_id = excluded.create_id AND links.updated_at = excluded.updated_at`

  const insertedNames = list(insertedColumns)
  const given = (links: ReadonlyArray<Link>) => givenOf({ ...insertedRows(links), ...hash.rows(links) })

  /** An `INSERT` of links; `unless`: what becomes of those whose keys have rows. */
  const insertFree = (rows: Given, unless: Statement.Fragment, where: Statement.Fragment = sql`true`) => sql`
    INSERT INTO links (${insertedNames}, url_hash) SELECT ${insertedNames}, ${hash.value}
    FROM ${tableOf(sql, rows)} AS inserted WHERE ${where} ${unless}`

  const further = yield* FurtherDomains
  /** Whether a row is of a minted key that has a link in another domain. */
  const isElsewhere = sql.literal(
    sql.onDialectOrElse({
      orElse: () => mintedElsewhere("substr(inserted.key, 1, instr(inserted.key || '~', '~') - 1)"),
      pg: () => mintedElsewhere("split_part(inserted.key, '~', 1)")
    })
  )

  const isRemembered = sql.literal(VisitRemovals.isRemembered)
  /** Rows of links of which each may be bound or not. */
  const givenEach = (links: ReadonlyArray<Link>) =>
    givenOf({ ...insertedRows(links), ...hash.rows(links), ...VisitRemovals.subjectsOf(links) })

  /** Binds those links of such rows that may be bound, and gives their keys. */
  const insertUnless = (rows: Given, where: Statement.Fragment = sql`true`) =>
    sql`${insertFree(rows, unlessRepeat, sql`${where} AND NOT (${isElsewhere}) AND NOT ${isRemembered}`)} RETURNING key`

  const insertEach = (rows: Given) => sql<{ key: string }>`${prepared(sql, "inserts")}${insertUnless(rows)}`

  /** Fails where a key has a row, and writes nothing then. */
  const insertAll = (rows: Given) => sql`${prepared(sql, "inserts")}${insertFree(rows, sql``)}`

  /** The same two for a caller that knows an epoch of this database. The second gives a row for each link, and none where the epoch is old. */
  const insertEachUnder = (rows: Given, epoch: number) =>
    sql<{
      readonly keys: ReadonlyArray<string> | null
      readonly in_force: boolean
    }>`${prepared(sql, "inserts")}
      WITH bound AS (${insertUnless(rows, isInForce(sql, epoch))})
      SELECT json_agg(key) AS keys, ${isInForce(sql, epoch)} AS in_force FROM bound`
  const insertAllUnder = (rows: Given, epoch: number) =>
    sql`${prepared(sql, "inserts")}${insertFree(rows, sql``, isInForce(sql, epoch))} RETURNING 1`

  /** A statement ready to be sent; `epochs`: its last parameters. Its text is put together once for the columns that vary, which takes longer than all else here. */
  const textsOf = (statement: (rows: Given) => Statement.Fragment) => {
    const texts = new Map<string, string>()
    return (rows: Given, epochs: ReadonlyArray<number> = []): DirectStatement => {
      const shape = rows.varying.map(({ name }) => name).join()
      let text = texts.get(shape)
      if (text === undefined) {
        text = sql`${statement(rows)}`.compile()[0]
        if (texts.size < textsMax) texts.set(shape, text)
      }
      return [text, [...parametersOf(sql, rows), ...epochs]]
    }
  }

  const [each, all] = [textsOf(insertEach), textsOf(insertAll)]
  const eachUnder = textsOf((rows) => insertEachUnder(rows, 0))
  const allUnder = textsOf((rows) => insertAllUnder(rows, 0))

  /** The keys that {@link insertEachUnder} has bound, if the epoch was in force. */
  const keysUnder = ([row]: ReadonlyArray<Cells>) =>
    row![1] === "t" ? (JSON.parse(String(row![0] ?? "[]")) as ReadonlyArray<string>) : undefined

  /**
   * Inserts links by a call, which gives the keys that were bound. Those of minted keys are mostly not asked for: nearly always an `INSERT` meets no row and has bound all. One that does wrote
   * nothing, and is repeated with an answer for each link.
   */
  const insertThen =
    (
      links: ReadonlyArray<Link>,
      tenure: Tenure | undefined
    ): Run<ReadonlyArray<string>, SqlError | StorageError> =>
    (done) => {
      const end = (keys: ReadonlyArray<string> | undefined) =>
        done(keys === undefined ? Exit.fail(refused("LinkStore.insertMany")) : Exit.succeed(keys))
      const askEach = () => {
        const rows = givenEach(links)
        ask(
          sql,
          tenure === undefined ? each(rows) : eachUnder(rows, [tenure.epoch, tenure.epoch])
        )((exit) => {
          if (Exit.isFailure(exit)) return done(Exit.failCause(exit.cause))
          end(tenure === undefined ? exit.value.map(([key]) => String(key)) : keysUnder(exit.value))
        })
      }
      if (further.areInUse() || links.some(({ custom }) => custom)) return askEach()
      const rows = given(links)
      ask(
        sql,
        tenure === undefined ? all(rows) : allUnder(rows, [tenure.epoch])
      )((exit) => {
        if (Exit.isSuccess(exit)) {
          end(tenure === undefined || exit.value.length > 0 ? links.map(({ key }) => key) : undefined)
        } else if (Option.exists(Cause.failureOption(exit.cause), isConflict)) askEach()
        else done(Exit.failCause(exit.cause))
      })
    }

  /** The same as an effect, which can be a part of a transaction. */
  const insertRows = (
    links: ReadonlyArray<Link>
  ): Effect.Effect<ReadonlyArray<boolean>, SqlError | StorageError> =>
    Effect.flatMap(LinkTenure, (tenure) =>
      tenure === undefined
        ? Effect.map(insertEach(givenEach(links)), (rows) =>
            areAmong(
              links,
              rows.map(({ key }) => key)
            )
          )
        : insertUnder(links, tenure)
    )

  /** The same for a caller that knows an epoch of this database. */
  const insertUnder = (links: ReadonlyArray<Link>, { epoch }: Tenure) =>
    Effect.filterOrFail(
      insertEachUnder(givenEach(links), epoch),
      ([row]) => row!.in_force,
      () => refused("LinkStore.insertMany")
    ).pipe(Effect.map(([row]) => areAmong(links, row!.keys ?? [])))

  /**
   * The rows of the keys in JSON that are the first parameter. On PostgreSQL each key is looked for by itself. A planner that is shown an array makes a plan for its length; of JSON it knows nothing,
   * so that one plan serves all.
   */
  const rowsOfKeys = sql.onDialectOrElse({
    orElse: () => sql<LinkRow>`SELECT ${linkNames} FROM links WHERE ${isOneOf(sql, "key", [])}`,
    pg: () => sql<LinkRow>`${prepared(sql)}
      SELECT link.* FROM json_array_elements_text(${"[]"}::json) AS asked (key)
      CROSS JOIN LATERAL (SELECT ${linkNames} FROM links WHERE links.key = asked.key LIMIT 1) AS link`
  })

  /** The same for a caller that knows an epoch of this database, the second parameter: with a row without a key where it is old. */
  const rowsUnder = sql`${rowsOfKeys}
    UNION ALL SELECT ${list(linkColumns.map(() => "NULL"))} WHERE NOT ${isInForce(sql, 0)}`

  /**
   * A row of a key, or that of a minted link in a further domain: its text begins with the key and `~`. PostgreSQL looks for that in the order of the index, or it would read the whole table, in
   * the hope of a row that is hardly ever there.
   */
  const takenRow = sql`
    (SELECT 1 FROM links WHERE links.key = asked.key LIMIT 1)
    UNION ALL
    (SELECT 1 FROM links WHERE ${sql.literal(isMintedIn("links", "asked.key"))} ORDER BY links.key LIMIT 1)
    LIMIT 1`

  /** Which of the keys are taken. */
  const takenOf = (keys: ReadonlyArray<string>) =>
    sql.onDialectOrElse({
      orElse: () => sql<{ readonly key: string }>`
        SELECT asked.value AS key FROM json_each(${JSON.stringify(keys)}) AS asked
        WHERE EXISTS (SELECT 1 FROM links WHERE key = asked.value)
           OR EXISTS (SELECT 1 FROM links WHERE ${sql.literal(isMintedIn("links", "asked.value"))})`,
      pg: () => sql<{ readonly key: string }>`${prepared(sql)}
        SELECT asked.key FROM json_array_elements_text(${JSON.stringify(keys)}::json) AS asked (key)
        CROSS JOIN LATERAL (${takenRow}) AS taken`
    })

  /** The same for a caller that knows an epoch of this database. */
  const takenUnder = (keys: ReadonlyArray<string>, { epoch }: Tenure) =>
    Effect.filterOrFail(
      sql<{ readonly key: string; readonly in_force: boolean; readonly is_taken: boolean }>`${prepared(sql)}
        SELECT asked.key, taken.found IS NOT NULL AS is_taken, ${isInForce(sql, epoch)} AS in_force
        FROM json_array_elements_text(${JSON.stringify(keys)}::json) AS asked (key)
        LEFT JOIN LATERAL (${takenRow}) AS taken (found) ON true`,
      (rows) => rows[0]?.in_force !== false,
      () => refused("LinkStore.takenAmong")
    ).pipe(Effect.map((rows) => rows.filter((row) => row.is_taken)))

  const insertInFiber = (links: ReadonlyArray<Link>) =>
    askByKey(sql, links, insertRows).pipe(
      asStorageError("LinkStore.insertMany"),
      Traced.span("LinkStore.insertMany")
    )

  const isSplit = sql.onDialectOrElse({ orElse: () => false, pg: () => true })

  /** Large batches in two halves on PostgreSQL, where one database has all links. Both end before it does; where one fails, the other may have been written. */
  const insertByCall =
    (
      links: ReadonlyArray<Link>,
      places: ReadonlyArray<number>,
      tenure: Tenure | undefined
    ): Run<ReadonlyArray<boolean>, StorageError> =>
    (done) => {
      const sorted = places.map((place) => links[place]!)
      const isWhole = links.length < splitFrom || !isSplit || tenure !== undefined
      const parts = isWhole ? [sorted] : halvesOf(sorted)
      const bound: Array<string> = []
      let failed: Cause.Cause<StorageError> | undefined
      let open = parts.length
      const ended = (exit: Exit.Exit<ReadonlyArray<string>, SqlError | StorageError>) => {
        if (Exit.isSuccess(exit)) bound.push(...exit.value)
        else {
          failed = Cause.map(exit.cause, (error) =>
            error._tag === "SqlError" ? storageErrorOf("LinkStore.insertMany", error) : error
          )
        }
        if (--open > 0) return
        if (failed === undefined) done(Exit.succeed(areAmong(links, bound)))
        else done(Exit.failCause(parts.length === 1 ? failed : Cause.map(failed, mayBeApplied)))
      }
      for (const part of parts) insertThen(part, tenure)(ended)
    }

  /** Without a fiber, but for batches that have a key twice, and for what is a part of a transaction. */
  const insertMany: (typeof LinkStore.Service)["insertMany"] = (links) => {
    const places = links.length === 0 ? undefined : placesByKey(links)
    if (places === undefined) return insertInFiber(links)
    const on = (tenure: Tenure | undefined) =>
      new Direct(insertByCall(links, places, tenure), (self) =>
        self.pipe(Traced.span("sql.execute"), Traced.span("LinkStore.insertMany"))
      )
    const transaction = Effect.serviceOption(SqlClient.TransactionConnection)
    return new Tenured(
      on,
      Effect.flatMap(Effect.zip(LinkTenure, transaction), ([tenure, own]) =>
        Option.isSome(own) ? insertInFiber(links) : on(tenure)
      )
    )
  }

  /** A repeat of a deletion finds its own tombstone, and writes it as it is. */
  const deleteRows = (deletions: ReadonlyArray<Deletion>) =>
    sql.onDialectOrElse({
      orElse: () => sql<{ key: string }>`
        UPDATE links SET deleted_at = d.value ->> 'at', updated_at = d.value ->> 'at',
                         create_id = d.value ->> 'deleteId', ended_at = coalesce(ended_at, ${databaseNow(sql)})
        FROM json_each(${JSON.stringify(deletions)}) AS d
        WHERE links.key = d.value ->> 'key'
          AND (links.deleted_at IS NULL AND ${sql.literal(meetsOnSqlite("d.value -> '$.onlyIf'"))}
               OR links.deleted_at IS NOT NULL AND links.create_id = d.value ->> 'deleteId') RETURNING links.key`,
      pg: () => sql<{ key: string }>`
        WITH d AS (
          SELECT * FROM unnest(${deletions.map((deletion) => deletion.key)}::text[],
                               ${deletions.map((deletion) => deletion.at)}::bigint[],
                               ${deletions.map((deletion) => deletion.deleteId ?? null)}::bigint[],
                               ${deletions.map(({ onlyIf }) => (onlyIf === undefined ? null : JSON.stringify(onlyIf)))}::text[])
            AS d (key, at, id, only_if)
        ), locked AS (
          SELECT links.key FROM links JOIN d ON d.key = links.key ORDER BY links.key FOR UPDATE OF links
        ), deleted AS (
          UPDATE links SET deleted_at = d.at, updated_at = d.at, create_id = d.id,
                           ended_at = coalesce(links.ended_at, ${databaseNow(sql)})
          FROM d JOIN locked ON locked.key = d.key
          WHERE links.key = d.key
            AND (links.deleted_at IS NULL AND ${sql.literal(meetsOnPostgres("d.only_if::jsonb"))}
                 OR links.deleted_at IS NOT NULL AND links.create_id = d.id) RETURNING links.key
        )
        SELECT key, pg_notify(${channel}, key) FROM deleted`
    })

  const deleteAll = (deletions: ReadonlyArray<Deletion>) =>
    Effect.map(deleteRows(deletions), (rows) =>
      areAmong(
        deletions,
        rows.map(({ key }) => key)
      )
    )

  const [findText] = rowsOfKeys.compile()
  const [findTextUnder] = rowsUnder.compile()

  /** Never a part of a transaction. */
  const findMany = (keys: ReadonlyArray<string>) => {
    const json = JSON.stringify(keys)
    return new Tenured((tenure) =>
      direct(
        sql,
        "LinkStore.findMany",
        tenure === undefined ? [findText, [json]] : [findTextUnder, [json, tenure.epoch]]
      ).flatMap((rows) => {
        if (rows.at(-1)?.[0] === null) return Exit.fail(refused("LinkStore.findMany"))
        const links = new Map(rows.map((cells) => [cells[0], linkOfCells(cells)]))
        return Exit.succeed(keys.map((key) => links.get(key) ?? null))
      })
    )
  }

  return sqlPort(
    LinkStore,
    {
      deleteMany: (deletions) => askByKey(sql, deletions, deleteAll),
      updateMany: yield* makeUpdateMany,
      list: yield* makeList,
      rankMany: (yield* LinkRanksSql.make).rankMany,
      crawlable: Effect.fnUntraced(function* ({ at, limit }) {
        const rows = yield* sql<{ key: string }>`
        SELECT key FROM links
        WHERE crawlable AND deleted_at IS NULL AND password_hash IS NULL
          AND (valid_since IS NULL OR valid_since <= ${at}) AND (expires_at IS NULL OR expires_at > ${at})
          AND (visits_left IS NULL OR visits_left > 0)
        ORDER BY created_at DESC, key DESC LIMIT ${limit}`
        return rows.map(({ key }) => key)
      }),
      takeVisits: yield* makeTakeVisits,
      takenAmong: Effect.fnUntraced(function* (keys) {
        const tenure = yield* LinkTenure
        const rows = yield* tenure === undefined ? takenOf(keys) : takenUnder(keys, tenure)
        return new Set(rows.map((row) => row.key))
      })
    },
    { findMany, insertMany }
  )
})

/** `LinkStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<LinkStore, never, SqlClient.SqlClient> = Layer.effect(LinkStore, make)
