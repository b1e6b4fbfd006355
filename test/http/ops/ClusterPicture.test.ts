import { SqlError } from "@effect/sql/SqlError"
import { Durability } from "../../../src/storage/sql/postgres/Durability.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import * as Parallel from "../../../src/fibers/Parallel.ts"
import { layerEmbedded } from "../../../src/node/Cluster.ts"
import * as ClusterPicture from "../../../src/http/ops/ClusterPicture.ts"
import * as KeyMinter from "../../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../../src/keys/KeySpace.ts"
import * as DatabaseMarkMemory from "../../../src/sim/stores/DatabaseMarkMemory.ts"
import { KeyLedger } from "../../../src/storage/keys/KeyLedger.ts"
import * as KeyPoolMemory from "../../../src/storage/keys/KeyPoolMemory.ts"
import * as KeyRangeStoreMemory from "../../../src/sim/stores/KeyRangeStoreMemory.ts"
import { NodeReports } from "../../../src/storage/nodes/NodeReports.ts"
import { VisitDatabaseList } from "../../../src/storage/homes/VisitDatabaseList.ts"
import * as RunnersSeen from "../../../src/storage/nodes/RunnersSeen.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { reportOf } from "../../support/Reports.ts"
import * as StillClock from "../../support/StillClock.ts"
import { startOfTests_ms } from "../../support/TestService.ts"

const counted = { minted: 100, bound: 60, quarantined: 0, stocked: 0 }

/** A picture over stores in memory, but for what is told of nodes and keys. */
const pictureOf = ({
  all = Effect.succeed([{ report: reportOf("a"), age_ms: 0 }]),
  counts = Effect.succeed(counted)
}: {
  readonly all?: NodeReports["Type"]["all"]
  readonly counts?: KeyLedger["Type"]["counts"]
}) =>
  Effect.map(
    Layer.build(
      ClusterPicture.layer({ node: "a", marks: { low: 1, high: 2 } }).pipe(
        Layer.provide([
          Layer.succeed(NodeReports, { tell: () => Effect.void, leave: () => Effect.void, all }),
          DatabaseMarkMemory.layer,
          Layer.succeed(KeyLedger, { counts }),
          RunnersSeen.layerAlone("a"),
          KeyPoolMemory.layer({ shards: 1, settleAfter: 1 }),
          KeyRangeStoreMemory.layer,
          KeyMinter.layer(KeySpace.make("base62", 7), new Uint8Array(16)),
          layerEmbedded
        ])
      )
    ),
    (context) =>
      <A, E>(self: Effect.Effect<A, E, ClusterPicture.ClusterPicture>) =>
        Effect.provide(self, context)
  )

const current = Effect.flatMap(ClusterPicture.ClusterPicture, (picture) => picture.current)

/** What is said of the ledger once it was counted. */
const counting = current.pipe(
  Effect.repeat({
    until: ({ ledgerNote }) => ledgerNote !== "The keys are being counted.",
    schedule: Schedule.spaced("50 millis")
  }),
  Effect.zipRight(current)
)

describe("looking at the cluster", () => {
  it.scopedLive("tells what of the database's settings can lose links, and that they are not known", () =>
    Effect.gen(function* () {
      const warnings = ["full_page_writes is off: a crash of the server's machine can spoil pages."] as const
      const nobody = { all: Effect.succeed([]) }
      const warned = yield* Effect.provideService(pictureOf(nobody), Durability, {
        warnings: Effect.succeed(warnings)
      })
      expect((yield* warned(current)).databaseWarnings).toEqual(warnings)
      const away = yield* Effect.provideService(pictureOf(nobody), Durability, {
        warnings: Effect.fail(new SqlError({ cause: "away" }))
      })
      expect((yield* away(current)).databaseWarnings).toBe(null)
      const durable = yield* pictureOf(nobody)
      expect((yield* durable(current)).databaseWarnings).toEqual([])
      const silent = yield* Effect.provideService(pictureOf(nobody), VisitDatabaseList, [
        { number: 1, isAway: () => false },
        { number: 2, isAway: () => true }
      ])
      expect((yield* silent(current)).databaseWarnings).toEqual([
        "Database 2 of visits does not answer the node that says this."
      ])
    })
  )

  it.scopedLive("happens once for all who ask at about the same time, and not before anybody does", () =>
    Effect.gen(function* () {
      let looks = 0
      const provide = yield* pictureOf({
        all: Effect.sync(() => {
          looks++
          return [{ report: reportOf("a"), age_ms: 0 }]
        })
      })
      const clock = StillClock.make(startOfTests_ms)
      const ask = Effect.withClock(provide(current), clock)
      yield* Effect.sleep("50 millis")
      expect(looks).toBe(0)
      yield* Parallel.forEach([1, 2, 3, 4], () => ask)
      yield* ask
      expect(looks).toBe(1)
      clock.set(startOfTests_ms + 1_000)
      yield* ask
      expect(looks).toBe(2)
    })
  )

  it.scopedLive("waits a second for a store that is silent, and does without one that fails", () =>
    Effect.gen(function* () {
      const silent = yield* pictureOf({ all: Effect.never })
      const picture = yield* silent(current)
      expect(picture).toMatchObject({ nodes: null, actors: null, traffic: null })
      expect(picture.ranges).toHaveLength(16)
      const error = new StorageError({ operation: "all", applied: "no", reason: "away" })
      const failing = yield* pictureOf({ all: error })
      expect((yield* failing(current)).nodes).toBeNull()
    })
  )

  it.scopedLive("counts keys beside it, and says why it has not", () =>
    Effect.gen(function* () {
      const slow = yield* pictureOf({ counts: Effect.never })
      expect(yield* slow(current)).toMatchObject({ ledger: null, ledgerNote: "The keys are being counted." })
      const quick = yield* pictureOf({})
      expect((yield* quick(counting)).ledger).toMatchObject({ ...counted, pooled: 0, rest: 40 })
      const large = yield* pictureOf({ counts: Effect.succeed(null) })
      expect((yield* large(counting)).ledgerNote).toMatch(/^There are too many links/)
      const error = new StorageError({ operation: "counts", applied: "no", reason: "away" })
      const failing = yield* pictureOf({ counts: error })
      expect((yield* failing(counting)).ledgerNote).toBe("The stores do not tell where all keys are.")
    })
  )
})
