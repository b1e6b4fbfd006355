import { Effect, Layer } from "effect"
import * as GroupCommit from "../sql/GroupCommit.ts"
import { GuardedCreates } from "./GuardedCreates.ts"

/** Calls that are merged into one at most: all those of a bulk, of one question each. */
const callsMax = 1_000

/** Group commit of guarded creates for a node: see `LinkStoreGroupCommit`. */
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
        beginMany: yield* GroupCommit.make("GuardedCreates.beginMany", guarded.beginMany, bounds),
        bindMany: yield* GroupCommit.make("GuardedCreates.bindMany", guarded.bindMany, bounds),
        settleMany: yield* GroupCommit.make("GuardedCreates.settleMany", guarded.settleMany, bounds),
        abandonMany: yield* GroupCommit.make("GuardedCreates.abandonMany", guarded.abandonMany, bounds)
      }
    })
  )
