import { expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as LinkSweep from "../../../src/actors/links/LinkSweep.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import { TrustedTime } from "../../../src/time/TrustedTime.ts"

it.effect("A sweep ends where the time comes into doubt, whatever is left", () =>
  Effect.gen(function* () {
    const done: Array<string> = []
    let isSettled = true
    const full = Array.from({ length: 1_000 }, (_, n) => `k${n}`)
    yield* LinkSweep.turn(Duration.days(30)).pipe(
      Effect.provideService(LinkLifetime, {
        expireSome: () =>
          Effect.sync(() => {
            isSettled = done.push("expire") < 2
            return full
          }),
        recycle: () => Effect.sync(() => (done.push("recycle"), []))
      } as unknown as typeof LinkLifetime.Service),
      Effect.provideService(GuardedCreates, {
        drop: () => Effect.sync(() => (done.push("drop"), 0))
      } as unknown as typeof GuardedCreates.Service),
      Effect.provideService(VisitStore, {} as unknown as typeof VisitStore.Service),
      Effect.provideService(TrustedTime, {
        isSettled: () => isSettled,
        wallAhead_ms: () => 0,
        heard: () => Effect.void
      })
    )
    expect(done).toEqual(["expire", "expire"])
  })
)
