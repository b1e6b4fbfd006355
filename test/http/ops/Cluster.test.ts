import { expect, it as plainIt } from "@effect/vitest"
import { Effect, Schedule, Schema, Scope } from "effect"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { describe } from "vitest"
import { ClusterBody } from "../../../src/http/contract/ClusterApi.ts"
import { streamsMax } from "../../../src/http/ops/ClusterRoutes.ts"
import { version } from "../../../src/model/Version.ts"
import { newKey, newUser, signIn } from "../../support/samples/Account.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  adminKey,
  asAdmin,
  create,
  get,
  layer,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const events = "/api/v1/cluster/events"
const asTheAdmin = { "x-api-key": adminKey }

const decodeEvent = (text: string) => {
  const [, data] = /^data: (.*)\n\n/m.exec(text) ?? []
  return Schema.decodeUnknownSync(ClusterBody, { onExcessProperty: "error" })(JSON.parse(data!))
}

/** A stream that stays open: what came of it, and when it ends. */
const openStream = (port: number, headers: Record<string, string> = asTheAdmin) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const outgoing = httpRequest({ host: "127.0.0.1", port, path: events, headers, agent: false })
      outgoing.on("error", () => {})
      outgoing.end()
      const response = await new Promise<IncomingMessage>((resolve) => outgoing.once("response", resolve))
      const state = { status: response.statusCode!, text: "", close: () => void outgoing.destroy() }
      response.setEncoding("utf8").on("data", (text: string) => (state.text += text))
      response.on("error", () => {})
      const ended = new Promise<void>((resolve) => response.once("close", resolve))
      /** Gives whether it came to its proper end. */
      const end = Effect.map(
        Effect.promise(() => ended),
        () => response.complete
      )
      return { ...state, text: () => state.text, end }
    }),
    ({ close }) => Effect.sync(close)
  )

/** Time goes on for who looks at the clock. */
const seconds = (count: number) =>
  Effect.flatMap(TestService, ({ clock }) =>
    Effect.sync(() => clock.set(clock.unsafeCurrentTimeMillis() + 1_000 * count))
  )

const newAdmin = Effect.tap(newUser(), ({ id }) =>
  Effect.map(asAdmin("PATCH", `/api/v1/users/${id}`, { admin: true }), ({ status }) =>
    expect(status).toBe(200)
  )
)

withService("the cluster's picture", {}, (it) => {
  it.effect("is shown to administrators alone", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v1/cluster", events]) {
        expectProblem(yield* get(path), "unauthorized")
        expectProblem(yield* withKey(userKeys.one, "GET", path), "forbidden")
        expect((yield* asAdmin("GET", path)).status).toBe(200)
      }
    })
  )

  it.effect("begins with the state of now, as the contract has it", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/" })
      yield* asAdmin("GET", "/api/v1/cluster").pipe(
        Effect.zipLeft(seconds(1)),
        Effect.repeat({
          until: (answer) => (jsonOf(answer) as ClusterBody).nodes?.[0]?.bufferedKeys !== 0,
          schedule: Schedule.spaced("20 millis")
        })
      )
      const { headers, text } = yield* asAdmin("GET", events)
      expect(headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" })
      expect(text).toMatch(/^retry: 1000\n\n/)
      const body = decodeEvent(text)
      expect(body.nodes).toMatchObject([{ id: "the-only-node", state: "up", role: "all", version }])
      expect(body.nodes?.[0]?.bufferedKeys).toBeGreaterThan(0)
      expect(body.actors).toHaveLength(16 + 1 + 32)
      expect(new Set(body.actors?.map(({ node }) => node))).toEqual(new Set(["the-only-node"]))
      expect(body.pools).toMatchObject([{ shard: 0, low: 100, high: 500 }])
      expect(body.ranges?.reduce((sum, { minted }) => sum + minted, 0)).toBeGreaterThan(0)
      expect(body.forecast).toMatchObject({ length: 7, total: 62 ** 7 })
      const once = jsonOf(yield* asAdmin("GET", "/api/v1/cluster")) as ClusterBody
      expect(once.ledger ?? once.ledgerNote).toBeTruthy()
    })
  )

  it.scoped("goes on, second by second", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      const stream = yield* openStream(port)
      const moments = () => new Set([...stream.text().matchAll(/"at":"([^"]+)"/g)].map(([, at]) => at!))
      yield* seconds(1).pipe(Effect.delay("20 millis"), Effect.repeat({ until: () => moments().size >= 3 }))
    })
  )

  it.scoped("has a bound on those who watch a node, and room again when one goes", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      const opened = yield* Effect.forEach(Array.from({ length: streamsMax }), () => openStream(port))
      expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: streamsMax }, () => 200))
      const refused = yield* asAdmin("GET", events)
      expectProblem(refused, "too-many-streams")
      expect(refused.headers["retry-after"]).toBe("1")
      opened[0]!.close()
      yield* asAdmin("GET", events).pipe(Effect.repeat({ until: ({ status }) => status === 200 }))
    })
  )

  it.scoped("is no use of a session, and ends with one that is not used otherwise", () =>
    Effect.gen(function* () {
      const { accounts, port } = yield* TestService
      const { email, id } = yield* newAdmin
      const stream = yield* openStream(port, yield* signIn(email))
      expect(stream.status).toBe(200)
      const [begun] = yield* accounts.sessionsOf(id)
      const events = () => stream.text().split("\ndata: ").length
      yield* seconds(3_600)
      const before = events()
      // The second of them was asked for after that hour.
      yield* Effect.void.pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: () => events() >= before + 2 })
      )
      expect(yield* accounts.sessionsOf(id)).toEqual([begun])
      yield* seconds(86_400)
      yield* Effect.race(stream.end, Effect.forever(Effect.delay(seconds(1), "20 millis")))
      expect(yield* stream.end).toBe(true)
    })
  )

  it.scoped("ends with the account of its session", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      const { email, id } = yield* newAdmin
      const stream = yield* openStream(port, yield* signIn(email))
      expect(stream.status).toBe(200)
      expect((yield* asAdmin("DELETE", `/api/v1/users/${id}`)).status).toBe(204)
      yield* Effect.race(stream.end, Effect.forever(Effect.delay(seconds(1), "20 millis")))
      expect(yield* stream.end).toBe(true)
    })
  )

  it.scoped("ends for a caller whose key was revoked", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      const { headers, id } = yield* newKey({ scopes: ["admin"] })
      const stream = yield* openStream(port, headers as Record<string, string>)
      expect(stream.status).toBe(200)
      expect((yield* asAdmin("DELETE", `/api/v1/api-keys/${id}`)).status).toBe(204)
      yield* Effect.race(stream.end, Effect.forever(Effect.delay(seconds(1), "20 millis")))
      expect(yield* stream.end).toBe(true)
    })
  )
})

describe("a stream of events", () => {
  plainIt.scopedLive("ends when its service stops, without holding it up", () =>
    Effect.gen(function* () {
      const client = yield* Effect.scope
      const stream = yield* Effect.flatMap(TestService, ({ port }) =>
        Scope.extend(openStream(port), client)
      ).pipe(Effect.provide(layer()))
      // Whoever is still there after five seconds is cut off.
      expect(yield* stream.end).toBe(true)
      expect(stream.text()).toMatch(/data: .*\n\n$/)
    })
  )
})
