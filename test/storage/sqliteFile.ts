// An SQLite database file, our client of it, and other programs that use it.

import { SqlClient } from "@effect/sql"
import { createClient } from "@libsql/client/sqlite3"
import { Context, Effect, Layer } from "effect"
import { join } from "node:path"
import * as SqliteClient from "../../src/storage/SqliteClient.ts"
import { temporaryFolder } from "./stores.ts"

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
      Effect.sync(() => createClient({ url: `file:${path}` })),
      (client) => Effect.sync(() => client.close())
    )
    yield* Effect.promise(() => other.execute("BEGIN IMMEDIATE"))
    return { unlock: Effect.asVoid(Effect.promise(() => other.execute("ROLLBACK"))) }
  })

/** What is really in the file: a connection that has not committed sees its own rows too. */
export const namesSeenByAnother = (path: string) =>
  Effect.promise(async () => {
    const other = createClient({ url: `file:${path}` })
    const { rows } = await other.execute("SELECT name FROM rows ORDER BY name")
    other.close()
    return rows.map((row) => row["name"])
  })

/** Lets everything run that can run now: promises and the event loop turn some times. */
export const settle = Effect.repeatN(
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
  20
)
