import { expect, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import type { Answer } from "../support/HttpClient.ts"
import { describePostgres } from "../support/services/Postgres.ts"
import { describeRedis } from "../support/services/Redis.ts"
import { asAdmin, type ClusterNode, type JsonRequest, threeNodes } from "./ClusterNodes.ts"

type Ask = (request: JsonRequest) => Effect.Effect<Answer>

const asking =
  ({ send }: ClusterNode): Ask =>
  (request) =>
    Effect.orDie(send(request))

/** Three nodes of a cluster, as ways to ask each. */
class Nodes extends Context.Tag("test/e2e/QuotaNodes")<Nodes, readonly [Ask, Ask, Ask]>() {
  static readonly layer = Layer.scoped(
    Nodes,
    Effect.map(
      threeNodes({ REDIRECTS_PER_DAY: "300", CREATES_PER_MINUTE: "300" }),
      ([first, second, third]) => [asking(first), asking(second), asking(third)] as const
    )
  )
}

const field = (answer: Answer, name: string) =>
  String((JSON.parse(answer.text) as Record<string, unknown>)[name])

/** The API key of a user with this address, made as its user. */
const userKey = (ask: Ask, email: string) =>
  Effect.gen(function* () {
    const login = { email, password: "correct horse battery staple" }
    expect((yield* ask({ path: "/api/v1/users", headers: asAdmin, json: login })).status).toBe(201)
    const signedIn = yield* ask({ path: "/api/v1/session", json: login })
    const cookie = signedIn.headers["set-cookie"]![0]!.split(";")[0]!
    const json = { name: "a key", scopes: ["links:read", "links:write"] }
    const made = yield* ask({ path: "/api/v1/api-keys", headers: { cookie }, json })
    expect(made.status).toBe(201)
    return { id: field(made, "id"), cookie, headers: { "x-api-key": field(made, "secret") } }
  })

/** Sends the same to every node at once, again and again until none of them allows it three times: how often they did. */
const drain = (nodes: ReadonlyArray<Ask>, request: Parameters<Ask>[0], status: number) =>
  Effect.gen(function* () {
    let allowed = 0
    for (let refusals = 0; refusals < 3;) {
      const answers = yield* Effect.forEach(nodes, (ask) => ask(request), { concurrency: "unbounded" })
      for (const answer of answers) expect([status, 429]).toContain(answer.status)
      const now = answers.filter((answer) => answer.status === status).length
      allowed += now
      refusals = now === 0 ? refusals + 1 : 0
    }
    return allowed
  })

describeRedis("with Redis,", () =>
  describePostgres("three nodes", () =>
    layer(Nodes.layer, { excludeTestServices: true, timeout: 120_000 })((it) => {
      it.effect(
        "hold an owner's quotas together, within 5 % under even load",
        () =>
          Effect.gen(function* () {
            const nodes = yield* Nodes
            const { headers } = yield* userKey(nodes[0], "ada@example.com")
            const json = { url: "https://example.com/" }
            const begun = yield* Clock.currentTimeMillis
            const created = yield* nodes[1]({ path: "/api/v1/links", headers, json })
            expect(created.headers).toMatchObject({ "ratelimit-limit": "300" })

            const redirects = yield* drain(nodes, { path: `/${field(created, "key")}` }, 302)
            expect(redirects).toBeLessThanOrEqual(300)
            expect(redirects).toBeGreaterThanOrEqual(300 * 0.95)

            const creates = 1 + (yield* drain(nodes, { path: "/api/v1/links", headers, json }, 201))
            const flowedIn = (((yield* Clock.currentTimeMillis) - begun) / 60_000) * 300
            expect(creates).toBeLessThanOrEqual((300 + flowedIn) * 1.05)
            expect(creates).toBeGreaterThanOrEqual(300 * 0.95)
          }),
        240_000
      )

      it.effect(
        "all refuse a key within a second after one of them revoked it",
        () =>
          Effect.gen(function* () {
            const nodes = yield* Nodes
            const { cookie, headers, id } = yield* userKey(nodes[0], "bea@example.com")
            const use = (ask: Ask) => ask({ path: "/api/v1/links/nothing", headers })
            for (const ask of nodes) expect((yield* use(ask)).status).toBe(404)
            const revoked = yield* nodes[0]({
              method: "DELETE",
              path: `/api/v1/api-keys/${id}`,
              headers: { cookie }
            })
            expect(revoked.status).toBe(204)
            const since = yield* Clock.currentTimeMillis
            const lastAccepted = yield* Effect.forEach(
              nodes,
              (ask) =>
                Effect.gen(function* () {
                  let accepted = since
                  for (;;) {
                    const asked = yield* Clock.currentTimeMillis
                    const { status } = yield* use(ask)
                    if (status === 401) return accepted - since
                    expect(status).toBe(404)
                    accepted = asked
                  }
                }),
              { concurrency: "unbounded" }
            )
            for (const after_ms of lastAccepted) expect(after_ms).toBeLessThan(1_000)
            for (const ask of nodes) expect((yield* use(ask)).status).toBe(401)
          }),
        240_000
      )
    })
  )
)
