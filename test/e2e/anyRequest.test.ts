// Requests that are made of the service's OpenAPI document, in their thousands, to the running program.

import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { type AnyRequest, anyRequest, type Headers, type Supply } from "../http/anyRequest.ts"
import { agent, type Answer, jsonOf, type Request, send } from "../http/client.ts"
import { freePort } from "../http/freePort.ts"
import { type Document, documentOf, faultsOfAnswer, type Operation, operationsOf } from "../http/openApi.ts"
import { describePostgres, freshDatabase } from "../services/Postgres.ts"
import { forAll } from "../storage/property.ts"
import { dataFolder, start, type Variables } from "./Program.ts"

/** The same requests each time, unless `TEST_SEED` says otherwise. */
const seed = Number(process.env["TEST_SEED"] ?? 1)

const ADMIN_API_KEY = "lm_the-administrator-of-tests"
const asAdmin = { "x-api-key": ADMIN_API_KEY }
const email = "ada@example.com"
const password = "correct horse battery staple"
const url = "https://example.com/"

/** Of a list of links, as a page of it says. */
const cursor = Buffer.from(JSON.stringify(["createdAt-desc", 1, "a"])).toString("base64url")

type Ask = (request: Request) => Effect.Effect<Answer>

/** Every answer comes within 5 s, says the contract; the rest is for a busy machine. */
const answerMax = Duration.seconds(15)

const post = (ask: Ask, path: string, body: unknown, headers: Headers = asAdmin) =>
  ask({
    method: "POST",
    path,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body)
  })

const fieldOf = (answer: Answer, name: string) =>
  String((jsonOf(answer) as Readonly<Record<string, unknown>>)[name])

/** Links of every kind, a user with a session, API keys and webhooks: what random requests find, and who makes them. */
const furnish = Effect.fnUntraced(function* (ask: Ask) {
  const links = [
    // Many, since they are deleted as well.
    ...Array.from({ length: 30 }, (_, n) => ({
      alias: `plain-${n}`,
      crawlable: true,
      tags: ["seen"],
      title: "A title"
    })),
    { alias: "locked", password },
    { alias: "ended", expiresIn: "PT0.001S" },
    { alias: "unborn", validSince: "2900-01-01T00:00:00Z" },
    { alias: "thrice", maxVisits: 3 },
    { alias: "forwards", forwardQuery: true },
    { alias: "moved", redirectStatus: 301 }
  ]
  for (const link of links) expect((yield* post(ask, "/api/v1/links", { url, ...link })).status).toBe(201)
  const untaken = Array.from({ length: 20 }, (_, n) => `untaken-${n}`)
  expect((yield* post(ask, "/api/v1/users", { email, password })).status).toBe(201)
  const session = yield* post(ask, "/api/v1/session", { email, password }, {})
  const cookie = session.headers["set-cookie"]![0]!.split(";")[0]!

  const keyWith = (scopes: ReadonlyArray<string>, headers?: Headers) =>
    post(ask, "/api/v1/api-keys", { name: "a key", scopes }, headers)
  const hook = { url: "https://hooks.invalid/", events: ["link.created"] }
  const spare = Array.from({ length: 20 }, () => keyWith(["links:read"]))
  const keys = yield* Effect.all(spare)
  const webhooks = yield* Effect.all(Array.from({ length: 8 }, () => post(ask, "/api/v1/webhooks", hook)))
  const [own, reader] = [
    yield* keyWith(["links:read", "links:write", "stats:read"], { cookie }),
    yield* keyWith(["links:read"], { cookie })
  ]
  const callers: ReadonlyArray<Headers> = [
    asAdmin,
    asAdmin,
    asAdmin,
    { authorization: `Bearer ${ADMIN_API_KEY}` },
    { "x-api-key": fieldOf(own, "secret") },
    { "x-api-key": fieldOf(reader, "secret") },
    { cookie },
    { "x-api-key": "lm_nobody's" },
    {}
  ]
  const known = {
    key: [...links.map(({ alias }) => alias), untaken[0]!, "plain-0+", "locked+"],
    alias: [...untaken, "plain-0"],
    id: [...keys, ...webhooks, ...webhooks].map((answer) => fieldOf(answer, "id")),
    email: [email],
    password: [password],
    url: [
      url,
      "https://hooks.invalid/b",
      "https://example.com/c?d=e#f",
      "http://127.0.0.1/",
      "http://example.com:99999/"
    ],
    cursor: [cursor],
    from: ["2026-01-01T00:00:00Z"],
    to: ["2026-01-31T00:00:00Z"],
    expiresAt: ["2900-01-01T00:00:00Z"],
    "idempotency-key": ["once", "twice"]
  }
  return { callers, known } satisfies Supply
})

/** What went wrong once: text that PostgreSQL refuses. */
const onceWrong: ReadonlyArray<AnyRequest> = [
  {
    operationId: "apiKeys.revokeKey",
    request: { method: "DELETE", path: "/api/v1/api-keys/%00", headers: asAdmin }
  },
  {
    operationId: "accounts.logIn",
    request: {
      method: "POST",
      path: "/api/v1/session",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "a\u0000b", password })
    }
  }
]

/** Asked before random requests have deleted all webhooks, of which there can be few. */
const deadLettersOf = (webhook: string): AnyRequest => ({
  operationId: "webhooks.listDeadLetters",
  request: { method: "GET", path: `/api/v1/webhooks/${webhook}/dead-letters`, headers: asAdmin }
})

/** What is wrong with an answer. The service is well, so that it has no reason to say that it is not. */
const faultsOf = (document: Document, operation: Operation, answer: Answer) => [
  ...faultsOfAnswer(document, operation, answer),
  ...(answer.status === 500 || answer.status === 503 ? ["it says that the service is at fault"] : []),
  ...(answer.headers["x-request-id"] === undefined ? ["it has no X-Request-Id"] : [])
]

/** Sends so many requests to a service of these settings, and gives the statuses of each operation's answers. */
const holds = (variables: Variables, numRuns: number) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const shared = { HOST: "127.0.0.1", SIGN_UP: "open", ANONYMOUS_CREATES: "true", ADMIN_API_KEY }
    const program = yield* start({ ...shared, ...variables, PORT: String(port) })
    const connections = yield* agent()
    const ask: Ask = (request) =>
      send(connections, port, request).pipe(
        Effect.timeoutFail({
          duration: answerMax,
          onTimeout: () => new Error("there was no answer in time")
        }),
        Effect.orDie
      )

    const document = documentOf(yield* ask({ path: "/openapi.json" }))
    const operations = new Map(
      operationsOf(document).map(({ operation }) => [operation.operationId, operation])
    )
    const seen = new Map([...operations.keys()].map((id) => [id, new Set<number>()]))
    const supply = yield* furnish(ask)
    const examples = [...onceWrong, deadLettersOf(supply.known.id.at(-1)!)]
    yield* forAll(
      anyRequest(document, supply),
      ({ operationId, request }) =>
        Effect.map(ask(request), (answer) => {
          expect(faultsOf(document, operations.get(operationId)!, answer), answer.text).toEqual([])
          seen.get(operationId)!.add(answer.status)
        }),
      { numRuns, seed, endOnFailure: true, examples: examples.map((example) => [example]) }
    )
    expect(program.output()).not.toContain("A request broke")
    expect((yield* ask({ path: "/health/ready" })).status).toBe(200)
    return seen
  })

describe(`whatever is sent to any operation (seed ${seed}),`, () => {
  it.scopedLive(
    "the answer is one that the contract lists, and no fault of the service",
    () =>
      Effect.gen(function* () {
        const seen = yield* holds({ DATA_DIR: yield* dataFolder }, 2_000)
        // Among the requests were good ones to every operation. There is no dead letter before a day is over.
        const refused = [...seen].filter(([, statuses]) => [...statuses].every((status) => status >= 400))
        expect(refused.map(([id]) => id)).toEqual(["webhooks.retryDeadLetter"])
      }),
    240_000
  )
})

describePostgres(`on PostgreSQL, whatever is sent to any operation (seed ${seed}),`, () => {
  it.scopedLive(
    "the answer is one that the contract lists, and no fault of the service",
    () => Effect.flatMap(freshDatabase, (DATABASE_URL) => holds({ DATABASE_URL }, 1_000)),
    240_000
  )
})
