import { FileSystem, Path } from "@effect/platform"
import { createClient } from "@libsql/client/sqlite3"
import { Clock, Context, Data, DateTime, Effect, Layer } from "effect"

/** Another process has the data folder. */
export class DataFolderInUse extends Data.TaggedError("DataFolderInUse")<{
  readonly folder: string
  readonly holder: string
}> {
  override get message() {
    return `The data folder ${this.folder} is in use by ${this.holder}. Stop it first, or set DATA_DIR to another folder.`
  }
}

/** The data folder cannot be created or written. */
export class DataFolderUnusable extends Data.TaggedError("DataFolderUnusable")<{
  readonly folder: string
  readonly reason: string
}> {
  override get message() {
    return `The data folder ${this.folder} cannot be used: ${this.reason}. Set DATA_DIR to a folder that this user can write.`
  }
}

/**
 * The folder that this process alone has: it exists, is writable, and is locked as long as the layer lives.
 *
 * The lock is SQLite's own on the file `lock.db`: an operating system file lock, which ends with the process however that ends
 * (also by `kill -9`). The holder's process id stands in the file for the message that a second start prints.
 */
export class DataFolder extends Context.Tag("linkmint/DataFolder")<
  DataFolder,
  { readonly path: string; readonly databaseFile: string }
>() {}

const lock = Effect.fn("DataFolder.lock")(function* (folder: string, file: string, pid: number) {
  const startedAt = yield* Clock.currentTimeMillis
  const client = yield* Effect.acquireRelease(
    Effect.try({
      try: () => createClient({ url: `file:${file}` }),
      catch: (error) => new DataFolderUnusable({ folder, reason: String(error) })
    }),
    (client) => Effect.sync(() => client.close())
  )
  const sql = (text: string, ...args: Array<number>) =>
    Effect.tryPromise({ try: () => client.execute({ sql: text, args }), catch: (error) => error as Error })

  const take = Effect.gen(function* () {
    yield* sql("BEGIN IMMEDIATE")
    yield* sql("CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL, started_at INTEGER NOT NULL)")
    yield* sql("DELETE FROM holder")
    yield* sql("INSERT INTO holder VALUES (?, ?)", pid, startedAt)
    yield* sql("COMMIT")
    // Kept open: a reserved lock shuts out other writers and lets them read who holds it.
    yield* sql("BEGIN IMMEDIATE")
  })
  const holder = sql("SELECT pid, started_at FROM holder").pipe(
    Effect.map(({ rows }) => {
      const row = rows[0]
      return row === undefined
        ? "another process"
        : `process ${String(row["pid"])}, running since ${DateTime.formatIso(DateTime.unsafeMake(Number(row["started_at"])))}`
    }),
    Effect.orElseSucceed(() => "another process")
  )
  yield* take.pipe(
    Effect.catchAll((error): Effect.Effect<never, DataFolderInUse | DataFolderUnusable> =>
      "code" in error && String(error.code).startsWith("SQLITE_BUSY")
        ? Effect.flatMap(holder, (holder) => new DataFolderInUse({ folder, holder }))
        : new DataFolderUnusable({ folder, reason: error.message })
    )
  )
})

/** Creates the folder where it is missing, and locks it for process `pid`. */
export const layer = (
  folder: string,
  pid: number
): Layer.Layer<DataFolder, DataFolderInUse | DataFolderUnusable, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(
    DataFolder,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const absolute = path.resolve(folder)
      yield* fs.makeDirectory(absolute, { recursive: true, mode: 0o700 }).pipe(
        Effect.andThen(fs.access(absolute, { writable: true })),
        Effect.mapError((error) => new DataFolderUnusable({ folder: absolute, reason: error.message }))
      )
      yield* lock(absolute, path.join(absolute, "lock.db"), pid)
      return { path: absolute, databaseFile: path.join(absolute, "linkmint.db") }
    })
  )
