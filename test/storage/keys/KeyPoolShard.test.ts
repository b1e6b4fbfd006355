import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { type PackedKeys, toStrings } from "../../../src/keys/PackedKeys.ts"
import * as KeyPoolShard from "../../../src/storage/keys/KeyPoolShard.ts"
import { numbered } from "../../support/samples/SomeKeys.ts"

it.effect("puts back the keys of a lease that arrive after its caller was interrupted", () =>
  Effect.gen(function* () {
    const isAsked = yield* Deferred.make<void>()
    const answer = yield* Deferred.make<ReadonlyArray<string>>()
    const given: Array<string> = []
    const shard = KeyPoolShard.make(0, {
      claim: () => expect.unreachable(),
      push: () => expect.unreachable(),
      batches: Effect.succeed([]),
      pop: () => Effect.zipRight(Deferred.succeed(isAsked, undefined), Deferred.await(answer)),
      giveBack: (_: number, keys: PackedKeys) => Effect.sync(() => void given.push(...toStrings(keys))),
      length: Effect.succeed(0)
    })
    const leasing = yield* Effect.fork(shard.lease(4))
    yield* Deferred.await(isAsked)
    const interrupting = yield* Effect.fork(Fiber.interrupt(leasing))
    yield* Effect.yieldNow()
    yield* Deferred.succeed(answer, numbered("k", 4))
    yield* Fiber.join(interrupting)
    expect(given).toEqual(numbered("k", 4))
  })
)
