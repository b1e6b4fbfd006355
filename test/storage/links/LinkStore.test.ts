import { Layer } from "effect"
import { FurtherDomains } from "../../../src/storage/links/FurtherDomains.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { linkBindingLaws, linkStoreLaws, linkWriteLaws } from "./LinkStoreLaws.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { linkCommand, playLinks } from "../../support/Players.ts"
import { onEveryBackend, onEverySqlBackend } from "../../support/Stores.ts"

onEveryBackend(LinkStore, { memory: LinkStoreMemory.layer, sql: LinkStoreSql.layer }, (open) => {
  linkStoreLaws("LinkStore", open)
})

/** As a node has it: group commit in front, which has nothing to do with lists. */
const grouped = LinkGroupCommit.links({ inFlightMax: 2 })
onEveryBackend(
  LinkStore,
  {
    memory: Layer.provide(grouped, LinkStoreMemory.layer),
    sql: Layer.provide(grouped, LinkStoreSql.layer)
  },
  (open) => linkWriteLaws("LinkStore with group commit", open)
)

/** As it is as long as there has never been a further domain: links are bound by other statements. */
const inOneDomain = Layer.provide(
  LinkStoreSql.layer,
  Layer.succeed(FurtherDomains, { areInUse: () => false })
)
onEverySqlBackend(LinkStore, inOneDomain, (open) => {
  linkBindingLaws("LinkStore in one domain", open, false)
})

onEverySqlBackend(LinkStore, LinkStoreSql.layer, (open) => {
  likeMemory({
    title: "LinkStore answers any sequence of commands like the one in memory",
    open,
    memory: LinkStoreMemory.make,
    command: linkCommand,
    player: playLinks,
    numRuns: 40
  })
})
