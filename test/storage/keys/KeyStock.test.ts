import { NodeContext } from "@effect/platform-node"
import { Context, Effect, Layer } from "effect"
import { join } from "node:path"
import { describe } from "vitest"
import * as KeyFileDisk from "../../../src/storage/keys/KeyFileDisk.ts"
import { KeyStock, type StockKind } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockFile from "../../../src/storage/keys/KeyStockFile.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import { keyStockConcurrencyLaws } from "./KeyStockConcurrencyLaws.ts"
import { type Kinds, keyStockKindLaws } from "./KeyStockKindLaws.ts"
import { keyStockLaws, stockedKeyLaws } from "./KeyStockLaws.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { playStock, stockCommand } from "../../support/Players.ts"
import { onEveryBackend, onEverySqlBackend, type Open, temporaryFolder } from "../../support/Stores.ts"

/** The same stock, whose laws are asked with keys that were minted ahead. */
const filled = (open: Open<KeyStock["Type"]>): Open<KeyStock["Type"]> =>
  Effect.map(open, (client) =>
    Effect.map(client, (stock) => ({ ...stock, add: (keys) => Effect.asVoid(stock.fill(keys)) }))
  )

onEveryBackend(KeyStock, { memory: KeyStockMemory.layer(), sql: KeyStockSql.layer() }, (open) => {
  keyStockLaws("KeyStock", open)
  keyStockConcurrencyLaws("KeyStock", open)
})

describe.each(["status", "two-table"] as const)("%s", (kind) => {
  onEverySqlBackend(KeyStock, KeyStockSql.layer(kind), (open) => {
    stockedKeyLaws("KeyStock", filled(open))
    keyStockConcurrencyLaws("KeyStock", filled(open))
  })
})

/** The stocks of all kinds that share tables. */
class StocksInTables extends Context.Tag("test/StocksInTables")<
  StocksInTables,
  Readonly<Record<"none" | "table" | "status" | "two-table", KeyStock["Type"]>>
>() {}

/** With a key file, which is new for each client. Its keys are short, so that others stand in the table beside it. */
const withFile = (open: Open<StocksInTables["Type"]>): Open<Kinds> =>
  Effect.map(open, (client) =>
    Effect.gen(function* () {
      const tables = yield* client
      const file = yield* KeyFileDisk.make(join(yield* temporaryFolder, "keys"), 4)
      return (kind: StockKind) =>
        kind === "file"
          ? KeyStockFile.make(tables.none, file, { low: 5, high: 20 })
          : Effect.succeed(KeyStockFile.makeLeft(tables[kind], file))
    }).pipe(Effect.provide(NodeContext.layer), Effect.orDie)
  )

onEveryBackend(
  StocksInTables,
  {
    memory: Layer.sync(StocksInTables, () => {
      const tables = KeyStockMemory.emptyTables()
      const stock = (kind: Exclude<StockKind, "file">) => KeyStockMemory.makeOver(tables, kind)
      return {
        none: stock("none"),
        table: stock("table"),
        status: stock("status"),
        "two-table": stock("two-table")
      }
    }),
    sql: Layer.effect(
      StocksInTables,
      Effect.all({
        none: KeyStockSql.make("none"),
        table: KeyStockSql.make("table"),
        status: KeyStockSql.make("status"),
        "two-table": KeyStockSql.make("two-table")
      })
    )
  },
  (open) => {
    keyStockKindLaws(withFile(open), ["table", "status", "two-table", "file"])
    const openFile = Effect.map(
      withFile(open),
      Effect.flatMap((kinds) => kinds("file"))
    )
    stockedKeyLaws("KeyStock in a file", filled(openFile), { noticesRepeats: false })
  }
)

onEverySqlBackend(KeyStock, KeyStockSql.layer("two-table"), (open) => {
  likeMemory({
    title: "KeyStock answers any sequence of commands like the one in memory",
    open,
    memory: KeyStockMemory.make("two-table"),
    command: stockCommand,
    player: playStock,
    numRuns: 40
  })
})
