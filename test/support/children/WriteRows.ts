// Commits rows one after the other, some alone and some two in a transaction, and prints the last one of each commit. Argument: the database file.

import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import * as SqliteClient from "../../../src/storage/sql/SqliteClient.ts"

const insert = (n: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO rows VALUES (${n})`)

const write = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE rows (n INTEGER PRIMARY KEY)`
  for (let n = 1; ; n += 3) {
    yield* insert(n)
    process.stdout.write(`committed ${n}\n`)
    yield* sql.withTransaction(Effect.zipRight(insert(n + 1), insert(n + 2)))
    process.stdout.write(`committed ${n + 2}\n`)
  }
})

await Effect.runPromise(Effect.provide(write, SqliteClient.layer(process.argv[2]!)))
