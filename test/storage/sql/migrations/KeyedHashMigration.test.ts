import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import * as Migrations from "../../../../src/storage/sql/Migrations.ts"
import { emptyDatabases } from "../../../support/Stores.ts"

/** The schema as it was when hashes had no key. */
const migrateToPlainHashes = Migrations.migrateTo(12)

emptyDatabases((client) => {
  describe("migrating a database whose hashes had no key", () => {
    it.scopedLive("keeps the guards without their hashes, and no quota", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrateToPlainHashes
        yield* sql`INSERT INTO create_guards (name, token, begun_at, fingerprint, key, answer)
          VALUES ('idempotency:a', 1, 2, 'of the body', 'k', '{}')`
        yield* sql`INSERT INTO quotas (id, available, at, full_at) VALUES ('lookup:client:192.0.2.7', 1, 2, 3)`
        yield* Migrations.migrate
        expect(yield* sql`SELECT name, fingerprint, key, answer FROM create_guards`).toEqual([
          { name: "idempotency:a", fingerprint: "", key: "k", answer: "{}" }
        ])
        expect(yield* sql`SELECT id FROM quotas`).toEqual([])
      }).pipe(Effect.provide(client))
    )
  })
})
