import { describe, expect, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Fiber, Option, Stream, TestClock } from "effect"
import * as EventStream from "../../../src/http/exchange/EventStream.ts"

describe("a stream of events", () => {
  const every = Duration.seconds(1)

  it.effect("makes events only as they are taken", () =>
    Effect.gen(function* () {
      let made = 0
      const next = Effect.sync(() => Option.some(String(made++)))
      const fiber = yield* Effect.fork(
        EventStream.make({ next, every }).pipe(
          Stream.zipWithIndex,
          Stream.runForEach(([, index]) => (index === 3 ? Effect.never : Effect.void))
        )
      )
      yield* TestClock.adjust("3 seconds")
      expect(made).toBe(3)
      yield* TestClock.adjust("19 seconds")
      expect(made).toBe(3)
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("goes on while it is read, and ends when there is nothing more", () =>
    Effect.gen(function* () {
      let made = 0
      const next = Effect.sync(() => (++made > 60 ? Option.none() : Option.some(`${made}\nb`)))
      const fiber = yield* Effect.fork(Stream.runCollect(EventStream.make({ next, every })))
      yield* TestClock.adjust("2 minutes")
      const texts = Chunk.toReadonlyArray(yield* Fiber.join(fiber))
      expect(texts).toHaveLength(61)
      expect(texts.slice(0, 3)).toEqual(["retry: 1000\n\n", "data: 1\ndata: b\n\n", "data: 2\ndata: b\n\n"])
    })
  )
})
