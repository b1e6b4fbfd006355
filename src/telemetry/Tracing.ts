import { NodeHttpClient } from "@effect/platform-node"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { type Context, Effect, Layer, Option, Redacted, Tracer } from "effect"

/** Where traces go, and how many. */
export interface TracingOptions {
  /** An OTLP receiver over HTTP; the path `/v1/traces` is added. */
  readonly endpoint: URL
  /** Headers for the receiver, which may have secrets in them. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  /** The share of requests that are traced, from 0 to 1. */
  readonly ratio: number
}

/** A span that nobody sees, nor those within it. */
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

/** The share of trace ids that are below this one, which other services see alike. */
const shareOf = (traceId: string) => Number.parseInt(traceId.slice(-8), 16) / 2 ** 32

/**
 * A tracer that has `tracer` trace the given share of requests with whatever they lead to, and nothing else: what a node does by itself it does all the time. A
 * client may ask not to be traced, and not more.
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

/** Sends spans to an OTLP receiver every 5 s and when the node stops. What it does not take is dropped, and not sent again for a minute. */
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
