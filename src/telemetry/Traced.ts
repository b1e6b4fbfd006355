import { Effect, FiberRef, type Tracer } from "effect"

/**
 * Puts an effect into a span if tracing is on. Effect would create spans also when it is off, at a cost that matters on paths that
 * every request takes.
 */
export const span =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) =>
      fiber.getFiberRef(FiberRef.currentTracerEnabled) ? Effect.withSpan(self, name) : self
    )

/**
 * Puts work for several callers into a span below that of the first traced caller, and links it to the spans of the others. If no caller is traced, the work is not
 * traced either, whichever fiber does it.
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
