import { NodeHttpClient } from "@effect/platform-node"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { type Context, Effect, Layer, Option, Redacted, Tracer } from "effect"

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

/** Sends spans to an OTLP receiver every 5 s and when the node stops. When the receiver fails, the spans are dropped, and nothing is sent for a minute. */
export const layer = ({ endpoint, headers, ratio }: TracingOptions): Layer.Layer<never> =>
  OtlpTracer.make({
    url: `${endpoint.href.replace(/\/$/, "")}/v1/traces`,
    headers: Redacted.value(headers),
    resource: { serviceName: "linkmint" }
  }).pipe(
    Effect.map((tracer) => Layer.setTracer(sampling(tracer, ratio))),
    Layer.unwrapScoped,
    Layer.provide([NodeHttpClient.layerUndici, OtlpSerialization.layerJson])
  )
