import { Effect, Layer } from "effect"
import * as Grouped from "../sql/Grouped.ts"
import { GuardedCreates } from "./GuardedCreates.ts"

/** Calls that are merged into one at most: all those of a bulk, of one question each. */
const callsMax = 1_000

/** Group commit of guarded creates for a node: see `LinkStoreGrouped`. */
export const layer = (options: {
  readonly inFlightMax: number
}): Layer.Layer<GuardedCreates, never, GuardedCreates> =>
  Layer.scoped(
    GuardedCreates,
    Effect.gen(function* () {
      const guarded = yield* GuardedCreates
      const bounds = { callsMax, inFlightMax: options.inFlightMax }
      return {
        ...guarded,
        beginMany: yield* Grouped.make("GuardedCreates.beginMany", guarded.beginMany, bounds),
        bindMany: yield* Grouped.make("GuardedCreates.bindMany", guarded.bindMany, bounds),
        settleMany: yield* Grouped.make("GuardedCreates.settleMany", guarded.settleMany, bounds),
        abandonMany: yield* Grouped.make("GuardedCreates.abandonMany", guarded.abandonMany, bounds)
      }
    })
  )
