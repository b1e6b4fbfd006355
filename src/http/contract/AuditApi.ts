import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { AuditBody, AuditParameters } from "./AuditSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

/** The audit log, in the contract. */
export const audit = HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("list", "/api/v1/audit")
    .setUrlParams(AuditParameters)
    .addSuccess(AuditBody)
    .addError(Problem.schema("unauthorized", "forbidden"))
    .annotate(
      OpenApi.Description,
      "Who did what to whose things, when and from where, page by page and the newest first. For administrators."
    )
)
