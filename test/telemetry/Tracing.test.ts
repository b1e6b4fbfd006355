import { expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Option, Tracer } from "effect"
import { describe } from "vitest"
import * as Batcher from "../../src/fibers/Batcher.ts"
import { sampling } from "../../src/telemetry/Tracing.ts"

/** A tracer that keeps what it is given. Each trace has the id that is asked for next. */
const recording = () => {
  const spans: Array<Tracer.Span> = []
  let traces = 0
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        parent,
        context,
        kind,
        links,
        traceId: Option.match(parent, {
          onNone: () => (0x1000_0000 * traces++).toString(16).padStart(32, "0"),
          onSome: ({ traceId }) => traceId
        }),
        spanId: String(spans.length),
        sampled: true,
        status: { _tag: "Started", startTime },
        attributes: new Map(),
        end: () => spans.push(span),
        attribute: () => {},
        event: () => {},
        addLinks: () => {}
      }
      return span
    },
    context: (f) => f()
  })
  const named = (wanted: string) => spans.filter(({ name }) => name === wanted)
  return { tracer, spans, named }
}

const request = (effect: Effect.Effect<void>, parent?: Tracer.ExternalSpan) =>
  Effect.withSpan(effect, "request", { kind: "server", ...(parent !== undefined && { parent }) })
const inner = Effect.withSpan(Effect.void, "inner")

const client = (sampled: boolean): Tracer.ExternalSpan => ({
  _tag: "ExternalSpan",
  traceId: "f".repeat(32),
  spanId: "1".repeat(16),
  sampled,
  context: Context.empty()
})

describe("sampling", () => {
  it.effect("traces the given share of requests, each with all that is within it", () =>
    Effect.gen(function* () {
      const { named, tracer } = recording()
      // Sixteen requests, whose ids are spread evenly.
      yield* Effect.withTracer(
        Effect.repeatN(request(Effect.zipRight(inner, inner)), 15),
        sampling(tracer, 0.25)
      )
      expect([named("request").length, named("inner").length]).toEqual([4, 8])
    })
  )

  it.effect("traces nothing that is no part of a request", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      yield* Effect.withTracer(Effect.withSpan(inner, "sweep"), sampling(tracer, 1))
      expect(spans).toEqual([])
    })
  )

  it.effect("heeds a client that wants no trace, and gives none a larger share", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      yield* Effect.withTracer(request(inner, client(false)), sampling(tracer, 1))
      yield* Effect.withTracer(request(inner, client(true)), sampling(tracer, 0.5))
      expect(spans).toEqual([])
      yield* Effect.withTracer(request(inner, client(true)), sampling(tracer, 1))
      expect(spans.map(({ name, traceId }) => [name, traceId])).toEqual([
        ["inner", client(true).traceId],
        ["request", client(true).traceId]
      ])
    })
  )
})

describe("a batch", () => {
  it.scoped("is in the trace of the first who is traced, and linked to the others", () =>
    Effect.gen(function* () {
      const { named, tracer } = recording()
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const batcher = yield* Batcher.make<number, number, never>({
        name: "batch",
        kind: "test",
        run: (questions) =>
          Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go)).pipe(
            Effect.zipRight(inner),
            Effect.as(questions)
          ),
        batchMax: 10,
        queueMax: 10,
        inFlightMax: 1
      }).pipe(Effect.withTracer(sampling(tracer, 1)))
      const ask = (question: number, name: string, isTraced: boolean) =>
        batcher
          .submit(question)
          .pipe(
            isTraced ? Effect.withSpan(name, { kind: "server" }) : Effect.withTracerEnabled(false),
            Effect.withTracer(sampling(tracer, 1)),
            Effect.fork
          )
      // The first one's fiber goes on to send what waits behind it.
      const first = yield* ask(1, "first", true)
      yield* Deferred.await(begun)
      const later = [yield* ask(2, "", false), yield* ask(3, "third", true), yield* ask(4, "fourth", true)]
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.joinAll([first, ...later])

      const [one, two] = named("batch")
      const spanOf = (name: string) => named(name)[0]!
      const parentOf = ({ parent }: Tracer.Span) => Option.getOrThrow(parent).traceId
      expect(named("batch")).toHaveLength(2)
      expect(parentOf(one!)).toBe(spanOf("first").traceId)
      expect(parentOf(two!)).toBe(spanOf("third").traceId)
      expect(two!.links.map(({ span }) => span.traceId)).toEqual([spanOf("fourth").traceId])
      expect(named("inner").map(({ traceId }) => traceId)).toEqual([one!.traceId, two!.traceId])
    })
  )

  it.scoped("is in no trace where nobody in it is traced, whoever's fiber sends it", () =>
    Effect.gen(function* () {
      const { named, tracer } = recording()
      const go = yield* Deferred.make<void>()
      const batcher = yield* Batcher.make<number, number, never>({
        name: "batch",
        kind: "test",
        run: (questions) => Effect.as(Effect.zipRight(Deferred.await(go), inner), questions),
        batchMax: 10,
        queueMax: 10,
        inFlightMax: 1
      }).pipe(Effect.withTracer(sampling(tracer, 1)))
      const traced = yield* batcher
        .submit(1)
        .pipe(
          Effect.withSpan("first", { kind: "server" }),
          Effect.withTracer(sampling(tracer, 1)),
          Effect.fork
        )
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      const untraced = yield* Effect.fork(Effect.withTracerEnabled(batcher.submit(2), false))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.joinAll([traced, untraced])
      expect(named("batch")).toHaveLength(1)
      expect(named("inner")).toHaveLength(1)
    })
  )
})
