import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as ExpiredLinks from "../../../src/actors/links/ExpiredLinks.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import { TrustedTime } from "../../../src/time/TrustedTime.ts"

it.scoped("Links that are found expired are ended, and none while the time is in doubt", () =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    let isSettled = true
    const lifetime = Layer.succeed(LinkLifetime, {
      expire: (keys: ReadonlyArray<string>) => Effect.sync(() => (ended.push(...keys), keys))
    } as unknown as typeof LinkLifetime.Service)
    const time = Layer.succeed(TrustedTime, {
      isSettled: () => isSettled,
      wallAhead_ms: () => 0,
      heard: () => Effect.void
    })
    const layer = Layer.provide(ExpiredLinks.layer, [lifetime, time])
    const { found } = Context.get(yield* Layer.build(layer), ExpiredLinks.ExpiredLinks)
    /** Has links found, and gives those that were ended once the fiber that ends them has had its turns. */
    const endedOf = (keys: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        keys.forEach(found)
        for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow()
        return ended.splice(0)
      })
    expect(yield* endedOf(["a", "b"])).toEqual(["a", "b"])
    isSettled = false
    expect(yield* endedOf(["c"])).toEqual([])
    isSettled = true
    // What was found in doubt is left to the sweep.
    expect(yield* endedOf(["d"])).toEqual(["d"])
  })
)
