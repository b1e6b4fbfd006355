import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import {
  Clock,
  type Context,
  Duration,
  Effect,
  Layer,
  Option,
  Redacted,
  Schedule,
  Stream,
  Tracer
} from "effect"

/** The receiver of traces, and the share of requests that are traced. */
export interface TracingOptions {
  /** An OTLP receiver over HTTP; the path `/v1/traces` is added. */
  readonly endpoint: URL
  /** Headers for the receiver, which may contain secrets. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  /** The share of requests that are traced, from 0 to 1. */
  readonly ratio: number
}

/** A span that is not recorded, like all spans below it. */
const unsampled = (
  name: string,
  parent: Option.Option<Tracer.AnySpan>,
  context: Context.Context<never>,
  startTime: bigint,
  kind: Tracer.SpanKind
): Tracer.Span => ({
  _tag: "Span",
  name,
  parent,
  context,
  kind,
  traceId: Option.match(parent, { onNone: () => "0".repeat(32), onSome: ({ traceId }) => traceId }),
  spanId: "0".repeat(16),
  status: { _tag: "Started", startTime },
  attributes: new Map(),
  links: [],
  sampled: false,
  end: () => {},
  attribute: () => {},
  event: () => {},
  addLinks: () => {}
})

/** The share of trace ids that are below this one. Other services compute the same share for the same trace. */
const shareOf = (traceId: string) => Number.parseInt(traceId.slice(-8), 16) / 2 ** 32

/**
 * A tracer that passes the given share of requests, with everything below them, to `tracer`, and nothing else: a node's background work never ends. A
 * client can turn tracing off for its request, but not on.
 */
export const sampling = (tracer: Tracer.Tracer, ratio: number): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, links, startTime, kind, options) => {
      const isRequest = kind === "server" && (Option.isNone(parent) || parent.value._tag === "ExternalSpan")
      const mayBeTraced = Option.match(parent, { onNone: () => isRequest, onSome: ({ sampled }) => sampled })
      if (!mayBeTraced) return unsampled(name, parent, context, startTime, kind)
      const span = tracer.span(name, parent, context, links, startTime, kind, options)
      return isRequest && shareOf(span.traceId) >= ratio
        ? unsampled(name, parent, context, startTime, kind)
        : span
    },
    context: (f, fiber) => tracer.context(f, fiber)
  })

/** The maximum of exports under way. The spans of further ones are dropped. */
const exportsMax = 2

/** How long an export may take, with its repeats: OpenTelemetry's default. */
const exportMax = Duration.seconds(10)

/** How often a log line says that spans are dropped. */
const toldEvery = Duration.minutes(1)

/** Limits what a receiver that does not answer, or is slow, can cost: the exporter itself limits neither the duration of exports nor how many are under way. */
const bounded = (client: HttpClient.HttpClient) =>
  Effect.gen(function* () {
    const permits = yield* Effect.makeSemaphore(exportsMax)
    let told_ns: bigint | undefined
    const tell = (why: string) =>
      Effect.flatMap(Clock.currentTimeNanos, (now_ns) => {
        if (told_ns !== undefined && now_ns - told_ns < Duration.unsafeToNanos(toldEvery)) return Effect.void
        told_ns = now_ns
        return Effect.logWarning(`Spans are dropped: ${why}.`)
      })

    return HttpClient.filterStatusOk(client).pipe(
      // A response that is not read to its end would keep its connection.
      HttpClient.tap(({ stream }) => Stream.runDrain(stream)),
      HttpClient.retryTransient({ schedule: Schedule.spaced("1 second"), times: 3 }),
      HttpClient.transform((sent, request) =>
        sent.pipe(
          Effect.timeout(exportMax),
          // A defect, because the exporter would repeat what fails by an error, beyond the limits here.
          Effect.catchAll((error) =>
            Effect.zipRight(tell(`the receiver of traces failed: ${error.message}`), Effect.die(error))
          ),
          permits.withPermitsIfAvailable(1),
          // An empty answer, because by a failure the exporter would stop for a minute, as for a receiver that fails.
          Effect.flatMap(
            Option.match({
              onNone: () =>
                Effect.as(
                  tell("the receiver of traces is slower than they are made"),
                  HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))
                ),
              onSome: Effect.succeed
            })
          )
        )
      )
    )
  })

/** See {@link layer}. */
export const layerOver = ({
  endpoint,
  headers,
  ratio
}: TracingOptions): Layer.Layer<never, never, HttpClient.HttpClient> =>
  OtlpTracer.make({
    url: `${endpoint.href.replace(/\/$/, "")}/v1/traces`,
    headers: Redacted.value(headers),
    resource: { serviceName: "linkmint" }
  }).pipe(
    Effect.provideServiceEffect(HttpClient.HttpClient, Effect.flatMap(HttpClient.HttpClient, bounded)),
    Effect.map((tracer) => Layer.setTracer(sampling(tracer, ratio))),
    Layer.unwrapScoped,
    Layer.provide(OtlpSerialization.layerJson)
  )

/**
 * Sends spans to an OTLP receiver every 5 s, for each 1,000 of them, and when the node stops. When the receiver fails, or does not answer within {@link exportMax}, the spans
 * are dropped, and nothing is sent for a minute. When it is slower than spans are made, those are dropped that it has no time for.
 */
export const layer = (options: TracingOptions): Layer.Layer<never> =>
  Layer.provide(layerOver(options), NodeHttpClient.layerUndici)
