import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option } from "effect"
import { KeyMinter } from "./KeyMinter.ts"
import type { Settings } from "./Settings.ts"
import * as KeyFileDisk from "./storage/KeyFileDisk.ts"
import type { KeyStock } from "./storage/KeyStock.ts"
import * as KeyStockFile from "./storage/KeyStockFile.ts"
import * as KeyStockSql from "./storage/KeyStockSql.ts"

/** How many keys a process reads ahead from its key file. */
const preload: KeyStockFile.Preload = { low: 2_000, high: 10_000 }

/** The key file in the data folder, which this process must have. */
const keyFileIn = (path: string) =>
  Layer.unwrapEffect(Effect.map(KeyMinter, ({ space }) => KeyFileDisk.layer(path, space.length)))

/**
 * The key file of a process alone, where there is one: also when keys are not stocked in it any more, some may be left in it.
 */
export const keyFile = ({ dataDir, databaseUrl, keyStock }: Settings) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).resolve(dataDir, "stock.keys")
    const isThere = Option.isNone(databaseUrl) && (keyStock === "file" || (yield* fs.exists(path)))
    return isThere ? Option.some(keyFileIn(path)) : Option.none()
  })

/** The stock of keys that the settings name, over the database. */
export const layer = (
  settings: Settings
): Layer.Layer<
  KeyStock,
  KeyFileDisk.KeyFileUnusable | PlatformError,
  FileSystem.FileSystem | Path.Path | KeyMinter | SqlClient
> =>
  Layer.unwrapEffect(
    Effect.map(keyFile(settings), (file) => {
      const { keyStock } = settings
      const inDatabase = KeyStockSql.layer(keyStock === "file" ? "none" : keyStock)
      const overFile = keyStock === "file" ? KeyStockFile.layer(preload) : KeyStockFile.layerLeft
      return Option.match(file, {
        onNone: () => inDatabase,
        onSome: (file) => overFile.pipe(Layer.provide([file, inDatabase]))
      })
    })
  )
