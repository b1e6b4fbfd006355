import { VisitStore } from "../../src/storage/VisitStore.ts"
import * as VisitStoreMemory from "../../src/storage/VisitStoreMemory.ts"
import * as VisitStoreSql from "../../src/storage/VisitStoreSql.ts"
import { likeMemory } from "./likeMemory.ts"
import { playVisits, visitCommand } from "./visitPlayer.ts"
import { onEveryBackend, onEverySqlBackend } from "./stores.ts"
import { visitStoreLaws, visitUpkeepLaws } from "./VisitStoreLaws.ts"

onEveryBackend(VisitStore, { memory: VisitStoreMemory.layer, sql: VisitStoreSql.layer }, (open) => {
  visitStoreLaws("VisitStore", open)
})

onEverySqlBackend(VisitStore, VisitStoreSql.layer, (open) => {
  visitUpkeepLaws("VisitStore", open)
  likeMemory({
    title: "VisitStore answers any sequence of commands like the one in memory",
    open,
    memory: VisitStoreMemory.make,
    command: visitCommand,
    player: playVisits,
    numRuns: 40
  })
})
