import { Effect, FiberRef } from "effect"

/**
 * Puts an effect into a span, where spans are traced. Where they are not, Effect would make them all the same, at a cost that counts on the
 * ways that every request goes.
 */
export const span =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) =>
      fiber.getFiberRef(FiberRef.currentTracerEnabled) ? Effect.withSpan(self, name) : self
    )
