import { KeyRangeStore } from "../../src/storage/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "../../src/storage/KeyRangeStoreMemory.ts"
import * as KeyRangeStoreSql from "../../src/storage/KeyRangeStoreSql.ts"
import { keyRangeStoreLaws } from "./KeyRangeStoreLaws.ts"
import { likeMemory } from "./likeMemory.ts"
import { playRanges, rangeCommand } from "./players.ts"
import { onEveryBackend, onEverySqlBackend } from "./stores.ts"

onEveryBackend(KeyRangeStore, { memory: KeyRangeStoreMemory.layer, sql: KeyRangeStoreSql.layer }, (open) => {
  keyRangeStoreLaws("KeyRangeStore", open)
})

onEverySqlBackend(KeyRangeStore, KeyRangeStoreSql.layer, (open) => {
  likeMemory({
    title: "KeyRangeStore answers any sequence of commands like the one in memory",
    open,
    memory: KeyRangeStoreMemory.make,
    command: rangeCommand,
    player: playRanges,
    numRuns: 40
  })
})
