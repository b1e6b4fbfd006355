import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Redacted, Schedule } from "effect"
import { nameOf } from "./BucketBarrier.ts"
import { isIn, movedTables } from "./MovedTables.ts"

/** How often it is looked how far replication has come, in milliseconds. */
const lookEvery_ms = 5

/** How often it is tried to drop a slot that is in use: its user has been told to end. */
const slotTries = Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurs(100)))

/** Errors of a subscription after which it is not waited for any longer: PostgreSQL tries again and again. */
const errorsMax = 5

/** How often it is looked for that, and for how many looks in a row the target may have no connection to the source. */
export const lookTrouble = "1 second"
const looksInVainMax = 30

/** What has come of the initial copy. */
export interface Copied {
  readonly isDone: boolean
  /** Tables that are there whole, by name. */
  readonly tables: ReadonlyArray<string>
  /** Rows of those that are being copied. */
  readonly rows: number
}

/** A URL as a `CONNECTION` of SQL. */
export const connectionTo = (url: Redacted.Redacted): string =>
  `'${Redacted.value(url).replaceAll("'", "''")}'`

/**
 * Copies the rows of buckets from one PostgreSQL to another, and their changes: a publication with row filters and a slot in `from`, a subscription in `to`, all of the name of
 * the move. The slot's name also has the number of its database, since a server has those of all its databases, which can be those of several deployments.
 *
 * The slot is made before the subscription, by a statement of its own: a subscription to a database of its own server would wait for itself when it makes its slot.
 */
export const make = (
  move: number,
  buckets: ReadonlyArray<number>,
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient
) => {
  const name = nameOf(move)

  const publish = Effect.gen(function* () {
    const there = yield* from`SELECT pubname FROM pg_publication WHERE pubname = ${name}`
    if (there.length > 0) return
    const tables = movedTables.map((table) => `${table.name} WHERE ${isIn(table, buckets)}`)
    yield* from`CREATE PUBLICATION ${from.literal(name)} FOR TABLE ${from.literal([...tables, `bucket_marks WHERE (move = ${move})`].join(", "))}`
  })

  const slotName = Effect.map(
    from<{ slot: string }>`
      SELECT ${name}::text || '_' || oid::text AS slot FROM pg_database WHERE datname = current_database()`,
    ([row]) => row!.slot
  )

  const makeSlot = Effect.gen(function* () {
    const slot = yield* slotName
    const there = yield* from`SELECT slot_name FROM pg_replication_slots WHERE slot_name = ${slot}`
    if (there.length === 0) yield* from`SELECT pg_create_logical_replication_slot(${slot}, 'pgoutput')`
  })

  const subscription = Effect.map(
    to<{ oid: number }>`SELECT oid::bigint AS oid FROM pg_subscription
      WHERE subname = ${name} AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    ([row]) => row?.oid
  )

  /** `url` is where the server of `to` finds `from`. */
  const subscribe = (url: Redacted.Redacted) =>
    Effect.gen(function* () {
      if ((yield* subscription) !== undefined) return
      const slot = yield* slotName
      // Commits are on the disk, and on a synchronous standby, before they are seen: what the mover has seen there must not be lost.
      yield* to`CREATE SUBSCRIPTION ${to.literal(name)} CONNECTION ${to.literal(connectionTo(url))} PUBLICATION ${to.literal(name)}
                WITH (create_slot = false, slot_name = ${to.literal(`'${slot}'`)}, copy_data = true, synchronous_commit = 'on')`
    })

  const copied: Effect.Effect<Copied, SqlError> = Effect.gen(function* () {
    const oid = (yield* subscription) ?? 0
    const tables = yield* to<{ name: string; state: string; rows: number }>`
      SELECT c.relname AS name, r.srsubstate::text AS state, coalesce(p.tuples_processed, 0) AS rows
      FROM pg_subscription_rel r JOIN pg_class c ON c.oid = r.srrelid
      LEFT JOIN pg_stat_progress_copy p ON p.relid = r.srrelid AND p.datid = (SELECT oid FROM pg_database WHERE datname = current_database())
      WHERE r.srsubid = ${oid}::bigint::oid`
    const ready = tables.filter(({ state }) => state === "r")
    return {
      isDone: tables.length > 0 && ready.length === tables.length,
      tables: tables.filter(({ state }) => state !== "i" && state !== "d").map((table) => table.name),
      rows: tables.reduce((sum, { rows }) => sum + rows, 0)
    }
  })

  let errorsBefore: number | undefined
  let looksInVain = 0

  /** What keeps replication from going on, if something does: asked {@link lookTrouble} apart. The servers' logs say more. */
  const trouble = Effect.gen(function* () {
    const [errors] = yield* to<{ count: number }>`
      SELECT coalesce(sum(apply_error_count + sync_error_count), 0) AS count
      FROM pg_stat_subscription_stats WHERE subid = ${(yield* subscription) ?? 0}::bigint::oid`
    // Those before this run may have been mended.
    errorsBefore ??= errors!.count
    if (errors!.count >= errorsBefore + errorsMax) return "there is one error after the other"
    const active =
      yield* from`SELECT 1 FROM pg_replication_slots WHERE slot_name = ${yield* slotName} AND active`
    looksInVain = active.length > 0 ? 0 : looksInVain + 1
    return looksInVain < looksInVainMax ? undefined : "the target does not connect to the source"
  })

  const mark = Effect.map(
    from<{ mark: number }>`INSERT INTO bucket_marks (move, mark) VALUES (${move}, 1)
      ON CONFLICT (move) DO UPDATE SET mark = bucket_marks.mark + 1 RETURNING mark`,
    ([row]) => row!.mark
  )

  const seen = Effect.map(
    to<{ mark: number }>`SELECT mark FROM bucket_marks WHERE move = ${move}`,
    ([row]) => row?.mark ?? 0
  )

  /** Waits until `to` has all that was committed in `from` before: changes come in the order of their commits, so it is enough to see one that comes after them. */
  const caughtUp = Effect.flatMap(mark, (last) =>
    Effect.repeat(seen, { schedule: Schedule.spaced(lookEvery_ms), until: (mark) => mark >= last })
  ).pipe(Effect.asVoid)

  const slots = from<{ slot_name: string; active_pid: number | null }>`
    SELECT slot_name, active_pid FROM pg_replication_slots
    WHERE database = current_database() AND (starts_with(slot_name, ${`${name}_`}) OR EXISTS (
      SELECT 1 FROM pg_publication p
      WHERE p.pubname = ${name} AND slot_name LIKE 'pg\\_' || obj_description(p.oid, 'pg_publication') || '\\_sync\\_%'))`

  const dropSlots = Effect.gen(function* () {
    for (const { active_pid, slot_name } of yield* slots) {
      if (active_pid !== null) yield* from`SELECT pg_terminate_backend(${active_pid})`
      const drop = from`SELECT pg_drop_replication_slot(s.slot_name) FROM pg_replication_slots s WHERE s.slot_name = ${slot_name}`
      yield* Effect.retry(drop, slotTries)
    }
  })

  /** Ends the processes of a subscription that is disabled, which nobody starts again. */
  const endWorkers = (oid: number) =>
    Effect.repeat(
      to<{ pid: number }>`
        SELECT pid, pg_terminate_backend(pid) FROM pg_stat_subscription WHERE subid = ${oid}::bigint::oid AND pid IS NOT NULL`,
      { schedule: slotTries, until: (workers) => workers.length === 0 }
    )

  /**
   * Takes all of it away, but not what was copied. The slots go before the subscription. One of a copy that has not begun waits for all transactions of its server that write. A subscription that is
   * dropped has that slot dropped, and waits for it: as a transaction of the same server that writes, or of one that waits for another like it, for ever.
   */
  const remove = Effect.gen(function* () {
    const oid = yield* subscription
    if (oid !== undefined) {
      // Copies that were not finished have slots of their own, named by the subscription's number: kept where it outlasts the subscription.
      yield* from`COMMENT ON PUBLICATION ${from.literal(name)} IS ${from.literal(`'${oid}'`)}`
      yield* to`ALTER SUBSCRIPTION ${to.literal(name)} DISABLE`
      yield* endWorkers(oid)
    }
    yield* dropSlots
    if (oid !== undefined) {
      yield* to`ALTER SUBSCRIPTION ${to.literal(name)} SET (slot_name = NONE)`
      yield* to`DROP SUBSCRIPTION ${to.literal(name)}`
    }
    yield* from`DROP PUBLICATION IF EXISTS ${from.literal(name)}`
  })

  return { publish, makeSlot, subscribe, copied, trouble, caughtUp, remove }
}

/** What {@link make} gives. */
export type BucketReplication = ReturnType<typeof make>
