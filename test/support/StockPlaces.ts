// Stocks that several processes use one after the other, and are killed.

import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import * as KeyFileDisk from "../../src/storage/keys/KeyFileDisk.ts"
import { KeyStock, type StockKind } from "../../src/storage/keys/KeyStock.ts"
import * as KeyStockFile from "../../src/storage/keys/KeyStockFile.ts"
import * as KeyStockSql from "../../src/storage/keys/KeyStockSql.ts"
import { numbers } from "../../src/storage/sql/postgres/PrimaryClient.ts"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"

/** A migrated database, a key file beside it, and the kind of stock in which they are used. */
export interface Place {
  readonly kind: StockKind
  readonly database: { readonly url: string } | { readonly path: string }
  readonly file: string
}

/** Keys of a place's takes, those that it adopts at a time, and those that it reads ahead from a file. */
export const taken = 10
export const adopted = 25
export const preload: KeyStockFile.Preload = { low: 5, high: 20 }

const clientOf = (database: Place["database"]) =>
  "url" in database
    ? Layer.orDie(PgClient.layer({ url: Redacted.make(database.url), types: numbers }))
    : Layer.orDie(SqliteClient.layer(database.path))

/** Opens the stock of a place. */
export const opened = ({ database, file, kind }: Place) =>
  Effect.gen(function* () {
    const inDatabase = KeyStockSql.layer(kind === "file" ? "none" : kind).pipe(
      Layer.provide(clientOf(database))
    )
    const base = Context.get(yield* Layer.build(inDatabase), KeyStock)
    const keyFile = yield* KeyFileDisk.make(file, 12)
    return kind === "file"
      ? yield* KeyStockFile.make(base, keyFile, preload)
      : KeyStockFile.makeLeft(base, keyFile)
  })
