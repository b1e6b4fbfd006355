import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Problem from "../exchange/Problem.ts"
import { auditActions, doerKinds } from "../../model/Audit.ts"
import { momentParameter, parametersOf, queryParameter } from "../exchange/PageRequest.ts"
import { pageOf } from "./LinkSchemas.ts"

/** Entries on a page. */
export const pageBounds = { max: 500, byDefault: 50 } as const

/** The query parameters of the audit log, for the contract. */
export const AuditParameters = Schema.Struct({
  ...parametersOf(pageBounds),
  user: queryParameter({
    type: "string",
    description: "The id of a user: what they did, and what was done to what is theirs"
  }),
  action: queryParameter({ type: "string", enum: auditActions }),
  from: momentParameter("Entries that begin at or after this moment"),
  to: momentParameter("Entries that begin before this moment")
})

const id = (description: string) => Schema.NullOr(Schema.String).annotations({ description })

/** An entry of the audit log; times are RFC 3339 in UTC. */
const EntryBody = Schema.Struct({
  id: Schema.String,
  at: Schema.String,
  lastAt: Schema.String,
  count: Schema.Number.annotations({
    description: "Events that are alike: of a minute; of an hour where there were too many"
  }),
  action: Schema.Literal(...auditActions),
  by: Schema.Literal(...doerKinds).annotations({ description: "How they showed who they are" }),
  userId: id("Who did it"),
  keyId: id("The API key that they showed"),
  client: id("From where: a keyed hash of the client's address"),
  target: id("To what: a user, an API key, a webhook, a domain or a link"),
  ownerId: id("Whose that is")
}).annotations({ identifier: "AuditEntry" })

/** A page of the audit log, the newest first. */
export const AuditBody = pageOf(EntryBody, "AuditLog")

/** The audit log, in the contract. */
export const audit = HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("list", "/api/v1/audit")
    .setUrlParams(AuditParameters)
    .addSuccess(AuditBody)
    .addError(Problem.schema("unauthorized", "forbidden"))
    .annotate(OpenApi.Summary, "Read the audit log")
    .annotate(
      OpenApi.Description,
      "Who did what to whose things, when and from where, page by page and the newest first. For administrators."
    )
)
