import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { describe } from "vitest"
import { fromStrings } from "../../../src/keys/PackedKeys.ts"
import { KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreSql from "../../../src/storage/keys/KeyRangeStoreSql.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import * as KeyLedger from "../../../src/storage/keys/KeyLedger.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { onEveryDatabase } from "../../support/Stores.ts"

onEveryDatabase((client) => {
  describe("the ledger of keys", () => {
    it.live("counts minted keys where they are, and says when there are too many", () =>
      Effect.gen(function* () {
        const counts = (rowsMax: number) =>
          Effect.flatMap(KeyLedger.KeyLedger, (ledger) => ledger.counts).pipe(
            Effect.provide(Layer.fresh(KeyLedger.layer(rowsMax)))
          )
        expect(yield* counts(10)).toEqual({ minted: 0, stocked: 0, bound: 0, quarantined: 0 })
        yield* (yield* KeyRangeStore).advance({ length: 7, range: 3 }, { count: 50, size: 1_000 })
        yield* (yield* KeyStock).add(fromStrings(["stocked1", "stocked2"]))
        const links = yield* LinkStore
        yield* links.insertMany([
          linkOf("bound-1"),
          linkOf("bound-2"),
          { ...linkOf("an-alias"), custom: true },
          linkOf("deleted")
        ])
        yield* links.deleteMany([{ key: "deleted", at: 2_000 }])
        const all = { minted: 50, stocked: 2, bound: 2, quarantined: 1 }
        expect(yield* counts(4)).toEqual(all)
        expect(yield* counts(3)).toBeNull()
        yield* (yield* KeyStock).add(fromStrings(["stocked3", "stocked4", "stocked5"]))
        expect(yield* counts(4)).toBeNull()
        expect(yield* counts(5)).toEqual({ ...all, stocked: 5 })
      }).pipe(
        Effect.provide(
          Layer.provideMerge(
            Layer.mergeAll(KeyRangeStoreSql.layer, KeyStockSql.layer(), LinkStoreSql.layer),
            client
          )
        )
      )
    )
  })
})
