import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Effect, Either, Redacted } from "effect"
import * as Migrations from "../../sql/Migrations.ts"
import * as BucketRows from "./BucketRows.ts"
import { inTransaction } from "../../sql/SqlTransaction.ts"
import { connectionTo } from "./BucketReplication.ts"
import { movedTables } from "./MovedTables.ts"

/** The oldest PostgreSQL whose publications have row filters. */
const oldestMajor = 15

/** Roles of managed servers whose members may subscribe, without being superusers. */
const subscribers = ["pg_create_subscription", "rds_superuser", "cloudsqlsuperuser", "azure_pg_admin"]

/** And those that may make slots of replication. */
const replicators = ["rds_replication", "rds_superuser", "cloudsqlsuperuser", "azure_pg_admin"]

/** Slots that a move takes: its own, and one for each table that is copied at the same time. */
const slotsFor = (copiesAtOnce: number) => 1 + Math.min(copiesAtOnce, movedTables.length + 1)

interface Server {
  readonly major: number
  readonly wal_level: string
  readonly is_superuser: boolean
  readonly may_replicate: boolean
  readonly may_subscribe: boolean
  readonly may_create: boolean
  readonly is_owner: boolean
  readonly free_slots: number
  readonly free_senders: number
  readonly free_origins: number
  readonly free_workers: number
  readonly copies_at_once: number
  readonly statement_timeout: string
  readonly is_bounded: boolean
  readonly collation: string
  readonly role: string
  readonly schema: string
}

const isMember = (roles: ReadonlyArray<string>) =>
  `EXISTS (SELECT 1 FROM pg_roles r WHERE r.rolname IN (${roles.map((role) => `'${role}'`).join(", ")}) AND pg_has_role(current_user, r.oid, 'MEMBER'))`

const look = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<Server>`
      SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('wal_level') AS wal_level,
        me.rolsuper AS is_superuser,
        me.rolsuper OR me.rolreplication OR ${sql.literal(isMember(replicators))} AS may_replicate,
        me.rolsuper OR ${sql.literal(isMember(subscribers))} AS may_subscribe,
        has_database_privilege(current_database(), 'CREATE') AS may_create,
        (SELECT bool_and(pg_has_role(current_user, c.relowner, 'USAGE')) FROM pg_class c
         WHERE c.oid = ANY(${[...movedTables.map(({ name }) => name), "bucket_marks"]}::text[]::regclass[])) AS is_owner,
        current_setting('max_replication_slots')::int - (SELECT count(*)::int FROM pg_replication_slots) AS free_slots,
        current_setting('max_wal_senders')::int - (SELECT count(*)::int FROM pg_stat_replication) AS free_senders,
        current_setting('max_replication_slots')::int - (SELECT count(*)::int FROM pg_replication_origin_status) AS free_origins,
        current_setting('max_logical_replication_workers')::int - (SELECT count(*)::int FROM pg_stat_subscription WHERE pid IS NOT NULL) AS free_workers,
        current_setting('max_sync_workers_per_subscription')::int AS copies_at_once,
        -- Sessions of the mover have another one.
        (SELECT reset_val || coalesce(unit, '') FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
        (SELECT reset_val <> '0' FROM pg_settings WHERE name = 'statement_timeout') AS is_bounded,
        (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS collation,
        format('%I', current_user) AS role, current_schema() AS schema
      FROM pg_roles me WHERE me.rolname = current_user`,
    ([server]) => server!
  )

const newestMigration = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const [row] = yield* sql<{ there: boolean }>`SELECT to_regclass(${Migrations.table}) IS NOT NULL AS there`
    if (!row!.there) return 0
    const [newest] = yield* sql<{ id: number }>`SELECT max(migration_id) AS id FROM ${sql(Migrations.table)}`
    return newest!.id
  })

/** One of the two databases of a move. */
export interface Side {
  readonly number: number
  readonly sql: SqlClient.SqlClient
  /** How the other one's server reaches it. */
  readonly url: Redacted.Redacted
}

/** What was tried is to be rolled back. */
class Tried extends Data.TaggedError("Tried")<{}> {}

/** Why the server of `to` cannot subscribe to `from`, if it cannot: it connects there, and all is rolled back. */
const refusal = (from: Side, to: Side) =>
  inTransaction(
    to.sql,
    Effect.zipRight(
      to.sql`CREATE SUBSCRIPTION linkmint_try CONNECTION ${to.sql.literal(connectionTo(from.url))} PUBLICATION linkmint_try
             WITH (enabled = false, create_slot = false, slot_name = NONE, copy_data = false)`,
      new Tried()
    )
  ).pipe(
    Effect.either,
    Effect.map((tried) => {
      if (!Either.isLeft(tried) || tried.left._tag === "Tried") return undefined
      const { cause, message } = tried.left
      const [, password = ""] = /^[^:]*:\/\/[^:@/]*:([^@]*)@/.exec(Redacted.value(from.url)) ?? []
      const reason = cause instanceof Error ? cause.message : message
      return password === "" ? reason : reason.replaceAll(password, "…")
    })
  )

/** What keeps buckets from being moved, one sentence each; nothing is changed. */
export const missing = (
  from: Side,
  to: Side,
  buckets: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.gen(function* () {
    const versions = yield* Effect.all([newestMigration(from.sql), newestMigration(to.sql)])
    const behind = [from, to].filter((_, at) => versions[at] !== Migrations.newest)
    if (behind.length > 0) {
      return behind.map(
        ({ number }) =>
          `Database ${number} does not have the tables of this version. Start a node of this version, which brings them up to date.`
      )
    }
    const [source, target] = yield* Effect.all([look(from.sql), look(to.sql)])
    const slots = slotsFor(target.copies_at_once)
    const problems: Array<readonly [isMissing: boolean, side: Side, sentence: string]> = [
      [
        source.major < oldestMajor,
        from,
        `is PostgreSQL ${source.major}; row filters of publications need ${oldestMajor}.`
      ],
      [
        source.wal_level !== "logical",
        from,
        `has wal_level = ${source.wal_level}; set wal_level = logical, and restart the server.`
      ],
      [
        !source.may_replicate,
        from,
        `does not let the role ${source.role} replicate: ALTER ROLE ${source.role} REPLICATION.`
      ],
      [
        !source.may_create,
        from,
        `does not let the role ${source.role} create a publication: GRANT CREATE ON DATABASE.`
      ],
      [
        source.is_bounded,
        from,
        `ends what a session of the role ${source.role} does after ${source.statement_timeout}, copies of tables as well: ALTER ROLE ${source.role} SET statement_timeout = 0.`
      ],
      [!source.is_owner, from, `has tables that the role ${source.role} does not own.`],
      [
        source.free_slots < slots,
        from,
        `has ${source.free_slots} free replication slots; raise max_replication_slots so that ${slots} are free.`
      ],
      [
        source.free_senders < slots,
        from,
        `has ${source.free_senders} free WAL senders; raise max_wal_senders so that ${slots} are free.`
      ],
      [
        !target.may_subscribe,
        to,
        `does not let the role ${target.role} create a subscription: it must be a superuser, or from PostgreSQL 16 on a member of pg_create_subscription.`
      ],
      [
        !target.may_create,
        to,
        `does not let the role ${target.role} create a subscription: GRANT CREATE ON DATABASE.`
      ],
      [!target.is_owner, to, `has tables that the role ${target.role} does not own.`],
      [
        target.free_origins < slots,
        to,
        `has ${target.free_origins} free replication origins; raise max_replication_slots so that ${slots} are free.`
      ],
      [
        target.free_workers < 2,
        to,
        `has ${target.free_workers} free workers of logical replication; raise max_logical_replication_workers so that 2 are free.`
      ],
      [
        source.collation !== target.collation,
        to,
        `has the collation ${target.collation}, and database ${from.number} ${source.collation}: rows could not be compared in order.`
      ],
      [
        source.schema !== target.schema,
        to,
        `has its tables in the schema ${target.schema}, and database ${from.number} in ${source.schema}.`
      ]
    ]
    const sentences = problems
      .filter(([isMissing]) => isMissing)
      .map(([, { number }, sentence]) => `Database ${number} ${sentence}`)
    if (sentences.length === 0) {
      const reason = yield* refusal(from, to)
      if (reason !== undefined) {
        sentences.push(
          `The server of database ${to.number} cannot subscribe to database ${from.number} by its URL: ${reason}`
        )
      }
    }
    for (const table of movedTables) {
      if (!(yield* BucketRows.make(to.sql, table, buckets).isEmpty)) {
        sentences.push(
          `Database ${to.number} has rows of these buckets in ${table.name} already, though they are not there.`
        )
      }
    }
    return sentences
  })
