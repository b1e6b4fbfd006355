import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Problem from "../exchange/Problem.ts"

const PerSecond = Schema.NullOr(Schema.Number).annotations({
  description: "Over the last ten seconds; null until there are two reports to compare"
})

const Latency = Schema.Struct({
  p50Ms: Schema.NullOr(Schema.Number),
  p99Ms: Schema.NullOr(Schema.Number)
}).annotations({ identifier: "Latency", description: "Over the last ten seconds; null without requests" })

/** A node, and how it is. */
export const NodeBody = Schema.Struct({
  id: Schema.String,
  address: Schema.String,
  role: Schema.Literal("all", "http"),
  version: Schema.NullOr(Schema.String).annotations({
    description: "Of the program that it runs; null where that is too old to say it"
  }),
  state: Schema.Literal("up", "stopping", "silent").annotations({
    description: "silent: not heard for three seconds, or found by the other nodes not to answer"
  }),
  /** Since it was heard last. */
  silentSeconds: Schema.Number,
  uptimeSeconds: Schema.Number,
  bufferedKeys: Schema.Number,
  cachedLinks: Schema.Number,
  requestsPerSecond: PerSecond,
  linksPerSecond: PerSecond
}).annotations({ identifier: "ClusterNode" })

const Actor = Schema.Struct({
  actor: Schema.Literal("KeyRange", "PoolShard", "UrlMapping"),
  number: Schema.Number,
  node: Schema.NullOr(Schema.String).annotations({
    description: "The node that owns it; null while it moves"
  })
}).annotations({ identifier: "ClusterActor" })

const Pool = Schema.Struct({
  shard: Schema.Number,
  level: Schema.NullOr(Schema.Number).annotations({ description: "null while it cannot be asked" }),
  low: Schema.Number,
  high: Schema.Number
}).annotations({ identifier: "ClusterPool" })

const Range = Schema.Struct({
  range: Schema.Number,
  length: Schema.Number,
  minted: Schema.Number,
  remaining: Schema.Number
}).annotations({ identifier: "ClusterRange", description: "At the greatest key length that it has opened" })

/** Every minted key is in one of the other places. */
export const LedgerBody = Schema.Struct({
  countedAt: Schema.String,
  minted: Schema.Number,
  bound: Schema.Number,
  quarantined: Schema.Number,
  stocked: Schema.Number,
  pooled: Schema.Number,
  buffered: Schema.Number,
  rest: Schema.Number.annotations({ description: "On their way at the moment of counting, or lost" })
}).annotations({ identifier: "ClusterLedger" })

const Traffic = Schema.Struct({
  requestsPerSecond: PerSecond,
  errorsPerSecond: PerSecond,
  redirectsPerSecond: PerSecond,
  linksPerSecond: PerSecond,
  redirects: Latency,
  creates: Latency
}).annotations({ identifier: "ClusterTraffic", description: "Of all nodes that are heard" })

const Forecast = Schema.Struct({
  length: Schema.Number.annotations({ description: "The shortest key length with keys left" }),
  remaining: Schema.Number,
  total: Schema.Number,
  linksPerSecond: Schema.Number.annotations({ description: "Since the nodes started" }),
  exhaustedInSeconds: Schema.NullOr(Schema.Number).annotations({
    description: "At that pace; null where no links are made. Longer keys follow by themselves."
  })
}).annotations({ identifier: "ClusterForecast" })

const Regression = Schema.Struct({
  at: Schema.String.annotations({ description: "When it was noticed" }),
  since: Schema.NullOr(Schema.String).annotations({
    description:
      "When the database was last known to hand out keys: what was made since then may be gone. Null where that is not known, after `skip-keys`"
  }),
  skipped: Schema.Number.annotations({ description: "Keys of ranges that were passed over" }),
  dropped: Schema.Number.annotations({ description: "Keys that stood ready and were given up" })
}).annotations({
  identifier: "ClusterRegression",
  description: "The database had forgotten what it had committed, and was recovered"
})

/** The cluster at a moment. What the stores do not tell is null. */
export const ClusterBody = Schema.Struct({
  at: Schema.String,
  answeredBy: Schema.String,
  nodes: Schema.NullOr(Schema.Array(NodeBody)),
  actors: Schema.NullOr(Schema.Array(Actor)),
  pools: Schema.Array(Pool),
  ranges: Schema.NullOr(Schema.Array(Range)),
  ledger: Schema.NullOr(LedgerBody),
  ledgerNote: Schema.NullOr(Schema.String).annotations({ description: "Why there is no ledger" }),
  traffic: Schema.NullOr(Traffic),
  forecast: Schema.NullOr(Forecast),
  regressions: Schema.NullOr(Schema.Array(Regression)).annotations({
    description: "The last ten times, the newest first"
  }),
  databaseWarnings: Schema.NullOr(Schema.Array(Schema.String)).annotations({
    description: "What of the database's settings can lose links that were acknowledged, a sentence each"
  })
}).annotations({ identifier: "Cluster" })
/** See {@link ClusterBody}. */
export type ClusterBody = typeof ClusterBody.Type

/** The cluster's picture, in the contract. */
export const cluster = HttpApiGroup.make("cluster")
  .add(
    HttpApiEndpoint.get("cluster", "/api/v1/cluster")
      .addSuccess(ClusterBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Summary, "Show the cluster")
      .annotate(
        OpenApi.Description,
        "Nodes, who owns which actor, pools, key ranges, the ledger of keys, traffic and the forecast of exhaustion. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.get("watch", "/api/v1/cluster/events")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(Problem.schema("unauthorized", "forbidden", "too-many-streams"))
      .annotate(OpenApi.Summary, "Watch the cluster")
      .annotate(
        OpenApi.Description,
        "The same as server-sent events, one a second: each event's data is what /api/v1/cluster answers. It ends when the node stops, or the caller may not see it any more."
      )
  )
