import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { version } from "../../../src/model/Version.ts"
import { claimOf, prove } from "../../support/samples/SomeWebhooks.ts"
import {
  ask,
  asAdmin as admin,
  newKey,
  newSession,
  newUser,
  password,
  post
} from "../../support/samples/Account.ts"
import { type Answer, jsonOf, type NoAnswer, type Request } from "../../support/http/HttpClient.ts"
import {
  type Document,
  documentOf,
  faultsOfAnswer,
  type JsonSchema,
  operationsOf,
  resolve,
  validating
} from "../../support/http/OpenApi.ts"
import {
  adminKey,
  asAdmin,
  create,
  get,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const documents = new WeakMap<typeof TestService.Service, Document>()

/** The document of the service, read once, so that its schemas are compiled once. */
const document = Effect.gen(function* () {
  const service = yield* TestService
  const known = documents.get(service)
  if (known !== undefined) return known
  const read = documentOf(yield* get("/openapi.json"))
  documents.set(service, read)
  return read
})

/** Every value under the name `$ref`, at any depth. */
const referencesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "$ref" ? [String(inner)] : referencesIn(inner)
  )
}

withService("/openapi.json", {}, (it) => {
  it.effect("is an OpenAPI 3.1 document", () =>
    Effect.gen(function* () {
      const answer = yield* get("/openapi.json")
      expect(answer.status).toBe(200)
      expect(answer.headers["content-type"]).toMatch(/^application\/json/)
      const { info, openapi } = yield* document
      expect(openapi).toMatch(/^3\.1\.\d+$/)
      expect(info).toMatchObject({ title: "Linkmint", version })
    })
  )

  it.effect("declares each path's parameters, names each operation once, and describes each response", () =>
    Effect.gen(function* () {
      const operations = operationsOf(yield* document)
      for (const { operation, path } of operations) {
        expect(path).toMatch(/^\//)
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const declared = operation.parameters?.filter((parameter) => parameter.in === "path") ?? []
        expect(declared.map(({ name }) => name)).toEqual(inPath)
        expect(declared.every(({ required }) => required === true)).toBe(true)
        for (const [status, response] of Object.entries(operation.responses)) {
          expect(status).toMatch(/^[1-5]\d\d$/)
          expect(response?.description).toMatch(/\S/)
        }
      }
      const summaries = operations.map(({ operation }) => operation.summary)
      expect(new Set(summaries).size).toBe(operations.length)
      for (const summary of summaries) expect(summary).toMatch(/^[A-Z].{5,60}$/)
      const ids = operations.map(({ operation }) => operation.operationId)
      expect(new Set(ids).size).toBe(ids.length)
    })
  )

  it.effect("refers to nothing that it does not have, and has nothing that it does not refer to", () =>
    Effect.gen(function* () {
      const made = yield* document
      const references = new Set(referencesIn(made))
      references.forEach((reference) => resolve(made.components.schemas, reference))
      expect([...references].toSorted()).toEqual(
        Object.keys(made.components.schemas)
          .map((name) => `#/components/schemas/${name}`)
          .toSorted()
      )
    })
  )

  it.effect("lists the operations, each with its problems", () =>
    Effect.gen(function* () {
      const made = yield* document
      const anywhere = ["headers-too-large", "internal", "invalid-request", "request-timeout", "unavailable"]
      const listed = operationsOf(made).map(({ method, operation, path }) => {
        const kinds = Object.values(operation.responses).flatMap((response) => {
          const schema = response?.content?.["application/problem+json"]?.schema
          const schemas = (schema?.["anyOf"] ?? (schema === undefined ? [] : [schema])) as Array<JsonSchema>
          return schemas.map((schema) => {
            const { type } = schema["properties"] as {
              readonly type: { readonly enum: ReadonlyArray<string> }
            }
            return type.enum[0]!.replace("https://linkmint.dev/problems/", "")
          })
        })
        expect(kinds, path).toEqual(expect.arrayContaining(anywhere))
        return [`${method} ${path}`, kinds.filter((kind) => !anywhere.includes(kind)).toSorted()] as const
      })
      const sessionsOwn = ["post /api/v1/session", "delete /api/v1/session", "put /api/v1/me/password"]
      const mustChangePassword = listed.filter(([, kinds]) => kinds.includes("password-change-required"))
      expect(mustChangePassword.map(([name]) => name)).toEqual(
        listed
          .filter(([name, kinds]) => kinds.includes("forbidden") && !sessionsOwn.includes(name))
          .map(([name]) => name)
      )
      const others = listed.map(
        ([name, kinds]) => [name, kinds.filter((kind) => kind !== "password-change-required")] as const
      )
      expect(Object.fromEntries(others)).toEqual({
        "post /api/v1/links": [
          "alias-reserved",
          "alias-taken",
          "blocked-target",
          "forbidden",
          "idempotency-in-progress",
          "idempotency-mismatch",
          "invalid-url",
          "payload-too-large",
          "rate-limited",
          "unauthorized",
          "unsupported-media-type"
        ],
        "post /api/v1/links/bulk": [
          "forbidden",
          "payload-too-large",
          "unauthorized",
          "unsupported-media-type"
        ],
        "post /api/v1/links/bulk-edit": [
          "blocked-target",
          "forbidden",
          "invalid-url",
          "payload-too-large",
          "unauthorized",
          "unsupported-media-type"
        ],
        "get /api/v1/links": ["forbidden", "unauthorized"],
        "patch /api/v1/links/{key}": [
          "blocked-target",
          "forbidden",
          "invalid-url",
          "not-found",
          "payload-too-large",
          "unauthorized",
          "unsupported-media-type"
        ],
        "get /api/v1/links/{key}": ["forbidden", "not-found", "unauthorized"],
        "delete /api/v1/links/{key}": ["forbidden", "not-found", "unauthorized"],
        "get /api/v1/links/{key}/qr": ["forbidden", "not-found", "unauthorized"],
        "get /api/v1/links/{key}/stats": ["forbidden", "not-found", "rate-limited", "unauthorized"],
        "get /api/v1/stats": ["forbidden", "unauthorized"],
        "get /api/v1/domains/{host}/stats": ["forbidden", "not-found", "unauthorized"],
        "get /{key}": ["gone", "not-found", "password-required", "rate-limited", "uri-too-long"],
        "post /{key}": [
          "gone",
          "not-found",
          "password-required",
          "payload-too-large",
          "rate-limited",
          "unsupported-media-type",
          "uri-too-long"
        ],
        "get /robots.txt": [],
        "post /api/v1/users": [
          "email-taken",
          "forbidden",
          "payload-too-large",
          "rate-limited",
          "unauthorized",
          "unsupported-media-type"
        ],
        "post /api/v1/session": [
          "forbidden",
          "payload-too-large",
          "rate-limited",
          "unauthorized",
          "unsupported-media-type"
        ],
        "delete /api/v1/session": ["forbidden"],
        "get /api/v1/me": ["unauthorized"],
        "get /api/v1/sessions": ["forbidden", "unauthorized"],
        "delete /api/v1/sessions": ["forbidden", "unauthorized"],
        "delete /api/v1/sessions/{id}": ["forbidden", "not-found", "unauthorized"],
        "put /api/v1/me/password": [
          "forbidden",
          "payload-too-large",
          "rate-limited",
          "unauthorized",
          "unsupported-media-type"
        ],
        "post /api/v1/api-keys": [
          "forbidden",
          "payload-too-large",
          "reauthentication-required",
          "too-many-keys",
          "unauthorized",
          "unsupported-media-type"
        ],
        "get /api/v1/api-keys": ["forbidden", "unauthorized"],
        "delete /api/v1/api-keys/{id}": ["forbidden", "not-found", "unauthorized"],
        "post /api/v1/webhooks": [
          "blocked-target",
          "forbidden",
          "invalid-url",
          "payload-too-large",
          "too-many-webhooks",
          "unauthorized",
          "unsupported-media-type"
        ],
        "get /api/v1/webhooks": ["forbidden", "unauthorized"],
        "delete /api/v1/webhooks/{id}": ["forbidden", "not-found", "unauthorized"],
        "get /api/v1/webhooks/{id}/dead-letters": ["forbidden", "not-found", "unauthorized"],
        "post /api/v1/webhooks/{id}/verify": ["forbidden", "not-found", "unauthorized", "webhook-ended"],
        "post /api/v1/webhooks/{id}/dead-letters/{messageId}/retry": [
          "forbidden",
          "not-found",
          "unauthorized",
          "webhook-full"
        ],
        "get /api/v1/users": ["forbidden", "unauthorized"],
        "patch /api/v1/users/{id}": [
          "forbidden",
          "last-administrator",
          "not-found",
          "payload-too-large",
          "reauthentication-required",
          "unauthorized",
          "unsupported-media-type"
        ],
        "delete /api/v1/users/{id}": [
          "forbidden",
          "last-administrator",
          "not-found",
          "reauthentication-required",
          "unauthorized"
        ],
        "delete /api/v1/me": ["forbidden", "last-administrator", "reauthentication-required", "unauthorized"],
        "get /api/v1/domains": ["forbidden", "unauthorized"],
        "post /api/v1/domains": [
          "domain-taken",
          "forbidden",
          "payload-too-large",
          "too-many-domains",
          "unauthorized",
          "unsupported-media-type"
        ],
        "get /api/v1/domains/{host}/capitals": ["forbidden", "not-found", "unauthorized"],
        "patch /api/v1/domains/{host}": [
          "aliases-with-capitals",
          "blocked-target",
          "forbidden",
          "invalid-url",
          "not-found",
          "payload-too-large",
          "unauthorized",
          "unsupported-media-type"
        ],
        "post /api/v1/domains/{host}/verify": ["domain-not-proven", "forbidden", "not-found", "unauthorized"],
        "delete /api/v1/domains/{host}": ["forbidden", "not-found", "unauthorized"],
        "get /health/certificate": ["not-found"],
        "get /api/v1/audit": ["forbidden", "unauthorized"],
        "get /health/live": [],
        "get /health/ready": [],
        "get /metrics": ["forbidden", "unauthorized"],
        "get /api/v1/cluster": ["forbidden", "unauthorized"],
        "get /api/v1/cluster/events": ["forbidden", "too-many-streams", "unauthorized"]
      })
    })
  )

  it.effect("has a page to try it, which needs nothing from elsewhere", () =>
    Effect.map(get("/docs", {}), (answer) => {
      expect(answer.status).toBe(200)
      expect(answer.headers["content-type"]).toMatch(/^text\/html/)
      expect(answer.text).not.toMatch(/<(script|link)[^>]+(src|href)=["']?(https?:)?\/\//)
    })
  )
})

const url = "https://example.com/"
const long = "a".repeat(70_000)

const send = (request: Request) => Effect.flatMap(TestService, (service) => service.send(request))

/** What is answered while a store cannot be had. */
const awayFrom = (
  store: "links" | "accounts" | "audit" | "domains" | "visits" | "webhooks",
  sent: Effect.Effect<Answer, NoAnswer, TestService>
) =>
  Effect.flatMap(TestService, ({ setFault }) =>
    setFault(store, "fails").pipe(Effect.zipRight(sent), Effect.ensuring(setFault(store, "none")))
  )
const away = (sent: Effect.Effect<Answer, NoAnswer, TestService>) => awayFrom("links", sent)

const asReader = (method: string, path: string, body?: unknown) =>
  withKey(userKeys.reader, method, path, body)
const asBlind = (method: string, path: string) => withKey(userKeys.blind, method, path)

/** A patch of a link that is there. */
const patch = (body: unknown) =>
  Effect.zipRight(
    create({ url, alias: "to-be-patched" }),
    asAdmin("PATCH", "/api/v1/links/to-be-patched", body)
  )

const gone = Effect.zipRight(create({ url, alias: "gone" }), asAdmin("DELETE", "/api/v1/links/gone"))

const redirected = (redirectStatus: number) =>
  Effect.zipRight(
    create({ url, alias: `by-${redirectStatus}`, redirectStatus }),
    get(`/by-${redirectStatus}`)
  )

const forwarding = create({ url, alias: "forwarding", forwardQuery: true })

const locked = create({ url, alias: "locked", password: "secret" })

/** Too long to be forwarded. */
const longQuery = "q".repeat(9_000)

const unlock = (path: string, body = "password=secret") =>
  send({
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body
  })

/** What a key is answered that has one scope alone. */
const withScope = (scope: string, request: Request) =>
  Effect.flatMap(newKey({ scopes: [scope] }), ({ headers }) => send({ ...request, headers }))

const newUserBody = { email: "ada@example.com", password }
const newPasswordBody = { currentPassword: password, password: "another horse, another battery" }

const change = (body: object, headers: Request["headers"]) =>
  send({
    method: "PUT",
    path: "/api/v1/me/password",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

/** The change of the password of somebody who is signed in. */
const changed = (body: object, headers: Request["headers"] = {}) =>
  Effect.flatMap(newSession, (session) => change(body, { ...session.headers, ...headers }))

const newKeyBody = { name: "a key", scopes: ["links:read"] }
const foreign = { "sec-fetch-site": "cross-site" }

const bulk = (body: object, headers: Record<string, string> = {}) => post("/api/v1/links/bulk", body, headers)

const editMany = (change: object) =>
  asAdmin("POST", "/api/v1/links/bulk-edit", { filter: { tag: "edited" }, change })

/** More keys that lead nowhere than all other requests ask for. */
const lookupsMax = 60

/** The last of several answers to the same request. */
const nth = (times: number, sent: Effect.Effect<Answer, NoAnswer, TestService>) =>
  Effect.zipRight(Effect.repeatN(sent, times - 2), sent)

const hooks = "/api/v1/webhooks"
const newWebhook = { url, events: ["link.created"] }

/** A request about a webhook of the administrator's that has a dead letter, beside so many MiB that wait. */
const ofWebhook = (method: string, rest: string, waiting_MiB = 0) =>
  Effect.gen(function* () {
    const { webhooks } = yield* TestService
    const made = yield* asAdmin("POST", hooks, newWebhook)
    const { id } = jsonOf(made) as { readonly id: string }
    yield* prove(webhooks, id)
    const message = (text: string, body: string) =>
      ({ id: `msg_${text}`, owner: "admin", event: "link.created", body }) as const
    yield* webhooks.offer([message("dead", "{}")])
    const claimed = yield* webhooks.claim(claimOf())
    yield* Effect.forEach(claimed, (one) =>
      webhooks.failed(one, { reason: "It answered 500.", retryIn_ms: null, pause_ms: 0 })
    )
    const mebibyte = "x".repeat(1_024 * 1_024)
    yield* webhooks.offer(Array.from({ length: waiting_MiB }, (_, index) => message(String(index), mebibyte)))
    const answer = yield* asAdmin(method, `${hooks}/${id}${rest}`)
    yield* webhooks.remove(id)
    return answer
  }).pipe(Effect.catchTag("StorageError", Effect.die))

/** A request about a webhook that was made by an API key which has been revoked. */
const ofEnded = (method: string, rest: string) =>
  Effect.gen(function* () {
    const key = yield* newKey({ scopes: ["links:read", "links:write"] })
    const { id } = jsonOf(yield* post(hooks, newWebhook, key.headers)) as { readonly id: string }
    yield* asAdmin("DELETE", `/api/v1/api-keys/${key.id}`)
    return yield* asAdmin(method, `${hooks}/${id}${rest}`)
  })

const unverified = Effect.gen(function* () {
  const { id } = jsonOf(yield* asAdmin("POST", hooks, newWebhook)) as { readonly id: string }
  const answer = yield* asAdmin("POST", `${hooks}/${id}/verify`)
  yield* asAdmin("DELETE", `${hooks}/${id}`)
  return answer
})

const letters = `${hooks}/{id}/dead-letters`
const noWebhook = `${hooks}/whk_none`

/** Requests about webhooks, likewise. */
const webhookAnswers: Record<string, Effect.Effect<Answer, NoAnswer, TestService>> = {
  [`post ${hooks} 201`]: asAdmin("POST", hooks, { url, events: ["link.created", "link.visited"] }),
  [`post ${hooks} 400 invalid-request`]: asAdmin("POST", hooks, {}),
  [`post ${hooks} 400 invalid-url`]: asAdmin("POST", hooks, { ...newWebhook, url: "ftp://example.com/" }),
  [`post ${hooks} 401`]: send({ method: "POST", path: hooks }),
  [`post ${hooks} 403`]: asReader("POST", hooks, newWebhook),
  [`post ${hooks} 409`]: Effect.zipRight(
    Effect.forEach(Array(10).fill(0), () => withKey(userKeys.other, "POST", hooks, newWebhook)),
    withKey(userKeys.other, "POST", hooks, newWebhook)
  ),
  [`post ${hooks} 413`]: asAdmin("POST", hooks, { ...newWebhook, url: `${url}${long}` }),
  [`post ${hooks} 415`]: asAdmin("POST", hooks),
  [`post ${hooks} 422`]: asAdmin("POST", hooks, { ...newWebhook, url: "http://10.0.0.1/" }),
  [`post ${hooks} 503`]: awayFrom("webhooks", asAdmin("POST", hooks, newWebhook)),
  [`get ${hooks} 200`]: asAdmin("GET", hooks),
  [`get ${hooks} 401`]: get(hooks),
  [`get ${hooks} 403`]: asBlind("GET", hooks),
  [`get ${hooks} 503`]: awayFrom("webhooks", asAdmin("GET", hooks)),
  [`delete ${hooks}/{id} 204`]: ofWebhook("DELETE", ""),
  [`delete ${hooks}/{id} 401`]: send({ method: "DELETE", path: noWebhook }),
  [`delete ${hooks}/{id} 403`]: asReader("DELETE", noWebhook),
  [`delete ${hooks}/{id} 404`]: asAdmin("DELETE", noWebhook),
  [`delete ${hooks}/{id} 503`]: awayFrom("webhooks", asAdmin("DELETE", noWebhook)),
  [`post ${hooks}/{id}/verify 202`]: unverified,
  [`post ${hooks}/{id}/verify 200`]: ofWebhook("POST", "/verify"),
  [`post ${hooks}/{id}/verify 401`]: send({ method: "POST", path: `${noWebhook}/verify` }),
  [`post ${hooks}/{id}/verify 403`]: asReader("POST", `${noWebhook}/verify`),
  [`post ${hooks}/{id}/verify 404`]: asAdmin("POST", `${noWebhook}/verify`),
  [`post ${hooks}/{id}/verify 409`]: ofEnded("POST", "/verify"),
  [`post ${hooks}/{id}/verify 503`]: awayFrom("webhooks", asAdmin("POST", `${noWebhook}/verify`)),
  [`get ${letters} 200`]: ofWebhook("GET", "/dead-letters"),
  [`get ${letters} 400`]: ofWebhook("GET", "/dead-letters?limit=x"),
  [`get ${letters} 401`]: get(`${noWebhook}/dead-letters`),
  [`get ${letters} 403`]: asBlind("GET", `${noWebhook}/dead-letters`),
  [`get ${letters} 404`]: asAdmin("GET", `${noWebhook}/dead-letters`),
  [`get ${letters} 503`]: awayFrom("webhooks", asAdmin("GET", `${noWebhook}/dead-letters`)),
  [`post ${letters}/{messageId}/retry 202`]: ofWebhook("POST", "/dead-letters/msg_dead/retry"),
  [`post ${letters}/{messageId}/retry 401`]: send({
    method: "POST",
    path: `${noWebhook}/dead-letters/m/retry`
  }),
  [`post ${letters}/{messageId}/retry 403`]: asReader("POST", `${noWebhook}/dead-letters/m/retry`),
  [`post ${letters}/{messageId}/retry 404`]: ofWebhook("POST", "/dead-letters/msg_other/retry"),
  [`post ${letters}/{messageId}/retry 409`]: ofWebhook("POST", "/dead-letters/msg_dead/retry", 16),
  [`post ${letters}/{messageId}/retry 503`]: awayFrom(
    "webhooks",
    asAdmin("POST", `${noWebhook}/dead-letters/m/retry`)
  )
}

const domains = "/api/v1/domains"

/** A request about a domain that was just added. */
const ofDomain = (host: string, method: string, rest = "", body?: unknown) =>
  Effect.zipRight(asAdmin("POST", domains, { host }), asAdmin(method, `${domains}/${host}${rest}`, body))

const proven = (host: string) =>
  Effect.gen(function* () {
    const { shown } = yield* TestService
    const { proof } = jsonOf(yield* asAdmin("POST", domains, { host })) as {
      readonly proof: { readonly txt: { readonly name: string; readonly value: string } }
    }
    shown.txt.set(proof.txt.name, proof.txt.value)
    return yield* asAdmin("POST", `${domains}/${host}/verify`)
  })

const noDomain = `${domains}/nobody.example`

/** Requests about domains, likewise. */
const domainAnswers: Record<string, Effect.Effect<Answer, NoAnswer, TestService>> = {
  [`get ${domains} 200`]: Effect.zipRight(
    asAdmin("POST", domains, { host: "listed.example", owners: ["usr_one"] }),
    asAdmin("GET", domains)
  ),
  [`get ${domains} 401`]: get(domains),
  [`get ${domains} 403`]: asBlind("GET", domains),
  [`get ${domains} 503`]: awayFrom("domains", asAdmin("GET", domains)),
  [`post ${domains} 201`]: asAdmin("POST", domains, { host: "added.example" }),
  [`post ${domains} 400`]: asAdmin("POST", domains, {}),
  [`post ${domains} 401`]: send({ method: "POST", path: domains }),
  [`post ${domains} 403`]: asReader("POST", domains, { host: "read.example" }),
  [`post ${domains} 409`]: nth(2, asAdmin("POST", domains, { host: "twice.example" })),
  [`post ${domains} 413`]: asAdmin("POST", domains, { host: long }),
  [`post ${domains} 415`]: asAdmin("POST", domains),
  [`post ${domains} 503`]: awayFrom("domains", asAdmin("POST", domains, { host: "away.example" })),
  [`patch ${domains}/{host} 200`]: ofDomain("changed.example", "PATCH", "", { owners: ["usr_one"] }),
  [`patch ${domains}/{host} 400`]: asAdmin("PATCH", noDomain, { owners: "me" }),
  [`patch ${domains}/{host} 401`]: send({ method: "PATCH", path: noDomain }),
  [`patch ${domains}/{host} 403`]: asReader("PATCH", noDomain, {}),
  [`patch ${domains}/{host} 404`]: asAdmin("PATCH", noDomain, {}),
  [`patch ${domains}/{host} 409`]: proven("capitals.example").pipe(
    Effect.zipRight(create({ url, alias: "Capitals", domain: "capitals.example" })),
    Effect.zipRight(asAdmin("PATCH", `${domains}/capitals.example`, { ignoresCase: true }))
  ),
  [`get ${domains}/{host}/capitals 200`]: ofDomain("lower.example", "GET", "/capitals"),
  [`get ${domains}/{host}/capitals 401`]: get(`${noDomain}/capitals`),
  [`get ${domains}/{host}/capitals 403`]: asReader("GET", `${noDomain}/capitals`),
  [`get ${domains}/{host}/capitals 404`]: asAdmin("GET", `${noDomain}/capitals`),
  [`get ${domains}/{host}/capitals 503`]: awayFrom("domains", asAdmin("GET", `${noDomain}/capitals`)),
  [`patch ${domains}/{host} 413`]: asAdmin("PATCH", noDomain, { owners: [long] }),
  [`patch ${domains}/{host} 415`]: asAdmin("PATCH", noDomain),
  [`patch ${domains}/{host} 422`]: Effect.zipRight(
    proven("blocked.example"),
    asAdmin("PATCH", `${domains}/blocked.example`, { targets: { home: "http://blocked.example/" } })
  ),
  [`patch ${domains}/{host} 503`]: awayFrom("domains", asAdmin("PATCH", noDomain, {})),
  [`post ${domains}/{host}/verify 200`]: proven("proven.example"),
  [`post ${domains}/{host}/verify 401`]: send({ method: "POST", path: `${noDomain}/verify` }),
  [`post ${domains}/{host}/verify 403`]: asReader("POST", `${noDomain}/verify`),
  [`post ${domains}/{host}/verify 404`]: asAdmin("POST", `${noDomain}/verify`),
  [`post ${domains}/{host}/verify 409`]: ofDomain("unproven.example", "POST", "/verify"),
  [`post ${domains}/{host}/verify 503`]: awayFrom("domains", asAdmin("POST", `${noDomain}/verify`)),
  [`delete ${domains}/{host} 204`]: ofDomain("removed.example", "DELETE"),
  [`delete ${domains}/{host} 401`]: send({ method: "DELETE", path: noDomain }),
  [`delete ${domains}/{host} 403`]: asReader("DELETE", noDomain),
  [`delete ${domains}/{host} 404`]: asAdmin("DELETE", noDomain),
  [`delete ${domains}/{host} 503`]: awayFrom("domains", asAdmin("DELETE", noDomain)),
  "get /health/certificate 200": Effect.zipRight(
    proven("secured.example"),
    get("/health/certificate?domain=secured.example")
  ),
  "get /health/certificate 404": get("/health/certificate?domain=nobody.example")
}

const cluster = "/api/v1/cluster"
const clusterEvents = `${cluster}/events`

/** Requests about the cluster, likewise. */
const clusterAnswers: Record<string, Effect.Effect<Answer, NoAnswer, TestService>> = Object.fromEntries(
  [cluster, clusterEvents].flatMap((path, index) => [
    [`get ${path} 200`, asAdmin("GET", path)],
    [`get ${path} 401`, get(path)],
    [`get ${path} 403`, asReader("GET", path)],
    [`get ${path} 503`, awayFrom("accounts", get(path, { "x-api-key": `lm_${String(index).repeat(32)}` }))]
  ])
)

const users = "/api/v1/users"
const toNobody = (body: unknown) => asAdmin("PATCH", `${users}/usr_nobody`, body)

/** The deletion of the last administrator but the service's own, which is disabled meanwhile. */
const lastOne = (
  deletion: (id: string, headers: Request["headers"]) => Effect.Effect<Answer, NoAnswer, TestService>
) =>
  Effect.gen(function* () {
    const { headers, id } = yield* newSession
    yield* asAdmin("PATCH", `${users}/${id}`, { admin: true })
    yield* asAdmin("PATCH", `${users}/admin`, { disabled: true })
    const answer = yield* deletion(id, headers)
    yield* asAdmin("PATCH", `${users}/admin`, { disabled: false })
    yield* asAdmin("DELETE", `${users}/${id}`)
    return answer
  })

/** Requests about users, likewise. */
const userAnswers: Record<string, Effect.Effect<Answer, NoAnswer, TestService>> = {
  [`get ${users} 200`]: Effect.zipRight(newUser(), asAdmin("GET", `${users}?limit=1`)),
  [`get ${users} 400`]: asAdmin("GET", `${users}?limit=x`),
  [`get ${users} 401`]: get(users),
  [`get ${users} 403`]: asReader("GET", users),
  [`get ${users} 503`]: awayFrom("accounts", asAdmin("GET", users)),
  [`patch ${users}/{id} 200`]: Effect.flatMap(newUser(), ({ id }) =>
    asAdmin("PATCH", `${users}/${id}`, { disabled: true })
  ),
  [`patch ${users}/{id} 400`]: toNobody({}),
  [`patch ${users}/{id} 401`]: send({ method: "PATCH", path: `${users}/usr_nobody` }),
  [`patch ${users}/{id} 403`]: asReader("PATCH", `${users}/usr_one`, { admin: true }),
  [`patch ${users}/{id} 404`]: toNobody({ admin: true }),
  [`patch ${users}/{id} 409`]: asAdmin("PATCH", `${users}/admin`, { disabled: true }),
  [`patch ${users}/{id} 413`]: toNobody({ admin: long }),
  [`patch ${users}/{id} 415`]: toNobody(undefined),
  [`patch ${users}/{id} 503`]: awayFrom("accounts", toNobody({ admin: true })),
  "delete /api/v1/me 204": Effect.flatMap(newSession, ({ headers }) => ask("DELETE", "/api/v1/me", headers)),
  "delete /api/v1/me 401": ask("DELETE", "/api/v1/me"),
  "delete /api/v1/me 403": asReader("DELETE", "/api/v1/me"),
  "delete /api/v1/me 409": lastOne((_, headers) => ask("DELETE", "/api/v1/me", headers)),
  "delete /api/v1/me 503": awayFrom(
    "accounts",
    ask("DELETE", "/api/v1/me", { cookie: `linkmint_session=${"a".repeat(43)}` })
  ),
  [`delete ${users}/{id} 204`]: Effect.flatMap(newUser(), ({ id }) => asAdmin("DELETE", `${users}/${id}`)),
  [`delete ${users}/{id} 401`]: send({ method: "DELETE", path: `${users}/usr_nobody` }),
  [`delete ${users}/{id} 403`]: asReader("DELETE", `${users}/usr_one`),
  [`delete ${users}/{id} 404`]: asAdmin("DELETE", `${users}/usr_nobody`),
  [`delete ${users}/{id} 409`]: lastOne((id) => asAdmin("DELETE", `${users}/${id}`)),
  [`delete ${users}/{id} 503`]: awayFrom("accounts", asAdmin("DELETE", `${users}/usr_nobody`))
}

const audit = "/api/v1/audit"

/** Requests about the audit log, likewise. */
const auditAnswers: Record<string, Effect.Effect<Answer, NoAnswer, TestService>> = {
  [`get ${audit} 200`]: Effect.zipRight(newSession, asAdmin("GET", `${audit}?limit=2`)),
  [`get ${audit} 400`]: asAdmin("GET", `${audit}?action=none`),
  [`get ${audit} 401`]: get(audit),
  [`get ${audit} 403`]: asReader("GET", audit),
  [`get ${audit} 503`]: awayFrom("audit", asAdmin("GET", audit))
}

/** Requests that give each answer which the document lists, but those that only a broken service gives. */
const answers: Record<string, Effect.Effect<Answer, NoAnswer, TestService>> = {
  ...webhookAnswers,
  ...domainAnswers,
  ...clusterAnswers,
  ...auditAnswers,
  ...userAnswers,
  "post /api/v1/links 201": create({ url, alias: "made", expiresIn: "P1D" }),
  "post /api/v1/links 400 invalid-request": create({ url, alias: "x", tags: [] }),
  "post /api/v1/links 400 invalid-url": create({ url: "ftp://example.com/" }),
  "post /api/v1/links 400 alias-reserved": create({ url, alias: "api" }),
  "post /api/v1/links 401": create({ url }, { "x-api-key": "wrong" }),
  "post /api/v1/links 403": asReader("POST", "/api/v1/links", { url }),
  "post /api/v1/links 429": Effect.flatMap(
    newKey({ scopes: ["links:write"], createsPerMinute: 1 }),
    ({ headers }) => nth(2, create({ url }, headers))
  ),
  "post /api/v1/links 409": Effect.zipRight(create({ url, alias: "taken" }), create({ url, alias: "taken" })),
  "post /api/v1/links 413": create({ url: `${url}${long}` }),
  "post /api/v1/links 415": create({ url }, { "content-type": "text/plain" }),
  "post /api/v1/links 422": Effect.flatMap(TestService, ({ port }) =>
    create({ url: `http://localhost:${port}/` })
  ),
  "post /api/v1/links 503": away(create({ url })),
  "post /api/v1/links 200": Effect.flatMap(newSession, ({ headers }) =>
    nth(2, create({ url, reuse: true }, headers))
  ),
  "post /api/v1/links/bulk 200": bulk({ links: [{ url }, { url: "nowhere" }] }),
  "post /api/v1/links/bulk 400": bulk({ links: [] }),
  "post /api/v1/links/bulk 401": bulk({ links: [{ url }] }, { "x-api-key": "wrong" }),
  "post /api/v1/links/bulk 403": asReader("POST", "/api/v1/links/bulk", { links: [{ url }] }),
  "post /api/v1/links/bulk 413": bulk({ links: [{ url: " ".repeat(4 * 1_024 * 1_024) }] }),
  "post /api/v1/links/bulk 415": bulk({ links: [{ url }] }, { "content-type": "text/plain" }),
  "post /api/v1/links/bulk 503": awayFrom(
    "accounts",
    bulk({ links: [{ url }] }, { "x-api-key": `lm_${"x".repeat(32)}` })
  ),
  "post /api/v1/links/bulk-edit 200": Effect.zipRight(
    create({ url, tags: ["edited"] }),
    editMany({ title: "t" })
  ),
  "post /api/v1/links/bulk-edit 400 invalid-request": editMany({}),
  "post /api/v1/links/bulk-edit 400 invalid-url": editMany({ url: "nowhere" }),
  "post /api/v1/links/bulk-edit 401": send({ method: "POST", path: "/api/v1/links/bulk-edit" }),
  "post /api/v1/links/bulk-edit 403": asReader("POST", "/api/v1/links/bulk-edit", {}),
  "post /api/v1/links/bulk-edit 413": editMany({ title: long }),
  "post /api/v1/links/bulk-edit 415": asAdmin("POST", "/api/v1/links/bulk-edit"),
  "post /api/v1/links/bulk-edit 422": Effect.flatMap(TestService, ({ port }) =>
    editMany({ url: `http://localhost:${port}/` })
  ),
  "post /api/v1/links/bulk-edit 503": away(editMany({ title: "t" })),
  "get /api/v1/links/{key} 200": Effect.zipRight(
    create({ url, alias: "seen" }),
    asAdmin("GET", "/api/v1/links/seen")
  ),
  "get /api/v1/links/{key} 401": get("/api/v1/links/seen"),
  "get /api/v1/links/{key} 403": asBlind("GET", "/api/v1/links/seen"),
  "get /api/v1/links/{key} 404": asAdmin("GET", "/api/v1/links/nothing"),
  "get /api/v1/links/{key} 503": away(asAdmin("GET", "/api/v1/links/unseen")),
  "get /api/v1/links 200": Effect.zipRight(
    asAdmin("POST", "/api/v1/links", { url, tags: ["seen"], title: "t" }),
    asAdmin("GET", "/api/v1/links?limit=1")
  ),
  "get /api/v1/links 400": asAdmin("GET", "/api/v1/links?limit=0"),
  "get /api/v1/links 401": get("/api/v1/links"),
  "get /api/v1/links 403": asBlind("GET", "/api/v1/links"),
  "get /api/v1/links 503": away(asAdmin("GET", "/api/v1/links")),
  "patch /api/v1/links/{key} 200": Effect.zipRight(
    create({ url, alias: "patched" }),
    asAdmin("PATCH", "/api/v1/links/patched", { title: "t", expiresAt: null, password: "secret" })
  ),
  "patch /api/v1/links/{key} 400 invalid-request": patch({ alias: "other" }),
  "patch /api/v1/links/{key} 400 invalid-url": patch({ url: "ftp://example.com/" }),
  "patch /api/v1/links/{key} 401": send({ method: "PATCH", path: "/api/v1/links/patched" }),
  "patch /api/v1/links/{key} 403": asReader("PATCH", "/api/v1/links/patched", { title: "t" }),
  "patch /api/v1/links/{key} 404": asAdmin("PATCH", "/api/v1/links/nothing", { title: "t" }),
  "patch /api/v1/links/{key} 413": patch({ url: `${url}${long}` }),
  "patch /api/v1/links/{key} 415": asAdmin("PATCH", "/api/v1/links/patched"),
  "patch /api/v1/links/{key} 422": Effect.flatMap(TestService, ({ port }) =>
    patch({ url: `http://localhost:${port}/` })
  ),
  "patch /api/v1/links/{key} 503": away(patch({ title: "t" })),
  "delete /api/v1/links/{key} 204": Effect.zipRight(
    create({ url, alias: "deleted" }),
    asAdmin("DELETE", "/api/v1/links/deleted")
  ),
  "delete /api/v1/links/{key} 401": send({ method: "DELETE", path: "/api/v1/links/nothing" }),
  "delete /api/v1/links/{key} 403": asReader("DELETE", "/api/v1/links/nothing"),
  "delete /api/v1/links/{key} 404": asAdmin("DELETE", "/api/v1/links/nothing"),
  "delete /api/v1/links/{key} 503": away(asAdmin("DELETE", "/api/v1/links/undeleted")),
  "get /api/v1/links/{key}/qr 200": Effect.zipRight(
    create({ url, alias: "drawn" }),
    asAdmin("GET", "/api/v1/links/drawn/qr")
  ),
  "get /api/v1/links/{key}/qr 304": Effect.zipRight(
    create({ url, alias: "drawn" }),
    send({ path: "/api/v1/links/drawn/qr", headers: { "x-api-key": adminKey, "if-none-match": "*" } })
  ),
  "get /api/v1/links/{key}/qr 400": asAdmin("GET", "/api/v1/links/drawn/qr?size=1"),
  "get /api/v1/links/{key}/qr 401": get("/api/v1/links/drawn/qr"),
  "get /api/v1/links/{key}/qr 403": withScope("links:write", { path: "/api/v1/links/drawn/qr" }),
  "get /api/v1/links/{key}/qr 404": asAdmin("GET", "/api/v1/links/nothing/qr"),
  "get /api/v1/links/{key}/qr 503": away(asAdmin("GET", "/api/v1/links/undrawn/qr")),
  "get /api/v1/links/{key}/stats 200": Effect.zipRight(
    create({ url, alias: "counted" }),
    asAdmin("GET", "/api/v1/links/counted/stats?interval=hour")
  ),
  "get /api/v1/links/{key}/stats 400": asAdmin("GET", "/api/v1/links/counted/stats?from=x"),
  "get /api/v1/links/{key}/stats 401": get("/api/v1/links/counted/stats"),
  "get /api/v1/links/{key}/stats 403": asReader("GET", "/api/v1/links/counted/stats"),
  "get /api/v1/links/{key}/stats 404": asAdmin("GET", "/api/v1/links/nothing/stats"),
  "get /api/v1/links/{key}/stats 429": nth(
    lookupsMax + 1,
    get("/api/v1/links/nothing/stats", { "x-forwarded-for": "198.51.100.7" })
  ),
  "get /api/v1/links/{key}/stats 503": away(asAdmin("GET", "/api/v1/links/uncounted/stats")),
  [`get ${domains}/{host}/stats 200`]: asAdmin("GET", `${domains}/localhost/stats`),
  [`get ${domains}/{host}/stats 400`]: asAdmin("GET", `${domains}/localhost/stats?reason=x`),
  [`get ${domains}/{host}/stats 401`]: get(`${domains}/localhost/stats`),
  [`get ${domains}/{host}/stats 403`]: asReader("GET", `${domains}/localhost/stats`),
  [`get ${domains}/{host}/stats 404`]: asAdmin("GET", `${noDomain}/stats`),
  [`get ${domains}/{host}/stats 503`]: awayFrom("visits", asAdmin("GET", `${domains}/localhost/stats`)),
  "get /api/v1/stats 200": asAdmin("GET", "/api/v1/stats"),
  "get /api/v1/stats 400": asAdmin("GET", "/api/v1/stats?interval=year"),
  "get /api/v1/stats 401": get("/api/v1/stats"),
  "get /api/v1/stats 403": asReader("GET", "/api/v1/stats"),
  "get /api/v1/stats 503": awayFrom("visits", asAdmin("GET", "/api/v1/stats")),
  "post /api/v1/users 201": post("/api/v1/users", newUserBody, admin),
  "post /api/v1/users 202": post("/api/v1/users", newUserBody),
  "post /api/v1/users 400": post("/api/v1/users", {}),
  "post /api/v1/users 401": post("/api/v1/users", newUserBody, { "x-api-key": "wrong" }),
  "post /api/v1/users 403": Effect.flatMap(newSession, ({ headers }) =>
    post("/api/v1/users", newUserBody, { ...headers, ...foreign })
  ),
  "post /api/v1/users 409": nth(2, post("/api/v1/users", newUserBody, admin)),
  "post /api/v1/users 413": post("/api/v1/users", { ...newUserBody, firstName: long }),
  "post /api/v1/users 415": post("/api/v1/users", newUserBody, { "content-type": "text/plain" }),
  "post /api/v1/users 429": nth(
    31,
    post("/api/v1/users", newUserBody, { "x-forwarded-for": "198.51.100.1" })
  ),
  "post /api/v1/users 503": awayFrom("accounts", post("/api/v1/users", newUserBody)),
  "post /api/v1/session 204": Effect.flatMap(newUser(), ({ email }) =>
    post("/api/v1/session", { email, password })
  ),
  "post /api/v1/session 400": post("/api/v1/session", {}),
  "post /api/v1/session 401": post("/api/v1/session", { email: "nobody@example.com", password }),
  "post /api/v1/session 403": post("/api/v1/session", newUserBody, foreign),
  "post /api/v1/session 413": post("/api/v1/session", { email: long, password }),
  "post /api/v1/session 415": post("/api/v1/session", newUserBody, { "content-type": "text/plain" }),
  "post /api/v1/session 429": nth(11, post("/api/v1/session", { email: "often@example.com", password })),
  "post /api/v1/session 503": awayFrom("accounts", post("/api/v1/session", newUserBody)),
  "delete /api/v1/session 204": ask("DELETE", "/api/v1/session"),
  "delete /api/v1/session 403": ask("DELETE", "/api/v1/session", foreign),
  "delete /api/v1/session 503": awayFrom(
    "accounts",
    ask("DELETE", "/api/v1/session", { cookie: "linkmint_session=a" })
  ),
  "get /api/v1/me 200": asAdmin("GET", "/api/v1/me"),
  "get /api/v1/me 200 with quotas": Effect.flatMap(newSession, ({ headers }) =>
    ask("GET", "/api/v1/me", headers)
  ),
  "get /api/v1/me 401": ask("GET", "/api/v1/me"),
  "get /api/v1/me 503": awayFrom("accounts", asAdmin("GET", "/api/v1/me")),
  "get /api/v1/sessions 200": Effect.flatMap(newSession, ({ headers }) =>
    ask("GET", "/api/v1/sessions", headers)
  ),
  "get /api/v1/sessions 401": ask("GET", "/api/v1/sessions"),
  "get /api/v1/sessions 403": withScope("links:read", { path: "/api/v1/sessions" }),
  "get /api/v1/sessions 503": awayFrom("accounts", asAdmin("GET", "/api/v1/sessions")),
  "delete /api/v1/sessions 204": asAdmin("DELETE", "/api/v1/sessions"),
  "delete /api/v1/sessions 401": ask("DELETE", "/api/v1/sessions"),
  "delete /api/v1/sessions 403": withScope("links:read", { method: "DELETE", path: "/api/v1/sessions" }),
  "delete /api/v1/sessions 503": awayFrom("accounts", asAdmin("DELETE", "/api/v1/sessions")),
  "delete /api/v1/sessions/{id} 204": Effect.gen(function* () {
    const { headers } = yield* newSession
    const listed = jsonOf(yield* ask("GET", "/api/v1/sessions", headers)) as { data: [{ id: string }] }
    return yield* ask("DELETE", `/api/v1/sessions/${listed.data[0].id}`, headers)
  }),
  "delete /api/v1/sessions/{id} 401": ask("DELETE", "/api/v1/sessions/nothing"),
  "delete /api/v1/sessions/{id} 403": withScope("links:read", {
    method: "DELETE",
    path: "/api/v1/sessions/nothing"
  }),
  "delete /api/v1/sessions/{id} 404": asAdmin("DELETE", "/api/v1/sessions/nothing"),
  "delete /api/v1/sessions/{id} 503": awayFrom("accounts", asAdmin("DELETE", "/api/v1/sessions/nothing")),
  "put /api/v1/me/password 204": changed(newPasswordBody),
  "put /api/v1/me/password 400": changed({}),
  "put /api/v1/me/password 401": send({ method: "PUT", path: "/api/v1/me/password" }),
  "put /api/v1/me/password 403": asAdmin("PUT", "/api/v1/me/password", newPasswordBody),
  "put /api/v1/me/password 413": changed({ ...newPasswordBody, password: long }),
  "put /api/v1/me/password 415": changed(newPasswordBody, { "content-type": "text/plain" }),
  "put /api/v1/me/password 429": Effect.flatMap(newSession, ({ headers }) =>
    nth(11, change({ ...newPasswordBody, currentPassword: "not it" }, headers))
  ),
  "put /api/v1/me/password 503": Effect.flatMap(newSession, ({ headers }) =>
    awayFrom("accounts", change(newPasswordBody, headers))
  ),
  "post /api/v1/api-keys 201": post("/api/v1/api-keys", newKeyBody, admin),
  "post /api/v1/api-keys 400": post("/api/v1/api-keys", {}, admin),
  "post /api/v1/api-keys 401": post("/api/v1/api-keys", newKeyBody),
  "post /api/v1/api-keys 403": Effect.flatMap(newSession, ({ headers }) =>
    post("/api/v1/api-keys", { ...newKeyBody, scopes: ["admin"] }, headers)
  ),
  "post /api/v1/api-keys 409": Effect.flatMap(newSession, ({ headers }) =>
    nth(101, post("/api/v1/api-keys", newKeyBody, headers))
  ),
  "post /api/v1/api-keys 413": post("/api/v1/api-keys", { ...newKeyBody, name: long }, admin),
  "post /api/v1/api-keys 415": post("/api/v1/api-keys", newKeyBody, {
    ...admin,
    "content-type": "text/plain"
  }),
  "post /api/v1/api-keys 503": awayFrom("accounts", post("/api/v1/api-keys", newKeyBody, admin)),
  "get /api/v1/api-keys 200": asAdmin("GET", "/api/v1/api-keys"),
  "get /api/v1/api-keys 401": ask("GET", "/api/v1/api-keys"),
  "get /api/v1/api-keys 403": withScope("links:read", { path: "/api/v1/api-keys" }),
  "get /api/v1/api-keys 503": awayFrom("accounts", asAdmin("GET", "/api/v1/api-keys")),
  "delete /api/v1/api-keys/{id} 204": Effect.flatMap(newKey(newKeyBody), ({ id }) =>
    asAdmin("DELETE", `/api/v1/api-keys/${id}`)
  ),
  "delete /api/v1/api-keys/{id} 401": ask("DELETE", "/api/v1/api-keys/nothing"),
  "delete /api/v1/api-keys/{id} 403": withScope("links:read", {
    method: "DELETE",
    path: "/api/v1/api-keys/nothing"
  }),
  "delete /api/v1/api-keys/{id} 404": asAdmin("DELETE", "/api/v1/api-keys/nothing"),
  "delete /api/v1/api-keys/{id} 503": awayFrom("accounts", asAdmin("DELETE", "/api/v1/api-keys/nothing")),
  "get /{key} 429": Effect.gen(function* () {
    const { headers } = yield* newSession
    yield* create({ url, alias: "often" }, headers)
    return yield* nth(2, get("/often"))
  }),
  "get /{key} 302": Effect.zipRight(create({ url, alias: "followed" }), get("/followed")),
  "get /{key} 200": Effect.zipRight(create({ url, alias: "seen" }), get("/seen+")),
  "get /{key} 200 page": Effect.zipRight(create({ url, alias: "seen" }), get("/seen+", {})),
  "get /{key} 301": redirected(301),
  "get /{key} 307": redirected(307),
  "get /{key} 308": redirected(308),
  "get /{key} 414": Effect.zipRight(forwarding, get(`/forwarding?${longQuery}`)),
  "get /{key} 414 page": Effect.zipRight(forwarding, get(`/forwarding?${longQuery}`, {})),
  "get /{key} 401": Effect.zipRight(locked, get("/locked")),
  "get /{key} 401 page": Effect.zipRight(locked, get("/locked", {})),
  "post /{key} 401": Effect.zipRight(locked, unlock("/locked", "password=wrong")),
  "post /{key} 303": Effect.zipRight(locked, unlock("/locked")),
  "post /{key} 404": unlock("/nothing"),
  "post /{key} 410": Effect.zipRight(gone, unlock("/gone")),
  "post /{key} 413": Effect.zipRight(forwarding, unlock("/forwarding", `password=${long}`)),
  "post /{key} 414": Effect.zipRight(forwarding, unlock(`/forwarding?${longQuery}`)),
  "post /{key} 415": Effect.zipRight(forwarding, send({ method: "POST", path: "/forwarding", body: "{}" })),
  "post /{key} 503": away(unlock("/unseen")),
  "post /{key} 429": Effect.gen(function* () {
    const { headers } = yield* newSession
    yield* create({ url, alias: "unlocked" }, headers)
    return yield* nth(2, unlock("/unlocked"))
  }),
  "get /{key} 404 problem": get("/nothing"),
  "get /{key} 404 page": get("/nothing", {}),
  "get /{key} 410 problem": Effect.zipRight(gone, get("/gone")),
  "get /{key} 410 page": Effect.zipRight(gone, get("/gone", {})),
  "get /{key} 503": away(get("/unfollowed")),
  // Before the other, whose answer is kept for a while.
  "get /robots.txt 503": away(get("/robots.txt")),
  "get /robots.txt 200": get("/robots.txt"),
  "get /health/live 200": get("/health/live"),
  "get /health/ready 200": get("/health/ready"),
  "get /health/ready 503": Effect.flatMap(TestService, ({ setFault }) =>
    setFault("ranges", "fails").pipe(
      Effect.zipRight(Effect.repeat(get("/health/ready"), { until: ({ status }) => status === 503 })),
      Effect.ensuring(setFault("ranges", "none"))
    )
  ),
  "get /metrics 200": asAdmin("GET", "/metrics"),
  "get /metrics 401": get("/metrics"),
  "get /metrics 403": withScope("stats:read", { path: "/metrics" }),
  "get /metrics 503": awayFrom("accounts", withKey(`lm_${"x".repeat(32)}`, "GET", "/metrics"))
}

const options = {
  signUp: true,
  metricsToken: "the-token-of-tests",
  trustedProxies: "127.0.0.1",
  quotas: { redirectsPerDay: 1, failedLookupsPerMinute: lookupsMax }
}

withService("the document's schemas", options, (it) => {
  for (const [what, sent] of Object.entries(answers)) {
    const [method, path, status] = what.split(" ") as [string, string, string]
    it.effect(`fit the running answer: ${what}`, () =>
      Effect.gen(function* () {
        const made = yield* document
        const answer = yield* sent
        expect(String(answer.status)).toBe(status)
        expect(faultsOfAnswer(made, made.paths[path]![method]!, answer)).toEqual([])
      })
    )
  }

  it.effect(
    "have an example in the requests above for each answer listed, but 500 and what any request can be answered",
    () =>
      Effect.map(document, (made) => {
        const tried = new Set(Object.keys(answers).map((what) => what.split(" ").slice(0, 3).join(" ")))
        const listed = operationsOf(made).flatMap(({ method, operation, path }) =>
          Object.keys(operation.responses).map((status) => `${method} ${path} ${status}`)
        )
        const untried = listed.filter((name) => !tried.has(name) && !/ (400|408|431|500)$/.test(name))
        expect(untried).toEqual(["get /health/certificate 503", "get /health/live 503"])
      })
  )

  it.effect("let through the bodies that the service lets through, and no unknown field", () =>
    Effect.map(document, (made) => {
      const schema = made.paths["/api/v1/links"]!["post"]!.requestBody!.content["application/json"]!.schema
      const faults = (body: object) => validating(made)(schema, body)
      expect(faults({ url })).toEqual([])
      expect(faults({ url, alias: "abc", expiresAt: "2027-01-01T00:00:00Z" })).toEqual([])
      expect(faults({})).toEqual(["$ must have required property 'url'"])
      expect(faults({ url, colour: [] })).toEqual(["$ must NOT have additional properties"])
      expect(faults({ url, alias: "a".repeat(65) })).toEqual([
        "$/alias must NOT have more than 64 characters"
      ])
    })
  )
})
