import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { bucketOf, bucketOfName, bucketOfSubject } from "../../../src/keys/Buckets.ts"
import { qualifiedKey } from "../../../src/keys/QualifiedKey.ts"
import {
  bucketOfGuardRow,
  bucketOfRankRow,
  bucketOfRow,
  bucketOfSubjectRow
} from "../../../src/storage/links/buckets/LinkBucketsSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

const sqlOfNewDatabase = Effect.gen(function* () {
  const url = yield* migratedDatabase
  return Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
})

/** The texts of links, some in further domains. */
const keys = Array.from({ length: 2_000 }, (_, n) =>
  qualifiedKey({ domain: n % 3, key: `${"aZ9_-Qx".slice(n % 6)}${n.toString(36)}K${n % 7}` })
)

describePostgres("the bucket of a row on PostgreSQL", () => {
  it.scopedLive("is the one that nodes compute, in each domain", () =>
    Effect.gen(function* () {
      const sql = yield* sqlOfNewDatabase
      const rows = yield* sql<{ key: string; bucket: number }>`
        SELECT key, ${sql.literal(bucketOfRow)} AS bucket FROM unnest(${keys}::text[]) AS given (key)`
      expect(rows).toEqual(keys.map((key) => ({ key, bucket: bucketOf(key) })))
    })
  )

  it.scopedLive(
    "is that of its name where it is a guard, and that of its key or owner where it is a subject of visits",
    () =>
      Effect.gen(function* () {
        const sql = yield* sqlOfNewDatabase
        const names = keys.map((key, n) => (n % 2 === 0 ? `reuse:${key}` : key))
        const besides = keys.map((key, n) => `idempotency:${n}@${key}`)
        expect(
          yield* sql`SELECT ${sql.literal(bucketOfGuardRow)} AS bucket FROM unnest(${besides}::text[]) AS given (name)`
        ).toEqual(keys.map((key) => ({ bucket: bucketOf(key) })))
        expect(besides.map(bucketOfName)).toEqual(keys.map((key) => bucketOf(key)))
        const subjects = keys.map((key, n) => (n % 2 === 0 ? `${key}@${n.toString(36)}` : key))
        expect(
          yield* sql`SELECT name, ${sql.literal(bucketOfGuardRow)} AS bucket FROM unnest(${names}::text[]) AS given (name)`
        ).toEqual(names.map((name) => ({ name, bucket: bucketOfName(name) })))
        expect(
          yield* sql`SELECT ${sql.literal(bucketOfSubjectRow)} AS bucket FROM unnest(${subjects}::text[]) AS given (subject)`
        ).toEqual(keys.map((key) => ({ bucket: bucketOf(key) })))
        expect(subjects.map(bucketOfSubject)).toEqual(keys.map((key) => bucketOf(key)))
      })
  )

  it.scopedLive("can filter the rows of a publication, with changes and deletes", () =>
    Effect.gen(function* () {
      const sql = yield* sqlOfNewDatabase
      yield* sql`CREATE PUBLICATION moving FOR TABLE links WHERE (${sql.literal(bucketOfRow)} IN (7, 8)),
        create_guards WHERE (${sql.literal(bucketOfGuardRow)} IN (7, 8)),
        link_ranks WHERE (${sql.literal(bucketOfRankRow)} IN (7, 8)),
        visit_periods WHERE (${sql.literal(bucketOfSubjectRow)} IN (7, 8))`
      yield* sql`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES ('kept', 'https://example.com', false, 1, 1)`
      yield* sql`UPDATE links SET title = 'changed' WHERE key = 'kept'`
      expect(yield* sql`DELETE FROM links WHERE key = 'kept' RETURNING title`).toEqual([{ title: "changed" }])
    })
  )
})
