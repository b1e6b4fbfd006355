// An SQLite database file, our client of it, and other programs that use it.

import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import Database from "libsql"
import { join } from "node:path"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"
import { temporaryFolder } from "./Stores.ts"

/** A client of the database file at `path`. */
export const clientAt = (path: string, options?: SqliteClient.Options) =>
  Effect.map(Layer.build(SqliteClient.layer(path, options)), (context) =>
    Context.get(context, SqlClient.SqlClient)
  )

/** A client of a new database with one table, and the file's path. */
export const open = Effect.fn(function* (options?: SqliteClient.Options) {
  const path = join(yield* temporaryFolder, "test.db")
  const sql = yield* clientAt(path, options)
  yield* sql`CREATE TABLE rows (name TEXT PRIMARY KEY, n INTEGER)`
  const insert = (name: string) => sql`INSERT INTO rows (name) VALUES (${name})`
  const names = Effect.map(sql<{ name: string }>`SELECT name FROM rows ORDER BY name`, (rows) =>
    rows.map(({ name }) => name)
  )
  return { path, sql, insert, names }
})

/** Another program that has the database file locked for writing until it is told to unlock it, or the scope closes. */
export const lockedByAnother = (path: string) =>
  Effect.gen(function* () {
    const other = yield* Effect.acquireRelease(
      Effect.sync(() => new Database(path)),
      (database) => Effect.sync(() => database.close())
    )
    yield* Effect.sync(() => other.exec("BEGIN IMMEDIATE"))
    return { unlock: Effect.sync(() => void other.exec("ROLLBACK")) }
  })

/** What is really in the file: a connection that has not committed sees its own rows too. */
export const namesSeenByAnother = (path: string) =>
  Effect.sync(() => {
    const other = new Database(path)
    const rows = other.prepare("SELECT name FROM rows ORDER BY name").all() as Array<{ name: string }>
    other.close()
    return rows.map(({ name }) => name)
  })

/** Lets everything run that can run now: promises and the event loop turn some times. */
export const settle = Effect.repeatN(
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
  20
)
