import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { accounts, apiKeys, sessions, users } from "./AccountApi.ts"
import { audit } from "./AuditApi.ts"
import { certificates, domains } from "./DomainApi.ts"
import { cluster } from "./ClusterApi.ts"
import {
  BulkAnswer,
  BulkBody,
  BulkEditAnswer,
  BulkEditBody,
  CreateBody,
  LinkBody,
  LinksBody,
  PatchBody,
  PreviewBody
} from "./LinkSchemas.ts"
import { ListParameters } from "../links/ListRequest.ts"
import * as OpenApiDocument from "./OpenApiDocument.ts"
import { version } from "../../model/Version.ts"
import * as Problem from "../exchange/Problem.ts"
import { webhooks } from "./WebhookApi.ts"
import { shapes as qrShapes } from "../qr/QrDrawing.ts"
import { sizeMax as qrSizeMax, sizeMin as qrSizeMin } from "../qr/QrImage.ts"
import { queryParameter } from "../exchange/PageRequest.ts"
import { orphanParameters, StatsBody, StatsParameters } from "./StatsSchemas.ts"

const KeyPath = Schema.Struct({ key: Schema.String })

const inDomain = {
  domain: queryParameter({
    type: "string",
    description: "The host name of the link's domain: the default one where it is missing"
  })
}

const InDomain = Schema.Struct(inDomain)

/** One part of the service in a readiness report. */
const Part = Schema.Struct({ ok: Schema.Boolean, detail: Schema.optional(Schema.String) })

/** The answer of the readiness check. */
export const ReadyBody = Schema.Struct({
  status: Schema.Literal("ready", "unready"),
  database: Part,
  pools: Schema.Array(
    Schema.Struct({ shard: Schema.Number, ok: Schema.Boolean, depth: Schema.NullOr(Schema.Number) })
  ),
  keys: Part,
  runner: Part,
  ranges: Part
}).annotations({ identifier: "Readiness" })
/** See {@link ReadyBody}. */
export type ReadyBody = typeof ReadyBody.Type

const IdempotencyKey = Schema.Struct({
  "idempotency-key": Schema.optionalWith(
    Schema.String.annotations({ description: "A repeat with it within 24 h gets the first answer again" }),
    { exact: true }
  )
})

/** The operations on links. */
export const links = HttpApiGroup.make("links")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/links")
      .setHeaders(IdempotencyKey)
      .setPayload(CreateBody)
      .addSuccess(LinkBody, { status: 201 })
      .addSuccess(LinkBody)
      .addError(Problem.schema("invalid-url", "alias-reserved", "unauthorized", "forbidden", "rate-limited"))
      .addError(Problem.schema("alias-taken", "idempotency-in-progress", "idempotency-mismatch"))
      .addError(Problem.schema("payload-too-large", "unsupported-media-type", "blocked-target"))
      .annotate(OpenApi.Summary, "Create a link")
      .annotate(OpenApi.Description, "Shortens a URL. The response's Location names the link.")
  )
  .add(
    HttpApiEndpoint.post("createBulk", "/api/v1/links/bulk")
      .setHeaders(IdempotencyKey)
      .setPayload(BulkBody)
      .addSuccess(BulkAnswer)
      .addError(Problem.schema("unauthorized", "forbidden", "payload-too-large", "unsupported-media-type"))
      .annotate(OpenApi.Summary, "Create many links")
      .annotate(OpenApi.Description, "Shortens up to 1,000 URLs. Each item fails alone.")
  )
  .add(
    HttpApiEndpoint.post("editBulk", "/api/v1/links/bulk-edit")
      .setPayload(BulkEditBody)
      .addSuccess(BulkEditAnswer)
      .addError(Problem.schema("invalid-url", "unauthorized", "forbidden", "payload-too-large"))
      .addError(Problem.schema("unsupported-media-type", "blocked-target"))
      .annotate(OpenApi.Summary, "Change or delete many links")
      .annotate(
        OpenApi.Description,
        "Changes or deletes the links of a filter, up to 200 a request. Each fails alone. A repeat changes nothing more."
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/api/v1/links/:key")
      .setPath(KeyPath)
      .setUrlParams(InDomain)
      .addSuccess(LinkBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "Show a link")
      .annotate(OpenApi.Description, "A link that is not deleted, also when it has expired.")
  )
  .add(
    HttpApiEndpoint.get("list", "/api/v1/links")
      .setUrlParams(ListParameters)
      .addSuccess(LinksBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Summary, "List links")
      .annotate(
        OpenApi.Description,
        "The caller's links page by page, expired ones too. A page of a search can be short, even empty, and not be the last."
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/api/v1/links/:key")
      .setPath(KeyPath)
      .setUrlParams(InDomain)
      .setPayload(PatchBody)
      .addSuccess(LinkBody)
      .addError(Problem.schema("invalid-url", "unauthorized", "forbidden", "not-found", "payload-too-large"))
      .addError(Problem.schema("unsupported-media-type", "blocked-target"))
      .annotate(OpenApi.Summary, "Change a link")
      .annotate(
        OpenApi.Description,
        "Changes a link that is not deleted, also when it has expired. null clears."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", "/api/v1/links/:key")
      .setPath(KeyPath)
      .setUrlParams(InDomain)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "Delete a link")
      .annotate(OpenApi.Description, "Deletes a link: it answers 410 from now on.")
  )

const image = Schema.Uint8ArrayFromSelf.annotations({ description: "The image" })

const qr = HttpApiGroup.make("qr").add(
  HttpApiEndpoint.get("image", "/api/v1/links/:key/qr")
    .setPath(KeyPath)
    .setUrlParams(
      Schema.Struct({
        ...inDomain,
        format: queryParameter({ type: "string", enum: ["svg", "png"], default: "svg" }),
        size: queryParameter({
          type: "integer",
          minimum: qrSizeMin,
          maximum: qrSizeMax,
          default: 256,
          description: "Pixels to each side"
        }),
        color: queryParameter({
          type: "string",
          pattern: "^[0-9a-fA-F]{6}$",
          default: "000000",
          description: "Red, green and blue; readers need it darker than the background"
        }),
        background: queryParameter({ type: "string", pattern: "^[0-9a-fA-F]{6}$", default: "ffffff" }),
        shape: queryParameter({
          type: "string",
          enum: qrShapes,
          default: "square",
          description: "What modules look like, but for those by which readers find the code"
        }),
        logo: queryParameter({
          type: "string",
          enum: ["none", "brand"],
          default: "none",
          description:
            "brand: the logo of this service in the middle, where it has one; in PNG only if that is a PNG of at most 1,024 pixels to each side"
        })
      })
    )
    .addSuccess(image.pipe(HttpApiSchema.withEncoding({ kind: "Uint8Array", contentType: "image/png" })))
    .addSuccess(HttpApiSchema.Empty(304))
    .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
    .annotate(OpenApi.Summary, "Draw a link's QR code")
    .annotate(OpenApi.Description, "The short URL as a QR code.")
    .annotate(OpenApi.Transform, OpenApiDocument.answersWith("200", ["image/png", "image/svg+xml"]))
)

const answersTable = OpenApiDocument.answersText("200", "text/csv")

const stats = HttpApiGroup.make("stats")
  .add(
    HttpApiEndpoint.get("ofLink", "/api/v1/links/:key/stats")
      .setPath(KeyPath)
      .setUrlParams(Schema.Struct({ ...inDomain, ...StatsParameters.fields }))
      .addSuccess(StatsBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "rate-limited"))
      .annotate(OpenApi.Transform, answersTable)
      .annotate(OpenApi.Summary, "Count a link's visits")
      .annotate(
        OpenApi.Description,
        "The visits of a link that is not deleted. They appear within a second. Anybody may ask for those of a link with `publicStats`, and gets them without `targets`, `cities` and the UTM parameters."
      )
  )
  .add(
    HttpApiEndpoint.get("ofOwner", "/api/v1/stats")
      .setUrlParams(StatsParameters)
      .addSuccess(StatsBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Transform, answersTable)
      .annotate(OpenApi.Summary, "Count the visits of all own links")
      .annotate(OpenApi.Description, "The visits of all links that the caller owns or owned.")
  )
  .add(
    HttpApiEndpoint.get("ofDomain", "/api/v1/domains/:host/stats")
      .setPath(Schema.Struct({ host: Schema.String }))
      .setUrlParams(Schema.Struct(orphanParameters))
      .addSuccess(StatsBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Transform, answersTable)
      .annotate(OpenApi.Summary, "Count a domain's orphan visits")
      .annotate(
        OpenApi.Description,
        "The visits of a domain that no link redirected: of `/`, of a key without a link, and of links that have expired, are used up or are not valid yet. For administrators."
      )
  )

const redirects = HttpApiGroup.make("redirects")
  .add(
    HttpApiEndpoint.get("redirect", "/:key")
      .setPath(KeyPath)
      .addSuccess(PreviewBody)
      .addSuccess(HttpApiSchema.Empty(301))
      .addSuccess(HttpApiSchema.Empty(302))
      .addSuccess(HttpApiSchema.Empty(307))
      .addSuccess(HttpApiSchema.Empty(308))
      .addError(Problem.schema("password-required", "not-found", "gone", "uri-too-long", "rate-limited"))
      .annotate(OpenApi.Summary, "Follow a short link")
      .annotate(
        OpenApi.Description,
        "Redirects to the link's target. HEAD answers the same, and is no visit. With a + behind the key: the preview (200)."
      )
      .annotate(
        OpenApi.Transform,
        OpenApiDocument.answersPages(["200", "401", "404", "410", "414", "429", "500", "503"])
      )
  )
  .add(
    HttpApiEndpoint.post("unlock", "/:key")
      .setPath(KeyPath)
      .setPayload(
        Schema.Struct({ password: Schema.String }).pipe(HttpApiSchema.withEncoding({ kind: "UrlParams" }))
      )
      .addSuccess(HttpApiSchema.Empty(303))
      .addError(Problem.schema("password-required", "not-found", "gone", "payload-too-large", "uri-too-long"))
      .addError(Problem.schema("rate-limited", "unsupported-media-type"))
      .annotate(OpenApi.Summary, "Follow a short link with its password")
      .annotate(OpenApi.Description, "Redirects to the target of a link that a password guards.")
      .annotate(
        OpenApi.Transform,
        OpenApiDocument.answersPages(["401", "404", "410", "413", "414", "415", "429", "500", "503"])
      )
  )

const robots = HttpApiGroup.make("robots").add(
  HttpApiEndpoint.get("robots", "/robots.txt")
    .addSuccess(HttpApiSchema.Text({ contentType: "text/plain" }))
    .annotate(OpenApi.Summary, "Tell crawlers what they may follow")
    .annotate(
      OpenApi.Description,
      "What crawlers may follow: links that were made for them, and nothing else."
    )
)

const health = HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("live", "/health/live")
      .addSuccess(Schema.Struct({ status: Schema.Literal("live") }))
      .annotate(OpenApi.Summary, "Check that the process runs")
      .annotate(OpenApi.Description, "200 while the process runs.")
  )
  .add(
    HttpApiEndpoint.get("ready", "/health/ready")
      .addSuccess(ReadyBody)
      .addError(ReadyBody, { status: 503 })
      .annotate(OpenApi.Summary, "Check that this node is ready")
      .annotate(OpenApi.Description, "200 when this node can create and redirect.")
  )

const metrics = HttpApiGroup.make("metrics").add(
  HttpApiEndpoint.get("metrics", "/metrics")
    .addSuccess(HttpApiSchema.Text({ contentType: "text/plain" }))
    .addError(Problem.schema("unauthorized", "forbidden"))
    .annotate(OpenApi.Summary, "Read this node's metrics")
    .annotate(
      OpenApi.Description,
      "This node's metrics in Prometheus' text format, for administrators, and for the bearer of METRICS_TOKEN where it is set."
    )
)

/** Of all operations that accept a session. */
const mustChangePassword = Problem.schema("password-change-required")

/** The HTTP contract: `/openapi.json` is made from it. */
export class Api extends HttpApi.make("linkmint")
  .add(links.addError(mustChangePassword))
  .add(qr.addError(mustChangePassword))
  .add(stats.addError(mustChangePassword))
  .add(accounts)
  .add(sessions)
  .add(users.addError(mustChangePassword))
  .add(apiKeys.addError(mustChangePassword))
  .add(webhooks.addError(mustChangePassword))
  .add(domains.addError(mustChangePassword))
  .add(certificates)
  .add(audit.addError(mustChangePassword))
  .add(redirects)
  .add(robots)
  .add(health)
  .add(metrics.addError(mustChangePassword))
  .add(cluster.addError(mustChangePassword))
  .addError(Problem.schema("invalid-request", "request-timeout", "headers-too-large", "unavailable"))
  .addError(Problem.schema("internal"))
  .annotate(OpenApi.Title, "Linkmint")
  .annotate(OpenApi.Version, version)
  .annotate(OpenApi.Description, "Shortens URLs.")
  .annotate(OpenApi.Transform, OpenApiDocument.correct) {}
