import { KeyStock } from "../../src/storage/KeyStock.ts"
import * as KeyStockMemory from "../../src/storage/KeyStockMemory.ts"
import * as KeyStockSql from "../../src/storage/KeyStockSql.ts"
import { keyStockConcurrencyLaws } from "./KeyStockConcurrencyLaws.ts"
import { keyStockLaws } from "./KeyStockLaws.ts"
import { likeMemory } from "./likeMemory.ts"
import { playStock, stockCommand } from "./players.ts"
import { onEveryBackend, onEverySqlBackend } from "./stores.ts"

onEveryBackend(KeyStock, { memory: KeyStockMemory.layer(), sql: KeyStockSql.layer() }, (open) => {
  keyStockLaws("KeyStock", open)
  keyStockConcurrencyLaws("KeyStock", open)
})

onEverySqlBackend(KeyStock, KeyStockSql.layer(), (open) => {
  likeMemory({
    title: "KeyStock answers any sequence of commands like the one in memory",
    open,
    memory: KeyStockMemory.make(),
    command: stockCommand,
    player: playStock,
    numRuns: 40
  })
})
