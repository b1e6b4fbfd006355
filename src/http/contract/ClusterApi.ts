import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { ClusterBody } from "./ClusterSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

/** The cluster's picture, in the contract. */
export const cluster = HttpApiGroup.make("cluster")
  .add(
    HttpApiEndpoint.get("cluster", "/api/v1/cluster")
      .addSuccess(ClusterBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(
        OpenApi.Description,
        "Nodes, who owns which actor, pools, key ranges, the ledger of keys, traffic and the forecast of exhaustion. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.get("watch", "/api/v1/cluster/events")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(Problem.schema("unauthorized", "forbidden", "too-many-streams"))
      .annotate(
        OpenApi.Description,
        "The same as server-sent events, one a second: each event's data is what /api/v1/cluster answers. It ends when the node stops, or the caller may not see it any more."
      )
  )
