import { KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "../../../src/sim/stores/KeyRangeStoreMemory.ts"
import * as KeyRangeStoreSql from "../../../src/storage/keys/KeyRangeStoreSql.ts"
import { keyRangeStoreLaws } from "./KeyRangeStoreLaws.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { playRanges, rangeCommand } from "../../support/Players.ts"
import { onEveryBackend, onEverySqlBackend } from "../../support/Stores.ts"

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
