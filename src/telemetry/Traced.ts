import { Effect, FiberRef, type Tracer } from "effect"

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

/**
 * Puts what is done for many at once into a span within that of the first of them who is traced, and links it to those of the others. Where none is, it is not
 * traced either, whoever's fiber does it.
 */
export const forAll =
  (name: string, spans: ReadonlyArray<Tracer.AnySpan | undefined>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => {
      if (!fiber.getFiberRef(FiberRef.currentTracerEnabled)) return self
      const [parent, ...others] = new Set(spans.filter((span) => span?.sampled === true))
      if (parent === undefined) return Effect.withTracerEnabled(self, false)
      const links = others.map((span) => ({ _tag: "SpanLink" as const, span: span!, attributes: {} }))
      return Effect.withSpan(self, name, { parent, links })
    })
