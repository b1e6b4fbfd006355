import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { databaseNow } from "../../sql/SqlDialect.ts"
import type { Move } from "../buckets/BucketPlacement.ts"
import type { LockSession } from "./MoverLock.ts"

/**
 * The steps of a move, in order; each can be done again.
 *
 * - `prepare`: barriers, publication, slot, subscription.
 * - `copy`: the subscription copies the rows.
 * - `compare`: they are compared while they change.
 * - `fence`: the buckets are marked as moving, and the target gets the last of their changes.
 * - `switch`: the target is made their home.
 * - `detach`: the replication ends.
 * - `verify`: what the source still has is compared with the target.
 * - `delete`: it is deleted from the source.
 */
export const steps = ["prepare", "copy", "compare", "fence", "switch", "detach", "verify", "delete"] as const
/** See {@link steps}. */
export type Step = (typeof steps)[number]

/** A move as the control database remembers it. */
export interface LoggedMove extends Move {
  readonly id: number
  /** What is to be done next; `abort` undoes the first steps. */
  readonly step: Step | "abort" | "done" | "aborted"
  /** Up to which hour both databases had rolled up visits before the fence: days and months. */
  readonly rolled: { readonly day: number; readonly month: number }
  /** The target's `pg_current_snapshot` when it had all changes, and nobody had written there. */
  readonly snapshot: string | null
}

interface MoveRow {
  readonly id: number
  readonly home_from: number
  readonly home_to: number
  readonly buckets: string
  readonly step: LoggedMove["step"]
  readonly rolled_day: number
  readonly rolled_month: number
  readonly snapshot: string | null
}

const moveOf = (row: MoveRow): LoggedMove => ({
  id: row.id,
  from: row.home_from,
  to: row.home_to,
  buckets: JSON.parse(row.buckets) as ReadonlyArray<number>,
  step: row.step,
  rolled: { day: row.rolled_day, month: row.rolled_month },
  snapshot: row.snapshot
})

/** Changes of a move that are written together with its next step. */
export type Change = Partial<Pick<LoggedMove, "rolled" | "snapshot">>

/** The moves in the control database. All is read and written by the session that has the lock there: once that is lost, nothing more can be. */
export const make = ({ ask, sql: control }: LockSession) => {
  const now = databaseNow(control)

  /** The move that is not over, if there is one. */
  const unfinished: Effect.Effect<LoggedMove | undefined, SqlError> = Effect.map(
    ask(control<MoveRow>`SELECT * FROM bucket_moves WHERE step NOT IN ('done', 'aborted')`),
    ([row]) => row && moveOf(row)
  )

  const begin = ({ buckets, from, to }: Move): Effect.Effect<LoggedMove, SqlError> =>
    Effect.map(
      ask(control<MoveRow>`
        INSERT INTO bucket_moves (id, home_from, home_to, buckets, step, begun_at)
        SELECT coalesce(max(id), 0) + 1, ${from}::smallint, ${to}::smallint, ${JSON.stringify(buckets)}, 'prepare', ${now} FROM bucket_moves
        RETURNING *`),
      ([row]) => moveOf(row!)
    )

  /** Gives the move as it is then. */
  const set = (
    { id, rolled, snapshot }: LoggedMove,
    step: LoggedMove["step"],
    change: Change = {}
  ): Effect.Effect<LoggedMove, SqlError> => {
    const next = { rolled, snapshot, ...change }
    return Effect.map(
      ask(control<MoveRow>`
        UPDATE bucket_moves SET step = ${step}, rolled_day = ${next.rolled.day}, rolled_month = ${next.rolled.month}, snapshot = ${next.snapshot},
          ended_at = CASE WHEN ${step} IN ('done', 'aborted') THEN ${now} ELSE NULL END
        WHERE id = ${id} RETURNING *`),
      ([row]) => moveOf(row!)
    )
  }

  return { unfinished, begin, set }
}

/** What {@link make} gives. */
export type BucketMoveLog = ReturnType<typeof make>
