import type { SqlClient, Statement } from "@effect/sql"
import { Context, Effect } from "effect"
import { type Direct, DirectOr, type Run } from "../../../fibers/Direct.ts"
import { inTransaction } from "../../sql/SqlTransaction.ts"
import { StorageError } from "../../StorageError.ts"
import { bucketOfRow } from "./LinkBucketsSql.ts"
import { isInForce } from "./LinkEpoch.ts"
import * as BucketBarrier from "../moves/BucketBarrier.ts"

/** What a caller knows of the database that it asks, where links are in several: see `BucketPlacement`. */
export interface Tenure {
  /** The epoch of the database. */
  readonly epoch: number
  /** The buckets that are at home there. */
  readonly buckets: ReadonlyArray<number>
  /** Whether some of them are being moved away. */
  readonly isLeaving: boolean
}

/** The tenure on which statements are asked. Where one database has all links there is none, and nothing is checked. */
export class LinkTenure extends Context.Reference<LinkTenure>()("linkmint/LinkTenure", {
  defaultValue: (): Tenure | undefined => undefined
}) {}

/** What one database is asked, without a fiber, by who says on which tenure. As an effect it is asked on that of its fiber. */
export class Tenured<A> extends DirectOr<A, StorageError> {
  /** The same on a tenure. */
  readonly on: (tenure: Tenure | undefined) => Run<A, StorageError>

  /** `inFiber`: how a fiber has it; by default as the others do, whatever transaction it is in. */
  constructor(
    on: (tenure: Tenure | undefined) => Direct<A, StorageError>,
    inFiber: Effect.Effect<A, StorageError> = Effect.flatMap(LinkTenure, on)
  ) {
    super(on(undefined).run, inFiber)
    this.on = (tenure) => on(tenure).run
  }
}

const outdated = "buckets have left this database since the placement was read"

/** The caller knows an old epoch of the database: it is to read the placement again. Nothing was done. */
export const refused = (operation: string): StorageError =>
  new StorageError({ operation, applied: "no", reason: outdated })

/** What the barrier of a move says (`BucketBarrier`). */
const barred = "the bucket of this row is moving"

/** Whether an operation was refused because of an old placement; of one that had several parts, some may have been done. */
export const isRefused = ({ reason }: StorageError): boolean =>
  reason.includes(outdated) || reason.includes(barred)

/** A part of what was asked would write rows of buckets that are being moved. */
export const areMoving = (operation: string): StorageError =>
  new StorageError({ operation, applied: "no", reason: "its links are being moved" })

/** The condition that a row, by default of `links`, is in a bucket that is at home here. A row's bucket, whose hash takes longer than all else, is asked for only while there may be rows of others. */
export const isAtHome = (
  sql: SqlClient.SqlClient,
  { buckets }: Tenure,
  bucket: string = bucketOfRow
): Statement.Fragment =>
  sql`(NOT ${BucketBarrier.isSome(sql)} OR ${sql.literal(bucket)} = ANY(${buckets}::int[]))`

/** The same as a further condition; none where one database has all links. */
export const andAtHome = (
  sql: SqlClient.SqlClient,
  tenure: Tenure | undefined,
  bucket?: string
): Statement.Fragment => (tenure === undefined ? sql`` : sql`AND ${isAtHome(sql, tenure, bucket)}`)

/**
 * Runs what writes with links, whatever it is, in a transaction of PostgreSQL that is refused under an old epoch.
 *
 * Its first statement locks `links` as one does that writes them, so that whoever raises the epoch waits for the transaction's end; and as it locks before it takes its snapshot, it sees an
 * epoch that was raised before.
 */
export const under = <A, E, R>(
  sql: SqlClient.SqlClient,
  operation: string,
  { epoch }: Tenure,
  run: Effect.Effect<A, E, R>
) =>
  inTransaction(
    sql,
    Effect.gen(function* () {
      const [row] = yield* sql<{ in_force: boolean }>`
        WITH writer AS (UPDATE links SET key = key WHERE false) SELECT ${isInForce(sql, epoch)} AS in_force`
      return yield* row!.in_force ? run : refused(operation)
    })
  )

/** Runs what reads, and then asks whether the epoch is old: then it is refused, because what was read may be. */
export const confirmed = <A, E, R>(
  sql: SqlClient.SqlClient,
  operation: string,
  { epoch }: Tenure,
  run: Effect.Effect<A, E, R>
) =>
  Effect.zipLeft(
    run,
    Effect.flatMap(sql<{ in_force: boolean }>`SELECT ${isInForce(sql, epoch)} AS in_force`, ([row]) =>
      row!.in_force ? Effect.void : refused(operation)
    )
  )
