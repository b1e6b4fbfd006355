import { Context, Effect, Layer } from "effect"
import type { Link } from "../../../src/model/Link.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import * as GuardedCreatesMemory from "../../../src/sim/stores/GuardedCreatesMemory.ts"
import * as GuardedCreatesSql from "../../../src/storage/links/GuardedCreatesSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { guardedCreatesLaws, type GuardedStores } from "./GuardedCreatesLaws.ts"
import { onEveryBackend } from "../../support/Stores.ts"

class Stores extends Context.Tag("test/GuardedStores")<Stores, GuardedStores>() {}

/** The ports as they are, or as a layer over `GuardedCreates` makes them. */
const memory = (over: Layer.Layer<GuardedCreates, never, GuardedCreates>) =>
  Layer.scoped(
    Stores,
    Effect.suspend(() => {
      const rows = new Map<string, Link>()
      const links = LinkStoreMemory.makeOver(rows)
      const guarded = Layer.succeed(GuardedCreates, GuardedCreatesMemory.makeOver(rows, links))
      return Effect.map(Layer.build(Layer.provide(over, guarded)), (context) => ({
        links,
        guarded: Context.get(context, GuardedCreates),
        pause: Effect.sleep
      }))
    })
  )

const sql = (over: Layer.Layer<GuardedCreates, never, GuardedCreates>) =>
  Layer.effect(
    Stores,
    Effect.all({ links: LinkStore, guarded: GuardedCreates, pause: Effect.succeed(Effect.sleep) })
  ).pipe(Layer.provide(over), Layer.provide(GuardedCreatesSql.layer), Layer.provide(LinkStoreSql.layer))

const asTheyAre = Layer.effect(GuardedCreates, GuardedCreates)
onEveryBackend(Stores, { memory: memory(asTheyAre), sql: sql(asTheyAre) }, (open) =>
  guardedCreatesLaws("GuardedCreates", open)
)

/** As a node has it: group commit in front. */
const grouped = LinkGroupCommit.guardedCreates({ inFlightMax: 2 })
onEveryBackend(Stores, { memory: memory(grouped), sql: sql(grouped) }, (open) =>
  guardedCreatesLaws("GuardedCreates with group commit", open)
)
