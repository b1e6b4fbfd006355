import { FileSystem, Path } from "@effect/platform"
import { Context, Data, DateTime, Effect, Layer, Schema } from "effect"
import Database from "libsql"

/** Another process has locked the data folder. */
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
 * The folder that only this process uses: it exists, is writable, and is locked as long as the layer lives.
 *
 * The lock is SQLite's own on the file `lock.db`: an operating system file lock, which ends with the process however that ends
 * (also by `kill -9`). The holder's process id is in `lock.json` beside it, for the message that a second start prints.
 */
export class DataFolder extends Context.Tag("linkmint/DataFolder")<
  DataFolder,
  {
    readonly path: string
    readonly databaseFile: string
    /** Where `TrustedTime` notes what time it is. */
    readonly clockFile: string
  }
>() {}

/** Who has the folder. */
const Holder = Schema.parseJson(Schema.Struct({ pid: Schema.Int, startedAt: Schema.DateTimeUtc }))

/**
 * Takes the lock or fails with `SQLITE_BUSY`. Nothing is ever written to the file, so that two who start at once cannot
 * both meet a lock that the other is giving up. By `exec`, and rolled back before closing: libSQL keeps a connection with its locks until
 * prepared statements are garbage-collected.
 */
const lock = (file: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const db = new Database(file)
        try {
          db.exec("BEGIN IMMEDIATE")
        } catch (error) {
          db.close()
          throw error
        }
        return db
      },
      catch: (error) => error as Error
    }),
    (db) =>
      Effect.sync(() => {
        db.exec("ROLLBACK")
        db.close()
      })
  )

/** Lets only this user read the files in the folder, also where an earlier version, or a copy, has left them open to others. */
const closeToOthers = (fs: FileSystem.FileSystem, path: Path.Path, folder: string) =>
  fs.readDirectory(folder).pipe(
    Effect.flatMap(
      Effect.forEach(
        (name) =>
          /^(linkmint\.db|lock\.|stock\.|clock\.)/.test(name)
            ? fs.chmod(path.join(folder, name), 0o600)
            : Effect.void,
        { discard: true }
      )
    ),
    Effect.mapError((error) => new DataFolderUnusable({ folder, reason: error.message }))
  )

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
      const holderFile = path.join(absolute, "lock.json")
      const inUse = fs.readFileString(holderFile).pipe(
        Effect.flatMap(Schema.decode(Holder)),
        Effect.match({
          onFailure: () => "another process",
          onSuccess: ({ pid, startedAt }) => `process ${pid}, running since ${DateTime.formatIso(startedAt)}`
        }),
        Effect.flatMap((holder) => new DataFolderInUse({ folder: absolute, holder }))
      )
      yield* Effect.catchAll(
        lock(path.join(absolute, "lock.db")),
        (error): Effect.Effect<never, DataFolderInUse | DataFolderUnusable> =>
          "code" in error && String(error.code).startsWith("SQLITE_BUSY")
            ? inUse
            : new DataFolderUnusable({ folder: absolute, reason: error.message })
      )
      yield* closeToOthers(fs, path, absolute)
      const startedAt = yield* DateTime.now
      yield* Schema.encode(Holder)({ pid, startedAt }).pipe(
        Effect.flatMap((holder) => fs.writeFileString(holderFile, holder, { mode: 0o600 })),
        Effect.mapError((error) => new DataFolderUnusable({ folder: absolute, reason: error.message }))
      )
      return {
        path: absolute,
        databaseFile: path.join(absolute, "linkmint.db"),
        clockFile: path.join(absolute, "clock.json")
      }
    })
  )
