import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { Link } from "../../../src/model/Link.ts"
import { GuardedCreates, guardTimes } from "../../../src/storage/links/GuardedCreates.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import * as GuardedCreatesMemory from "../../../src/sim/stores/GuardedCreatesMemory.ts"
import * as GuardedCreatesSql from "../../../src/storage/links/GuardedCreatesSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { guardedCreatesLaws, type GuardedStores } from "./GuardedCreatesLaws.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, onEveryBackend, postgresAt } from "../../support/Stores.ts"

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

describePostgres("a guard that was begun by a clock that was ahead", () => {
  it.scopedLive("is begun again as soon as the clock is right, and not when that time has come", () =>
    Effect.gen(function* () {
      const guards = yield* GuardedCreates
      const sql = yield* SqlClient.SqlClient
      const begin = (token: number) =>
        guards.beginMany([{ name: "g", token, fingerprint: "f", ...guardTimes }])
      expect(yield* begin(1)).toEqual([{ _tag: "Begun" }])
      yield* sql`UPDATE create_guards SET begun_at = begun_at + 5000`
      expect(yield* begin(2)).toMatchObject([{ _tag: "Running" }])
      yield* sql`UPDATE create_guards SET begun_at = begun_at + 3600000`
      expect(yield* begin(3)).toEqual([{ _tag: "Begun" }])
    }).pipe(
      Effect.provide(
        Layer.unwrapEffect(
          Effect.map(migratedDatabase, (url) =>
            GuardedCreatesSql.layer.pipe(
              Layer.provide(LinkStoreSql.layer),
              Layer.provideMerge(postgresAt(url))
            )
          )
        )
      )
    )
  )
})

/** As a node has it: group commit in front. */
const grouped = LinkGroupCommit.guardedCreates({ inFlightMax: 2 })
onEveryBackend(Stores, { memory: memory(grouped), sql: sql(grouped) }, (open) =>
  guardedCreatesLaws("GuardedCreates with group commit", open)
)
