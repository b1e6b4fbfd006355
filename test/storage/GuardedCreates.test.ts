import { Context, Effect, Layer } from "effect"
import type { Link } from "../../src/Link.ts"
import { GuardedCreates } from "../../src/storage/GuardedCreates.ts"
import * as GuardedCreatesMemory from "../../src/storage/GuardedCreatesMemory.ts"
import * as GuardedCreatesSql from "../../src/storage/GuardedCreatesSql.ts"
import { LinkStore } from "../../src/storage/LinkStore.ts"
import * as LinkStoreMemory from "../../src/storage/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../src/storage/LinkStoreSql.ts"
import { guardedCreatesLaws, type GuardedStores } from "./GuardedCreatesLaws.ts"
import { onEveryBackend } from "./stores.ts"

class Stores extends Context.Tag("test/GuardedStores")<Stores, GuardedStores>() {}

const memory = Layer.sync(Stores, () => {
  const rows = new Map<string, Link>()
  const links = LinkStoreMemory.makeOver(rows)
  return { links, guarded: GuardedCreatesMemory.makeOver(rows, links), pause: Effect.sleep }
})

const sql = Layer.effect(
  Stores,
  Effect.all({ links: LinkStore, guarded: GuardedCreates, pause: Effect.succeed(Effect.sleep) })
).pipe(Layer.provide(GuardedCreatesSql.layer), Layer.provide(LinkStoreSql.layer))

onEveryBackend(Stores, { memory, sql }, guardedCreatesLaws)
