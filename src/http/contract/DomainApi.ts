import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { domainOwnersMax, DomainTargets } from "../../model/Domain.ts"
import { queryParameter } from "../exchange/PageRequest.ts"
import * as Problem from "../exchange/Problem.ts"
import { Flag, listOf, optional, Text, Url } from "./LinkSchemas.ts"
import type { Message } from "../../model/Messages.ts"

const Host = Text.annotations({
  description: "A host name without a port: international ones are kept in Punycode"
})

/** What may be `null` as well, with one message for all that it is not: a schema's own would quote the value. */
const orNull = <A, I>(schema: Schema.Schema<A, I>, message: Message) =>
  Schema.NullOr(schema).annotations({ message: () => ({ message, override: true }) })

const UserId = Text.pipe(Schema.pattern(/^[\w-]{1,64}$/))

const Owners = orNull(
  Schema.Array(UserId).pipe(Schema.maxItems(domainOwnersMax)),
  `must be a list of up to ${domainOwnersMax} ids of users, or null`
).annotations({ description: "The users who may create links in it; null: all who may create links" })

const target = (description: string) =>
  optional(orNull(Url.annotations({ description }), "must be a string or null"))

const Targets = Schema.Struct({
  home: target("From /"),
  unknown: target("From a key without a link"),
  expired: target("From a link that has expired"),
  usedUp: target("From a link whose visits are used up"),
  pending: target("From a link that is not valid yet")
}).annotations({
  message: () => "must be an object of home, unknown, expired, usedUp and pending, each a URL or null"
})

/** The body that adds a domain. */
export const NewDomainBody = Schema.Struct({ host: Host, owners: optional(Owners) }).annotations({
  identifier: "NewDomain"
})

/** The body that changes a domain. */
export const DomainChangeBody = Schema.Struct({
  owners: optional(Owners),
  targets: optional(Targets),
  ignoresCase: optional(
    Flag.annotations({ description: "Whether aliases that differ in case alone are the same" })
  )
}).annotations({
  identifier: "ChangeDomain"
})

/** What is shown before a domain is used: either of them will do. */
const Proof = Schema.Struct({
  txt: Schema.Struct({ name: Schema.String, value: Schema.String }).annotations({
    description: "A TXT record of its DNS"
  }),
  file: Schema.Struct({ url: Schema.String, content: Schema.String }).annotations({
    description: "A file of its web server, at port 80 and without a redirect"
  })
}).annotations({ identifier: "DomainProof" })

/** A domain as clients see it; times are RFC 3339 in UTC. */
export const DomainBody = Schema.Struct({
  host: Schema.String,
  verifiedAt: Schema.NullOr(Schema.String),
  owners: Schema.NullOr(Schema.Array(Schema.String)),
  targets: DomainTargets,
  ignoresCase: Schema.Boolean,
  createdAt: Schema.String,
  updatedAt: Schema.String,
  proof: optional(Proof.annotations({ description: "For administrators" }))
}).annotations({ identifier: "Domain" })

/** An alias that keeps a domain from ignoring case. */
const CapitalAlias = Schema.Struct({
  key: Schema.String,
  folded: Schema.String.annotations({ description: "The alias in lower case" }),
  collides: Schema.Boolean.annotations({ description: "Whether another link has that alias in this domain" })
}).annotations({ identifier: "CapitalAlias" })

/** The aliases that keep a domain from ignoring case. */
export const CapitalsBody = Schema.Struct({
  data: Schema.Array(CapitalAlias),
  isComplete: Schema.Boolean.annotations({ description: "Whether there are no more" })
}).annotations({ identifier: "CapitalAliases" })

const HostPath = Schema.Struct({ host: Schema.String })

/** Further domains, in the contract. */
export const domains = HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.get("listDomains", "/api/v1/domains")
      .addSuccess(listOf(DomainBody, "Domains"))
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Summary, "List domains")
      .annotate(
        OpenApi.Description,
        "The further domains in which the caller may create links; for administrators all of them."
      )
  )
  .add(
    HttpApiEndpoint.post("addDomain", "/api/v1/domains")
      .setPayload(NewDomainBody)
      .addSuccess(DomainBody, { status: 201 })
      .addError(Problem.schema("unauthorized", "forbidden", "domain-taken", "too-many-domains"))
      .addError(Problem.schema("payload-too-large", "unsupported-media-type"))
      .annotate(OpenApi.Summary, "Add a domain")
      .annotate(OpenApi.Description, "Adds a domain, which is used once it is verified. For administrators.")
  )
  .add(
    HttpApiEndpoint.patch("changeDomain", "/api/v1/domains/:host")
      .setPath(HostPath)
      .setPayload(DomainChangeBody)
      .addSuccess(DomainBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "aliases-with-capitals"))
      .addError(
        Problem.schema("invalid-url", "payload-too-large", "unsupported-media-type", "blocked-target")
      )
      .annotate(OpenApi.Summary, "Change a domain")
      .annotate(
        OpenApi.Description,
        "Changes who may create links in a domain, and where its visitors are sent when no link redirects them, and whether it ignores the case of aliases. null clears. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.get("listCapitals", "/api/v1/domains/:host/capitals")
      .setPath(HostPath)
      .addSuccess(CapitalsBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "List aliases with capital letters")
      .annotate(
        OpenApi.Description,
        "The aliases that keep a domain from ignoring case, and which of them collide. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.post("verifyDomain", "/api/v1/domains/:host/verify")
      .setPath(HostPath)
      .addSuccess(DomainBody)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found", "domain-not-proven"))
      .annotate(OpenApi.Summary, "Verify a domain")
      .annotate(
        OpenApi.Description,
        "Looks for the domain's TXT record and file, one of which must be there. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.del("removeDomain", "/api/v1/domains/:host")
      .setPath(HostPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "Remove a domain")
      .annotate(
        OpenApi.Description,
        "Removes a domain: its links answer no more, also when its host is added again. For administrators."
      )
  )

/** What reverse proxies ask, in the contract. */
export const certificates = HttpApiGroup.make("certificates").add(
  HttpApiEndpoint.get("mayHave", "/health/certificate")
    .setUrlParams(Schema.Struct({ domain: queryParameter({ type: "string", description: "A host name" }) }))
    .addSuccess(Schema.Struct({ host: Schema.String }))
    .addError(Problem.schema("not-found"))
    .annotate(OpenApi.Summary, "Ask whether a host may have a certificate")
    .annotate(
      OpenApi.Description,
      "For reverse proxies that get certificates on demand: 200 for the host of BASE_URL and for verified domains."
    )
)
