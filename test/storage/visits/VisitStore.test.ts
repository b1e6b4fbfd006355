import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "../../../src/sim/stores/VisitStoreMemory.ts"
import * as VisitStoreSql from "../../../src/storage/visits/VisitStoreSql.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { playVisits, visitCommand } from "./VisitPlayer.ts"
import { onEveryBackend, onEverySqlBackend } from "../../support/Stores.ts"
import { visitRankLaws, visitStoreLaws, visitUpkeepLaws } from "./VisitStoreLaws.ts"

onEveryBackend(VisitStore, { memory: VisitStoreMemory.layer, sql: VisitStoreSql.layer }, (open) => {
  visitStoreLaws("VisitStore", open)
  visitRankLaws("VisitStore", open)
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
