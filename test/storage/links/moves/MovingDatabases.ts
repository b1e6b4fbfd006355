// Databases of links between which buckets are moved, and nodes that write to them meanwhile.

import { SqlClient } from "@effect/sql"
import { expect } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { bucketOf, bucketOfName, bucketOfSubject } from "../../../../src/keys/Buckets.ts"
import type { Place, Placement } from "../../../../src/storage/links/buckets/BucketPlacement.ts"
import * as BucketPlacementSql from "../../../../src/storage/links/buckets/BucketPlacementSql.ts"
import { isInForce } from "../../../../src/storage/links/buckets/LinkEpoch.ts"
import * as BucketMover from "../../../../src/storage/links/moves/BucketMover.ts"
import { inTransaction } from "../../../../src/storage/sql/SqlTransaction.ts"
import type { LogicalServer } from "../../../support/services/postgres/PostgresLogical.ts"
import { postgresAt } from "../../../support/Stores.ts"

/** New databases of a server, by number. */
export const databasesOn = (server: LogicalServer, count: number) =>
  Effect.gen(function* () {
    const databases = new Map<number, BucketMover.MovedDatabase>()
    for (let number = 0; number < count; number++) {
      const url = yield* server.database
      const context = yield* Layer.build(postgresAt(url, { maxConnections: 8, answerTimeout: Duration.zero }))
      databases.set(number, { sql: Context.get(context, SqlClient.SqlClient), url: Redacted.make(url) })
    }
    return databases
  })

export type Databases = ReadonlyMap<number, BucketMover.MovedDatabase>

/** What rows a database has, as what is known of each: its bucket, and its contents. */
const contentsOf = ({ sql }: BucketMover.MovedDatabase) =>
  Effect.gen(function* () {
    const links = yield* sql<{ key: string; url: string }>`SELECT key, url FROM links`
    const guards = yield* sql<{ name: string; token: number }>`SELECT name, token FROM create_guards`
    const visits = yield* sql<{ subject: string; grain: number; hour: number; visits: number }>`
      SELECT subject, grain, hour, non_bots AS visits FROM visit_periods`
    const ranks = yield* sql<{ key: string; visits: number }>`SELECT link_key AS key, visits FROM link_ranks`
    return [
      ...ranks.map(({ key, visits }) => [`rank ${key}`, bucketOf(key), String(visits)] as const),
      ...links.map(({ key, url }) => [`link ${key}`, bucketOf(key), url] as const),
      ...guards.map(({ name, token }) => [`guard ${name}`, bucketOfName(name), String(token)] as const),
      ...visits.map(
        ({ grain, hour, subject, visits }) =>
          [`visits ${subject} ${grain} ${hour}`, bucketOfSubject(subject), String(visits)] as const
      )
    ]
  })

/** What is in all databases, each in the home of its bucket and nowhere else. */
export const contents = (databases: Databases) =>
  Effect.gen(function* () {
    const { places } = yield* placementOf(databases)
    const found = new Map<string, string>()
    const astray: Array<unknown> = []
    for (const [number, database] of databases) {
      for (const [name, bucket, value] of yield* contentsOf(database)) {
        const { home, movingTo } = places[bucket]!
        if (home !== number || movingTo !== null || found.has(name))
          astray.push([name, number, places[bucket]])
        found.set(name, value)
      }
    }
    expect(astray).toEqual([])
    return found
  })

export const placementOf = (databases: Databases): Effect.Effect<Placement> =>
  Effect.orDie(
    Effect.flatMap(
      Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, databases.get(0)!.sql),
      ({ read }) => read
    )
  )

/** What a move leaves behind anywhere, which is nothing but its entry in the log. */
export const traces = (databases: Databases) =>
  Effect.map(
    Effect.forEach(
      databases.values(),
      ({ sql }) =>
        sql<{ what: string }>`
        SELECT 'publication' AS what FROM pg_publication
        UNION ALL SELECT 'slot ' || slot_name FROM pg_replication_slots WHERE database = current_database()
        UNION ALL SELECT 'subscription' FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE proname LIKE 'linkmint%'
        UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relkind = 'r' AND starts_with(relname, 'linkmint_move')
        UNION ALL SELECT 'mark' FROM bucket_marks
        UNION ALL SELECT 'leftovers' FROM bucket_leftovers`
    ),
    (rows) => rows.flat().map(({ what }) => what)
  )

/** Links, their ranks, guards and visits of `keys`, in database 0. */
export const fill = (databases: Databases, keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { sql } = databases.get(0)!
    yield* sql`INSERT INTO links (key, url, custom, created_at, updated_at, owner)
      SELECT key, 'https://example.com/' || key, false, 1, 1, 'usr_1' FROM unnest(${keys}::text[]) AS given (key)`
    yield* sql`INSERT INTO link_ranks (link_key, link_owner, link_created_at, visits, last_visit)
      SELECT key, 'usr_1', 1, 3, 500002 FROM unnest(${keys}::text[]) AS given (key)`
    yield* sql`INSERT INTO create_guards (name, token, begun_at, fingerprint, key, answer)
      SELECT 'idempotency:' || key, 1, (extract(epoch FROM now()) * 1000)::bigint, '', key, '{}' FROM unnest(${keys}::text[]) AS given (key)`
    yield* sql`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots)
      SELECT key || '@1', 0, h, 1, 0 FROM unnest(${keys}::text[]) AS given (key), generate_series(500000, 500002) AS hours (h)`
  })

export const someKeys = (count: number, prefix = "k") =>
  Array.from({ length: count }, (_, n) => `${prefix}${n.toString(36)}Q`)

/** A node: it knows a placement, and reads it again when a statement is refused. */
export const makeNode = (databases: Databases) =>
  Effect.gen(function* () {
    let known = yield* placementOf(databases)
    const written = new Map<string, string>()
    let waited_ms = 0

    /** Writes to the home of a bucket, once it is known, and not while it is being moved. */
    const writing = (
      bucket: number,
      statement: (sql: SqlClient.SqlClient, epoch: number) => Effect.Effect<ReadonlyArray<unknown>, unknown>
    ): Effect.Effect<void> =>
      Effect.gen(function* () {
        const place: Place = known.places[bucket]!
        if (place.movingTo === null) {
          const rows = yield* Effect.orDie(
            statement(databases.get(place.home)!.sql, known.epochs.get(place.home) ?? 0)
          )
          if (rows.length > 0) return
        }
        known = yield* placementOf(databases)
        return yield* Effect.zipRight(Effect.yieldNow(), writing(bucket, statement))
      })

    const timed = (effect: Effect.Effect<void>) =>
      Effect.flatMap(Effect.timed(effect), ([took]) =>
        Effect.sync(() => {
          waited_ms = Math.max(waited_ms, Duration.toMillis(took))
        })
      )

    /** Creates a link with its guard in one transaction, if both are at the same home, and counts a visit of it. */
    const write = (key: string, turn: number) =>
      Effect.gen(function* () {
        const name = `idempotency:${key}`
        const url = `https://example.com/${turn}`
        yield* timed(
          writing(
            bucketOf(key),
            (sql, epoch) =>
              sql`INSERT INTO links (key, url, custom, created_at, updated_at) SELECT ${key}, ${url}, false, 1, 1 WHERE ${isInForce(sql, epoch)}
                ON CONFLICT (key) DO UPDATE SET url = excluded.url RETURNING key`
          )
        )
        written.set(`link ${key}`, url)
        yield* timed(
          writing(
            bucketOfName(name),
            (sql, epoch) =>
              sql`INSERT INTO create_guards (name, token, begun_at, fingerprint, key, answer)
                SELECT ${name}, ${turn}, (extract(epoch FROM now()) * 1000)::bigint, '', ${key}, '{}' WHERE ${isInForce(sql, epoch)}
                ON CONFLICT (name) DO UPDATE SET token = excluded.token RETURNING name`
          )
        )
        written.set(`guard ${name}`, String(turn))
        const subject = `${key}@1`
        yield* timed(
          writing(bucketOfSubject(subject), (sql, epoch) =>
            inTransaction(
              sql,
              sql<{
                visits: number
              }>`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots) SELECT ${subject}, 0, 500002, 1, 0 WHERE ${isInForce(sql, epoch)}
                ON CONFLICT (subject, grain, hour) DO UPDATE SET non_bots = visit_periods.non_bots + 1 RETURNING non_bots AS visits`
            )
          )
        )
        const counted = `visits ${subject} 0 500002`
        written.set(counted, String(Number(written.get(counted) ?? 0) + 1))
      })

    return { write, written, waited_ms: () => waited_ms }
  })
