import { describe, expect, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Fiber, Option, Stream, TestClock } from "effect"
import * as EventStream from "../../../src/http/exchange/EventStream.ts"

describe("a stream of events", () => {
  const next = Effect.succeedSome("x")
  const every = Duration.seconds(1)
  const takenWithin = Duration.seconds(10)

  it.effect("makes events only as they are taken, and cuts off who takes none for ten seconds", () =>
    Effect.gen(function* () {
      let [made, cuts] = [0, 0]
      const stream = EventStream.make({
        next: Effect.zipRight(
          Effect.sync(() => made++),
          next
        ),
        every,
        takenWithin,
        cut: () => cuts++
      })
      const fiber = yield* Effect.fork(
        stream.pipe(
          Stream.zipWithIndex,
          Stream.runForEach(([, index]) => (index === 3 ? Effect.never : Effect.void))
        )
      )
      yield* TestClock.adjust("3 seconds")
      expect(made).toBe(3)
      yield* TestClock.adjust("9 seconds")
      expect([made, cuts]).toEqual([3, 0])
      yield* TestClock.adjust("10 seconds")
      expect([made, cuts]).toEqual([3, 1])
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("is not cut off while it is read, and ends when there is nothing more", () =>
    Effect.gen(function* () {
      let [made, cuts] = [0, 0]
      const stream = EventStream.make({
        next: Effect.sync(() => (++made > 60 ? Option.none() : Option.some(`${made}\nb`))),
        every,
        takenWithin,
        cut: () => cuts++
      })
      const fiber = yield* Effect.fork(Stream.runCollect(stream))
      yield* TestClock.adjust("2 minutes")
      const texts = Chunk.toReadonlyArray(yield* Fiber.join(fiber))
      expect(texts).toHaveLength(61)
      expect(texts.slice(0, 3)).toEqual(["retry: 1000\n\n", "data: 1\ndata: b\n\n", "data: 2\ndata: b\n\n"])
      expect(cuts).toBe(0)
    })
  )
})
