import { Sharding } from "@effect/cluster"
import { expect, it } from "@effect/vitest"
import { type Clock, Effect, Fiber, TestClock } from "effect"
import * as LinkWriters from "../../../src/actors/links/LinkWriters.ts"
import { LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import type { CreateOutcome } from "../../../src/actors/links/UrlMapping.ts"
import { plainRow } from "../../support/Plain.ts"

const link = { ...plainRow, key: "k", url: "https://example.com/", custom: false, createdAt: 1, updatedAt: 1 }

/** All owners live on other nodes. */
const nobodyHere: typeof LocalOwners.Service = {
  of: () => undefined,
  add: () => Effect.void,
  bindThen: () => expect.unreachable()
}

/** The writers of a node whose wall clock is `skew.ms` ahead, to owners who answer as `owner` says. */
const setUp = (skew: { ms: number }, owner: { answer: Effect.Effect<ReadonlyArray<string>, Unavailable> }) =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const wall_ms = () => clock.unsafeCurrentTimeMillis() + skew.ms
    const skewed = Object.assign(Object.create(clock) as Clock.Clock, {
      unsafeCurrentTimeMillis: wall_ms,
      currentTimeMillis: Effect.sync(wall_ms),
      unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos()
    })
    const client = () => ({ CreateMany: () => Effect.suspend(() => owner.answer) })
    const sharding = { makeClient: () => Effect.succeed(client) }
    const notBound: Array<string> = []
    const note = (how: string) => () => Effect.sync(() => void notBound.push(how))
    const told = { onUnsent: note("unsent"), onRefused: note("refused") }
    const writers = yield* LinkWriters.make(told).pipe(
      Effect.provideService(LocalOwners, nobodyHere),
      Effect.provideService(Sharding.Sharding, sharding as unknown as Sharding.Sharding["Type"]),
      Effect.withClock(skewed)
    )
    const create = Effect.async<CreateOutcome, Unavailable>((resume) =>
      writers.bindThen([link], ([outcome]) => resume(outcome!))
    )
    return { notBound, create }
  })

it.scoped.each([-60_000, 60_000])(
  "asks an owner that was away again soon, also when the clock jumps by %d ms meanwhile",
  (jump_ms) =>
    Effect.gen(function* () {
      const skew = { ms: 0 }
      const owner: Parameters<typeof setUp>[1] = { answer: Effect.never }
      const { create, notBound } = yield* setUp(skew, owner)
      const first = yield* Effect.fork(Effect.flip(create))
      yield* TestClock.adjust("1250 millis")
      expect((yield* Fiber.join(first)).away).toBe(true)
      owner.answer = Effect.succeed(["bound"])
      skew.ms = jump_ms
      expect(notBound).toEqual([])
      expect((yield* Effect.flip(create)).applied).toBe("no")
      expect(notBound).toEqual(["unsent"])
      yield* TestClock.adjust("1 seconds")
      expect(yield* create).toBe("bound")
      owner.answer = new Unavailable({ reason: "refused", applied: "no" })
      expect((yield* Effect.flip(create)).applied).toBe("no")
      expect(notBound).toEqual(["unsent", "refused"])
    })
)
