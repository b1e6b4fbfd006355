import { Duration, Effect } from "effect"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { KeyRange } from "./KeyRange.ts"
import { orElsewhere, Unavailable } from "../Unavailable.ts"

/** How long a range is waited for: after that its owner is gone, and the next one has not taken over yet. */
const mintWaitMax = Duration.seconds(2)

/**
 * Asks the ranges for keys, beginning with `start`, until one gives some. Ranges that are exhausted, away or broken are skipped.
 */
export const make = Effect.gen(function* () {
  const clientOf = yield* KeyRange.client
  const { ranges } = yield* KeyMinter

  const mintOf = (range: number, wanted: number) =>
    clientOf(String(range))
      .Mint({ count: wanted })
      .pipe(
        Effect.timeoutFail({
          duration: mintWaitMax,
          onTimeout: () =>
            new Unavailable({ reason: `key range ${range} did not answer`, applied: "unknown" })
        }),
        orElsewhere
      )

  return Effect.fnUntraced(function* (start: number, wanted: number) {
    let reason = ""
    for (let turn = 0; turn < ranges; turn++) {
      const minted = yield* Effect.either(mintOf((start + turn) % ranges, wanted))
      if (minted._tag === "Right") return minted.right
      reason = minted.left.reason
    }
    return yield* new Unavailable({ reason: `no key range can mint: ${reason}`, applied: "no" })
  }, Traced.span("KeyMinting.mint"))
})
