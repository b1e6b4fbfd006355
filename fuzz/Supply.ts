// What requests find: links of every kind, users of every role with sessions and API keys, and webhooks.

import { Effect } from "effect"
import type { Agent } from "node:http"
import { type Answer, jsonOf, type NoAnswer, send } from "../test/support/http/HttpClient.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Headers, Supply } from "./Requests.ts"

const url = "https://example.com/"

/** Long, and of no list of passwords that people use. */
const password = "seven paper lanterns, fuzzed at dawn"

/** Of a list of links, as a page of it says. */
const cursor = Buffer.from(JSON.stringify(["createdAt-desc", 1, "a"])).toString("base64url")

/** Where to make it, and by whom. */
export interface FurnishOptions {
  readonly agent: Agent
  readonly port: number
  readonly adminKey: string
  /** What is made for another batch has other names. */
  readonly batch: number
}

/**
 * Makes what the requests of a batch find. Batches are alike but for their names: a seed draws the same requests for each, by the places of what they are about.
 */
export const furnish = Effect.fn("furnish")(function* ({ adminKey, agent, batch, port }: FurnishOptions) {
  const asAdmin = { "x-api-key": adminKey }
  const post = (
    path: string,
    body: unknown,
    headers: Headers = asAdmin
  ): Effect.Effect<Answer, NoAnswer | Unavailable> =>
    send(agent, port, {
      method: "POST",
      path,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body)
    }).pipe(
      Effect.filterOrFail(
        ({ status }) => status < 300,
        ({ status, text }) => new Unavailable({ reason: `POST ${path} is answered ${status}: ${text}` })
      )
    )
  const fieldOf = (answer: Answer, name: string) =>
    String((jsonOf(answer) as Readonly<Record<string, unknown>>)[name])

  const own = (name: string) => `b${batch}-${name}`
  const links = [
    // Many, since they are deleted as well.
    ...Array.from({ length: 30 }, (_, n) => ({
      alias: own(`plain-${n}`),
      crawlable: true,
      tags: ["seen"],
      title: "A title"
    })),
    { alias: own("locked"), password },
    { alias: own("ended"), expiresIn: "PT0.001S" },
    { alias: own("unborn"), validSince: "2900-01-01T00:00:00Z" },
    { alias: own("thrice"), maxVisits: 3 },
    { alias: own("forwards"), forwardQuery: true },
    { alias: own("moved"), redirectStatus: 301 }
  ]
  for (const link of links) yield* post("/api/v1/links", { url, ...link })
  const untaken = Array.from({ length: 20 }, (_, n) => own(`untaken-${n}`))

  const email = `${own("ada")}@example.com`
  yield* post("/api/v1/users", { email, password })
  const others = yield* Effect.forEach(["eve", "zoe"], (name) =>
    post("/api/v1/users", { email: `${own(name)}@example.com`, password })
  )
  const session = yield* post("/api/v1/session", { email, password }, {})
  const cookie = session.headers["set-cookie"]![0]!.split(";")[0]!
  const keyWith = (scopes: ReadonlyArray<string>) =>
    post("/api/v1/api-keys", { name: "a key", scopes }, { cookie })
  const full = fieldOf(yield* keyWith(["links:read", "links:write", "stats:read"]), "secret")
  const reader = fieldOf(yield* keyWith(["links:read"]), "secret")
  const keys = yield* Effect.replicateEffect(keyWith(["links:read"]), 10)
  const hook = { url: "https://hooks.invalid/", events: ["link.created"] }
  const webhooks = yield* Effect.replicateEffect(post("/api/v1/webhooks", hook, { "x-api-key": full }), 8)

  // Nobody can verify them here: links are created in the default domain alone.
  const domains = Array.from({ length: 6 }, (_, n) => `${own(String(n))}.example`)
  for (const host of domains) yield* post("/api/v1/domains", { host })

  const callers: ReadonlyArray<Headers> = [
    // Who may do most, most of the time.
    ...Array.from({ length: 7 }, () => asAdmin),
    { authorization: `Bearer ${adminKey}` },
    { "x-api-key": full },
    { "x-api-key": full },
    { "x-api-key": reader },
    { cookie },
    { cookie },
    { "x-api-key": "lm_nobody's" },
    {}
  ]
  const known = {
    key: [...links.map(({ alias }) => alias), untaken[0]!, own("plain-0+"), own("locked+")],
    alias: [...untaken, own("plain-0")],
    id: [...keys, ...webhooks, ...webhooks, ...others, ...others, ...others].map((answer) =>
      fieldOf(answer, "id")
    ),
    email: [email, `${own("new")}@example.com`],
    password: [password],
    url: [
      url,
      "https://hooks.invalid/b",
      "https://example.com/c?d=e#f",
      "http://127.0.0.1/",
      "http://example.com:99999/"
    ],
    domain: ["localhost", "localhost", "localhost", domains[0]!],
    host: domains,
    createdAt: ["2021-01-01T00:00:00Z"],
    updatedAt: ["2022-01-01T00:00:00Z"],
    cursor: [cursor],
    from: ["2026-01-01T00:00:00Z"],
    to: ["2026-01-31T00:00:00Z"],
    expiresAt: ["2900-01-01T00:00:00Z"],
    "idempotency-key": ["once", "twice"].map(own)
  }
  return { callers, known } satisfies Supply
})
