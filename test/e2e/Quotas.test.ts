import { expect, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Answer } from "../support/http/HttpClient.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { describeRedis } from "../support/services/redis/Redis.ts"
import { asAdmin, type ClusterNode, type JsonRequest, threeNodes } from "./ClusterNodes.ts"

/** Redirects a day, and creates a minute. */
const quota = 300

type Ask = (request: JsonRequest) => Effect.Effect<Answer>

const asking =
  ({ send }: ClusterNode): Ask =>
  (request) =>
    Effect.orDie(send(request))

/** Three nodes of a cluster: ways to ask each, and all that they printed. */
class Nodes extends Context.Tag("test/e2e/QuotaNodes")<
  Nodes,
  { readonly asks: readonly [Ask, Ask, Ask]; readonly output: () => string }
>() {
  static readonly layer = Layer.scoped(
    Nodes,
    Effect.map(
      threeNodes({ REDIRECTS_PER_DAY: String(quota), CREATES_PER_MINUTE: String(quota) }),
      (nodes) => {
        const [first, second, third] = nodes
        return {
          asks: [asking(first), asking(second), asking(third)] as const,
          output: () => nodes.map(({ output }) => output()).join("\n")
        }
      }
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

/**
 * Sends the same to every node at once, again and again until none of them allows it three times in a row: how often they did. On a slow machine so much of a quota may
 * come back between two rounds that each allows some: then until it is used twice.
 */
const drain = (nodes: ReadonlyArray<Ask>, request: Parameters<Ask>[0], status: number) =>
  Effect.gen(function* () {
    let allowed = 0
    for (let refusals = 0; refusals < 3 && allowed < 2 * quota;) {
      const answers = yield* Effect.forEach(nodes, (ask) => ask(request), { concurrency: "unbounded" })
      for (const answer of answers) expect([status, 429]).toContain(answer.status)
      const now = answers.filter((answer) => answer.status === status).length
      allowed += now
      refusals = now === 0 ? refusals + 1 : 0
    }
    return allowed
  })

/** What can keep nodes from sharing a quota, though all is well with them: a store that was too late for one of them, as it says, or the end of the day. */
const disturbances = ({ output }: typeof Nodes.Service) =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    unshared: output().match(/Quotas are not shared between nodes/g)?.length ?? 0,
    day: Math.floor(now / 86_400_000)
  }))

/** Does something with a number, and again with others, three times at most, until nothing kept the nodes from sharing quotas meanwhile. */
const undisturbed = <A>(nodes: typeof Nodes.Service, attempt: (number: number) => Effect.Effect<A>) =>
  Effect.gen(function* () {
    for (let number = 1; number <= 3; number++) {
      const before = yield* disturbances(nodes)
      const result = yield* attempt(number)
      if (isDeepStrictEqual(yield* disturbances(nodes), before)) return result
    }
    return yield* Effect.dieMessage(`The nodes did not share quotas: ${nodes.output()}`)
  })

describeRedis("with Redis,", () =>
  describePostgres("three nodes", () =>
    layer(Nodes.layer, { excludeTestServices: true, timeout: 120_000 })((it) => {
      it.effect(
        "hold an owner's quotas together, within 5 % under even load",
        () =>
          Effect.gen(function* () {
            const nodes = yield* Nodes
            const { asks } = nodes
            const json = { url: "https://example.com/" }
            const redirects = yield* undisturbed(nodes, (number) =>
              Effect.gen(function* () {
                const { headers } = yield* userKey(asks[0], `ada-${number}@example.com`)
                const created = yield* asks[1]({ path: "/api/v1/links", headers, json })
                return yield* drain(asks, { path: `/${field(created, "key")}` }, 302)
              })
            )
            expect(redirects).toBeLessThanOrEqual(quota)
            expect(redirects).toBeGreaterThanOrEqual(quota * 0.95)

            const { begun, creates, ended } = yield* undisturbed(nodes, (number) =>
              Effect.gen(function* () {
                const { headers } = yield* userKey(asks[0], `eve-${number}@example.com`)
                const begun = yield* Clock.currentTimeMillis
                const created = yield* asks[1]({ path: "/api/v1/links", headers, json })
                expect(created.headers).toMatchObject({ "ratelimit-limit": String(quota) })
                const creates = 1 + (yield* drain(asks, { path: "/api/v1/links", headers, json }, 201))
                return { begun, creates, ended: yield* Clock.currentTimeMillis }
              })
            )
            const flowedIn = ((ended - begun) / 60_000) * quota
            expect(creates).toBeLessThanOrEqual((quota + flowedIn) * 1.05)
            expect(creates).toBeGreaterThanOrEqual(quota * 0.95)
          }),
        240_000
      )

      it.effect(
        "all refuse a key within a second after one of them revoked it",
        () =>
          Effect.gen(function* () {
            const { asks: nodes } = yield* Nodes
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
