import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Context, Effect, Layer, Option } from "effect"
import { KeyMinter } from "../keys/KeyMinter.ts"
import { count } from "../keys/PackedKeys.ts"
import type { Settings } from "./Settings.ts"
import { DatabaseMark } from "../storage/nodes/DatabaseMark.ts"
import * as DatabaseMarkSql from "../storage/nodes/DatabaseMarkSql.ts"
import { KeyFile } from "../storage/keys/KeyFile.ts"
import * as KeyFileDisk from "../storage/keys/KeyFileDisk.ts"
import { KeyRangeStore } from "../storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreSql from "../storage/keys/KeyRangeStoreSql.ts"
import { KeyStock } from "../storage/keys/KeyStock.ts"
import * as KeyStockFile from "../storage/keys/KeyStockFile.ts"
import * as KeyStockSql from "../storage/keys/KeyStockSql.ts"
import { Witness } from "../storage/nodes/Witness.ts"
import * as Witnessed from "../storage/nodes/Witnessed.ts"

/** The number of keys that a process reads ahead from its key file. */
const preload: KeyStockFile.Preload = { low: 2_000, high: 10_000 }

/** The key file in the data folder, which this process must have. */
const keyFileIn = (path: string) =>
  Layer.unwrapEffect(Effect.map(KeyMinter, ({ space }) => KeyFileDisk.layer(path, space.length)))

/**
 * The key file of a process alone, if there is one: some keys may be left in it also when another kind of stock is used now.
 */
export const keyFile = ({ dataDir, databaseUrl, keyStock }: Settings) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).resolve(dataDir, "stock.keys")
    const isThere = Option.isNone(databaseUrl) && (keyStock === "file" || (yield* fs.exists(path)))
    return isThere ? Option.some(keyFileIn(path)) : Option.none()
  })

/** The node's ranges and stock: the witness learns about keys before they leave. Compares with the witness once before anything else; a witness that does not answer then is asked again when keys are to leave. */
export const witnessed: Layer.Layer<
  Witnessed.Witnessed | KeyRangeStore | KeyStock,
  Witnessed.ForeignDatabase,
  Witness | DatabaseMark | KeyRangeStore | KeyStock
> = Layer.effectContext(
  Effect.gen(function* () {
    const file = yield* Effect.serviceOption(KeyFile)
    const made = yield* Witnessed.make({
      witness: yield* Witness,
      mark: yield* DatabaseMark,
      ranges: yield* KeyRangeStore,
      stock: yield* KeyStock,
      ...(Option.isSome(file) && {
        dropOthers: Effect.map(Effect.flatMap(file.value.size, file.value.take), count)
      })
    })
    yield* Effect.catchTag(made.compare, "StorageError", ({ message }) =>
      Effect.logWarning(`No keys leave the database until a witness remembers them: ${message}`)
    )
    return Context.make(Witnessed.Witnessed, made).pipe(
      Context.add(KeyRangeStore, made.ranges),
      Context.add(KeyStock, made.stock)
    )
  })
)

/** The ranges of keys and the stock that the settings name, over the database and its witness. */
export const layer = (
  settings: Settings
): Layer.Layer<
  KeyRangeStore | KeyStock | DatabaseMark | Witnessed.Witnessed,
  KeyFileDisk.KeyFileUnusable | PlatformError | Witnessed.ForeignDatabase,
  FileSystem.FileSystem | Path.Path | KeyMinter | SqlClient | Witness
> =>
  Layer.unwrapEffect(
    Effect.map(keyFile(settings), (file) => {
      const { keyStock } = settings
      const inDatabase = KeyStockSql.layer(keyStock === "file" ? "none" : keyStock)
      const overFile = keyStock === "file" ? KeyStockFile.layer(preload) : KeyStockFile.layerLeft
      const stock = Option.match(file, {
        onNone: (): Layer.Layer<KeyStock, KeyFileDisk.KeyFileUnusable | PlatformError, SqlClient> =>
          inDatabase,
        onSome: (file) => overFile.pipe(Layer.provide(inDatabase), Layer.provideMerge(file))
      })
      return witnessed.pipe(
        Layer.provide(Layer.merge(stock, KeyRangeStoreSql.layer)),
        Layer.provideMerge(DatabaseMarkSql.layer)
      )
    })
  )
