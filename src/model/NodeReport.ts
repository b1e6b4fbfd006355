import { Schema } from "effect"

/** The number of requests of one kind since the node started, by duration. */
export const TimedTotal = Schema.Struct({
  count: Schema.Number,
  /** How many took at most as long as each bound in `RequestMetrics`, from the shortest on. */
  within: Schema.Array(Schema.Number)
})
/** See {@link TimedTotal}. */
export type TimedTotal = typeof TimedTotal.Type

/** What a node has answered since it started. */
export const RequestTotals = Schema.Struct({
  requests: Schema.Number,
  /** Those answered 5xx, except readiness checks. */
  errors: Schema.Number,
  redirects: TimedTotal,
  creates: TimedTotal
})
/** See {@link RequestTotals}. */
export type RequestTotals = typeof RequestTotals.Type

/** What a node reports of itself to the others, about once a second. */
export const NodeReport = Schema.Struct({
  /** A text that no other start of any node has. */
  id: Schema.String,
  /** Where the other nodes reach it; its address for clients where they do not. */
  address: Schema.String,
  /** `http`: it owns no actors. */
  role: Schema.Literal("all", "http"),
  /** Of the program; missing from nodes of older versions. */
  version: Schema.optionalWith(Schema.String, { exact: true }),
  isStopping: Schema.Boolean,
  /** By its own monotonic clock. */
  uptime_ms: Schema.Number,
  /** Keys in its buffer. */
  bufferedKeys: Schema.Number,
  /** Links in its redirect cache. */
  cachedLinks: Schema.Number,
  /** Links that it has bound since it started. */
  linksCreated: Schema.Number,
  totals: RequestTotals
})
/** See {@link NodeReport}. */
export type NodeReport = typeof NodeReport.Type
