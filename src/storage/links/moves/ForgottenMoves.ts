import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import type { Move } from "../buckets/BucketPlacement.ts"
import * as BucketPlacementSql from "../buckets/BucketPlacementSql.ts"
import { bucketOfRow } from "../buckets/LinkBucketsSql.ts"
import * as LinkEpoch from "../buckets/LinkEpoch.ts"

/**
 * Has the placement say at least the epochs that the databases have. It can say less where the control database has lost the commit by which a move began: then all nodes are refused by the database
 * that the move was to leave. To be run by who moves buckets; `unfinished` is the move whose rows may be in both of its databases.
 *
 * Gives why it does not, if links are where the placement does not have them: it has lost the end of a move, and these nodes must go on being refused.
 */
export const recall = (
  databases: ReadonlyMap<number, { readonly sql: SqlClient.SqlClient }>,
  unfinished: Move | undefined
) =>
  Effect.gen(function* () {
    const control = databases.get(0)!.sql
    const placement = yield* Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, control)
    const { epochs, places } = yield* placement.read
    const ahead: Array<readonly [home: number, epoch: number]> = []
    for (const [number, { sql }] of databases) {
      const { look } = yield* Effect.provideService(LinkEpoch.make, SqlClient.SqlClient, sql)
      const epoch = yield* look
      if (epoch > (epochs.get(number) ?? 0)) ahead.push([number, epoch])
    }
    if (ahead.length === 0) return undefined
    for (const [number, { sql }] of databases) {
      const isBetween = number === unfinished?.from || number === unfinished?.to
      const there = new Set(isBetween ? unfinished.buckets : [])
      for (const [bucket, { home }] of places.entries()) if (home === number) there.add(bucket)
      // Reads all links, which only who has lost commits waits for.
      const astray = yield* sql<{ bucket: number }>`
        SELECT DISTINCT ${sql.literal(bucketOfRow)} AS bucket FROM links
        WHERE NOT ${sql.literal(bucketOfRow)} = ANY(${Array.from(there)}::int[]) ORDER BY bucket`
      if (astray.length === 0) continue
      return `Database 0 has lost commits of moves: database ${number} has links of the buckets ${astray.map(({ bucket }) => bucket).join(", ")}, though they are not there by bucket_placement. Put that right, as the operator's guide says.`
    }
    for (const [home, epoch] of ahead) {
      yield* control`
        INSERT INTO bucket_homes (home, epoch) VALUES (${home}, ${epoch})
        ON CONFLICT (home) DO UPDATE SET epoch = excluded.epoch WHERE bucket_homes.epoch < excluded.epoch`
    }
    return undefined
  })
