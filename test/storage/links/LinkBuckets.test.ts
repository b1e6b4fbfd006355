import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { bucketOf } from "../../../src/keys/Buckets.ts"
import { bucketOfRow } from "../../../src/storage/links/LinkBucketsSql.ts"
import { describePostgres } from "../../support/services/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

const sqlOfNewDatabase = Effect.gen(function* () {
  const url = yield* migratedDatabase
  return Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
})

const keys = Array.from({ length: 2_000 }, (_, n) => `${"aZ9_-Qx".slice(n % 6)}${n.toString(36)}K${n % 7}`)

describePostgres("the bucket of a row on PostgreSQL", () => {
  it.scopedLive("is the one that nodes compute, in each domain", () =>
    Effect.gen(function* () {
      const sql = yield* sqlOfNewDatabase
      for (const domain of [0, 1, 4_294_967_295]) {
        const rows = yield* sql<{ key: string; bucket: number }>`
          SELECT key, ${sql.literal(bucketOfRow(domain))} AS bucket FROM unnest(${keys}::text[]) AS given (key)`
        expect(rows).toEqual(keys.map((key) => ({ key, bucket: bucketOf(domain, key) })))
      }
    })
  )

  it.scopedLive("can filter the rows of a publication, with changes and deletes", () =>
    Effect.gen(function* () {
      const sql = yield* sqlOfNewDatabase
      yield* sql`CREATE PUBLICATION moving FOR TABLE links WHERE (${sql.literal(bucketOfRow(0))} IN (7, 8))`
      yield* sql`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES ('kept', 'https://example.com', false, 1, 1)`
      yield* sql`UPDATE links SET title = 'changed' WHERE key = 'kept'`
      expect(yield* sql`DELETE FROM links WHERE key = 'kept' RETURNING title`).toEqual([{ title: "changed" }])
    })
  )
})
