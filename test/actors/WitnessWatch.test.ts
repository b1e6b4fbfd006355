import { it } from "@effect/vitest"
import { Duration, Effect, Layer, TestClock } from "effect"
import { expect } from "vitest"
import { linksCreated } from "../../src/actors/links/LinkCreates.ts"
import { Links, type LinksService } from "../../src/actors/links/Links.ts"
import * as WitnessWatch from "../../src/actors/WitnessWatch.ts"
import { Witnessed } from "../../src/storage/nodes/Witnessed.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import * as Metered from "../../src/telemetry/Metered.ts"

it.scoped(
  "the witnesses hear of new links soon after the first one, and nothing is asked while there are none",
  () =>
    Effect.gen(function* () {
      const created = Effect.unsafeMakeLatch()
      const create = Effect.sync(() => {
        Metered.add(linksCreated)
        created.unsafeOpen()
      })
      let [compared, looked, isAway] = [0, 0, false]
      const witnessed = {
        compare: Effect.suspend(() => {
          compared++
          return isAway
            ? new StorageError({ operation: "Witness.raise", applied: "no", reason: "away" })
            : Effect.void
        }),
        look: Effect.sync(() => void looked++)
      } as unknown as typeof Witnessed.Service
      yield* Layer.build(
        WitnessWatch.layer(Duration.millis(200)).pipe(
          Layer.provide([
            Layer.succeed(Witnessed, witnessed),
            Layer.succeed(Links, { created } as unknown as LinksService)
          ])
        )
      )
      yield* TestClock.adjust("7300 millis")
      expect([compared, looked]).toEqual([0, 2])
      yield* create
      yield* create
      yield* TestClock.adjust("199 millis")
      expect(compared).toBe(0)
      yield* create
      yield* TestClock.adjust("1 millis")
      expect(compared).toBe(1)
      yield* TestClock.adjust("5 seconds")
      expect(compared).toBe(1)
      // What could not be compared is tried again without a further link.
      isAway = true
      yield* create
      yield* TestClock.adjust("600 millis")
      expect(compared).toBe(4)
      isAway = false
      yield* TestClock.adjust("5 seconds")
      expect(compared).toBe(5)
    })
)
