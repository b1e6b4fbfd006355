import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import {
  Context,
  Deferred,
  Effect,
  Fiber,
  Layer,
  Logger,
  Option,
  Redacted,
  Stream,
  TestClock,
  Tracer
} from "effect"
import { describe } from "vitest"
import * as Batcher from "../../src/fibers/Batcher.ts"
import * as Tracing from "../../src/telemetry/Tracing.ts"

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

const optionsFor = (port: number): Tracing.TracingOptions => ({
  endpoint: new URL(`http://127.0.0.1:${port}`),
  headers: Redacted.make({}),
  ratio: 1
})

/** Some batches of the exporter, which are sent as they are full. */
const batches = (count: number) => Effect.repeatN(request(Effect.void), count * 1_000 - 1)

/** A receiver that answers by `answer`, and what happens to it. */
const receiver = (answer: Effect.Effect<Response>) => {
  const state = { requests: 0, underWay: 0, underWayMax: 0 }
  const client = HttpClient.make((sent) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        state.requests += 1
        state.underWay += 1
        state.underWayMax = Math.max(state.underWayMax, state.underWay)
      }),
      () => Effect.map(answer, (response) => HttpClientResponse.fromWeb(sent, response)),
      () => Effect.sync(() => void (state.underWay -= 1))
    )
  )
  return { state, client }
}

/** What runs with traces sent by `client`, and the lines that are logged meanwhile. */
const tracedBy = <A, E>(
  client: HttpClient.HttpClient,
  run: (lines: ReadonlyArray<string>) => Effect.Effect<A, E>
) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return run(lines).pipe(
    Effect.provide(
      Tracing.layerOver(optionsFor(1)).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, client)),
        Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger))
      )
    )
  )
}

const settled = Effect.repeatN(Effect.yieldNow(), 50)

describe("a receiver of traces", () => {
  it.live("that never answers gets two requests, however many spans are made", () =>
    Effect.gen(function* () {
      let exports = 0
      const connections = new Set<Socket>()
      const server = createServer((sent, answer) => {
        if (sent.url === "/last") {
          connections.delete(sent.socket)
          answer.end()
        } else exports += 1
      })
      server.on("connection", (connection) => void connections.add(connection))
      yield* Effect.acquireRelease(
        Effect.async<void>((done) => void server.listen(0, "127.0.0.1", () => done(Effect.void))),
        () =>
          Effect.sync(() => {
            server.closeAllConnections()
            server.close()
          })
      )
      const { port } = server.address() as AddressInfo
      const ask = Effect.promise(() => fetch(`http://127.0.0.1:${port}/last`))
      yield* Effect.gen(function* () {
        yield* batches(20)
        // What has been sent before is counted before these are answered.
        yield* Effect.repeatN(Effect.withTracerEnabled(ask, false), 9)
        expect([exports, connections.size]).toEqual([2, 2])
      }).pipe(Effect.provide(Tracing.layer(optionsFor(port))))
    }).pipe(Effect.scoped)
  )

  it.effect(
    "that never answers is given up after 10 s, is not asked for a minute, and that is logged once",
    () => {
      const { client, state } = receiver(Effect.never)
      return tracedBy(client, (lines) =>
        Effect.gen(function* () {
          yield* batches(20)
          yield* settled
          expect(state).toEqual({ requests: 2, underWay: 2, underWayMax: 2 })
          yield* TestClock.adjust("10 seconds")
          yield* settled
          expect(state.underWay).toBe(0)
          yield* batches(20)
          yield* TestClock.adjust("50 seconds")
          expect(state.requests).toBe(2)
          expect(lines.filter((line) => line.startsWith("Spans are dropped"))).toHaveLength(1)
          yield* TestClock.adjust("15 seconds")
          yield* batches(20)
          yield* settled
          expect(state).toEqual({ requests: 4, underWay: 2, underWayMax: 2 })
        })
      )
    }
  )

  it.effect("whose answer never ends is given up as well", () => {
    const { client, state } = receiver(Effect.sync(() => new Response(new ReadableStream())))
    const read = HttpClient.transformResponse(
      client,
      Effect.map(
        (response) =>
          Object.create(response, {
            stream: {
              value: Stream.unwrapScoped(
                Effect.as(
                  Effect.acquireRelease(
                    Effect.sync(() => void (state.underWay += 1)),
                    () => Effect.sync(() => void (state.underWay -= 1))
                  ),
                  response.stream
                )
              )
            }
          }) as typeof response
      )
    )
    return tracedBy(read, () =>
      Effect.gen(function* () {
        yield* batches(20)
        yield* settled
        expect([state.requests, state.underWay]).toEqual([2, 2])
        yield* TestClock.adjust("10 seconds")
        yield* settled
        expect(state.underWay).toBe(0)
      })
    )
  })

  it.effect("that is slow gets what it has time for", () => {
    const { client, state } = receiver(
      Effect.delay(
        Effect.sync(() => new Response("{}")),
        "2 seconds"
      )
    )
    return tracedBy(client, () =>
      Effect.gen(function* () {
        for (let sent = 2; sent <= 6; sent += 2) {
          yield* batches(5)
          yield* settled
          expect(state).toEqual({ requests: sent, underWay: 2, underWayMax: 2 })
          yield* TestClock.adjust("2 seconds")
          yield* settled
        }
      })
    )
  })

  it.effect("that is overloaded for a moment gets the spans again", () => {
    let answers = 0
    const { client, state } = receiver(
      Effect.sync(() => new Response("{}", { status: (answers += 1) < 3 ? 503 : 200 }))
    )
    return tracedBy(client, (lines) =>
      Effect.gen(function* () {
        yield* batches(1)
        yield* TestClock.adjust("3 seconds")
        expect([state.requests, state.underWayMax, lines]).toEqual([3, 1, []])
      })
    )
  })
})

describe("sampling", () => {
  it.effect("traces the given share of requests, each with all that is within it", () =>
    Effect.gen(function* () {
      const { named, tracer } = recording()
      // Sixteen requests, whose ids are spread evenly.
      yield* Effect.withTracer(
        Effect.repeatN(request(Effect.zipRight(inner, inner)), 15),
        Tracing.sampling(tracer, 0.25)
      )
      expect([named("request").length, named("inner").length]).toEqual([4, 8])
    })
  )

  it.effect("traces nothing that is no part of a request", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      yield* Effect.withTracer(Effect.withSpan(inner, "sweep"), Tracing.sampling(tracer, 1))
      expect(spans).toEqual([])
    })
  )

  it.effect("heeds a client that wants no trace, and gives none a larger share", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      yield* Effect.withTracer(request(inner, client(false)), Tracing.sampling(tracer, 1))
      yield* Effect.withTracer(request(inner, client(true)), Tracing.sampling(tracer, 0.5))
      expect(spans).toEqual([])
      yield* Effect.withTracer(request(inner, client(true)), Tracing.sampling(tracer, 1))
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
      }).pipe(Effect.withTracer(Tracing.sampling(tracer, 1)))
      const ask = (question: number, name: string, isTraced: boolean) =>
        batcher
          .submit(question)
          .pipe(
            isTraced ? Effect.withSpan(name, { kind: "server" }) : Effect.withTracerEnabled(false),
            Effect.withTracer(Tracing.sampling(tracer, 1)),
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
      }).pipe(Effect.withTracer(Tracing.sampling(tracer, 1)))
      const traced = yield* batcher
        .submit(1)
        .pipe(
          Effect.withSpan("first", { kind: "server" }),
          Effect.withTracer(Tracing.sampling(tracer, 1)),
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
