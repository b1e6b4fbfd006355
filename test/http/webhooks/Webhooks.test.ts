import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Secret from "../../../src/secrets/Secret.ts"
import { adminKeyIdOf, webhooksMax } from "../../../src/model/Webhook.ts"
import { claimOf, prove } from "../../support/samples/SomeWebhooks.ts"
import { ask, asAdmin as admin, newKey, newSession, post } from "../../support/samples/Account.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  adminKey,
  asAdmin,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

interface Webhook {
  readonly id: string
  readonly secret: string
}

const path = "/api/v1/webhooks"
const url = "https://hooks.example/path?query"

const add = (key: string, body: unknown) => withKey(key, "POST", path, body)

/** Makes a webhook of a user's, and gives it. */
const unverified = (key: string, events: ReadonlyArray<string> = ["link.created"]) =>
  Effect.map(add(key, { url, events }), (answer) => {
    expect(answer.status).toBe(201)
    return jsonOf(answer) as Webhook
  })

/** The same, and has its receiver prove itself. */
const made = (key: string, events?: ReadonlyArray<string>) =>
  Effect.tap(unverified(key, events), ({ id }) =>
    Effect.flatMap(TestService, ({ webhooks }) => prove(webhooks, id))
  )

const listOf = (key: string) =>
  Effect.map(withKey(key, "GET", path), (answer) => (jsonOf(answer) as { data: ReadonlyArray<Webhook> }).data)

/** Lets a user's messages die: gives their ids. */
const died = (owner: string, count: number) =>
  Effect.gen(function* () {
    const { webhooks } = yield* TestService
    const ids = Array.from({ length: count }, (_, index) => `msg_${index}`)
    yield* webhooks.offer(ids.map((id) => ({ id, owner, event: "link.created", body: "{}" })))
    const claimed = yield* webhooks.claim(claimOf())
    const failure = { reason: "It answered 500.", retryIn_ms: null, pause_ms: 0 }
    yield* Effect.forEach(claimed, (delivery) => webhooks.failed(delivery, failure))
    return ids
  })

withService("POST /api/v1/webhooks", {}, (it) => {
  it.effect("makes a webhook, and shows its secret this once", () =>
    Effect.gen(function* () {
      const answer = yield* add(userKeys.one, {
        url,
        events: ["link.deleted", "link.created", "link.deleted"]
      })
      expect(answer.status).toBe(201)
      expect(answer.headers["cache-control"]).toBe("no-store")
      const webhook = jsonOf(answer) as Webhook
      const { secret, ...shown } = webhook
      expect(webhook).toEqual({
        id: expect.stringMatching(/^whk_[0-9a-f]{24}$/),
        url,
        events: ["link.deleted", "link.created"],
        createdAt: "2026-11-21T10:00:00.000Z",
        status: "unverified",
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        pending: 0,
        deadLetters: 0,
        dropped: 0,
        failures: 0,
        lastFailure: null
      })
      expect(startOfTests_ms).toBe(Date.parse("2026-11-21T10:00:00.000Z"))
      expect(yield* listOf(userKeys.one)).toEqual([shown])
      const { webhooks } = yield* TestService
      expect(yield* webhooks.find(webhook.id)).toMatchObject({ owner: "usr_one", secret })
    })
  )

  it.effect("stores a URL as links' targets are stored", () =>
    Effect.gen(function* () {
      const answer = yield* add(userKeys.other, { url: "HTTPS://Hooks.Example/ß", events: ["link.created"] })
      expect(jsonOf(answer)).toMatchObject({ url: "https://hooks.example/%C3%9F" })
    })
  )

  it.effect("refuses bad input, names what is wrong with it, and stores nothing", () =>
    Effect.gen(function* () {
      const { port, webhooks } = yield* TestService
      const before = yield* webhooks.list("admin")
      const events = ["link.created"]
      const refused = (body: unknown) => asAdmin("POST", path, body)
      expectProblem(yield* refused({}), "invalid-request", [
        ["url", "is required"],
        ["events", "is required"]
      ])
      expectProblem(yield* refused({ url, events: [] }), "invalid-request", [
        ["events", /one event at least/]
      ])
      expectProblem(yield* refused({ url, events: ["link.created", "link.changed"] }), "invalid-request", [
        ["events.1", /must be one of link\.created, link\.deleted, link\.visited/]
      ])
      expectProblem(yield* refused({ url, events: Array(4).fill("link.created") }), "invalid-request", [
        ["events", /each event once/]
      ])
      expectProblem(yield* refused({ url, events: "link.created" }), "invalid-request", [
        ["events", /list of events/]
      ])
      expectProblem(yield* refused({ url: 1, events, colour: "red" }), "invalid-request", [
        ["colour", "is not a known field"],
        ["url", "must be a string"]
      ])
      expectProblem(yield* refused([]), "invalid-request", [["", /JSON object/]])
      for (const bad of [
        "",
        "ftp://a.example/",
        "https://",
        "https://u:p@a.example/",
        `${url}${"a".repeat(3_000)}`
      ]) {
        expectProblem(yield* refused({ url: bad, events }), "invalid-url", [["url", /./]])
      }
      expectProblem(yield* refused({ url: `http://localhost:${port}/`, events }), "blocked-target", [
        ["url", /leads to this service itself/]
      ])
      for (const host of [
        "127.0.0.1",
        "[::1]",
        "[::127.0.0.1]",
        "168.63.129.16",
        "kubernetes.default.svc",
        "10.1.2.3",
        "169.254.169.254",
        "router.local",
        "localhost",
        "intranet"
      ]) {
        expectProblem(yield* refused({ url: `http://${host}/`, events }), "blocked-target", [
          ["url", /leads to a private network/]
        ])
      }
      expect(yield* webhooks.list("admin")).toEqual(before)
    })
  )

  it.effect("wants the scopes of what a webhook shows", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const before = yield* webhooks.list("usr_one")
      const body = { url, events: ["link.created"] }
      expectProblem(yield* add(userKeys.reader, body), "forbidden")
      expectProblem(yield* add(userKeys.blind, body), "forbidden")
      expectProblem(yield* add("lm_wrong", body), "unauthorized")
      expect(yield* webhooks.list("usr_one")).toEqual(before)
    })
  )

  it.effect("wants one more scope for visits", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const ofLinks = ["links:read", "links:write"]
      const narrow = yield* newKey({ scopes: ofLinks }, headers)
      const wide = yield* newKey({ scopes: [...ofLinks, "stats:read"] }, headers)
      const adding = (headers: Readonly<Record<string, string>>, events: ReadonlyArray<string>) =>
        post(path, { url, events }, headers)
      expectProblem(yield* adding(narrow.headers, ["link.created", "link.visited"]), "forbidden")
      expect((yield* adding(narrow.headers, ["link.created"])).status).toBe(201)
      expect((yield* adding(wide.headers, ["link.created", "link.visited"])).status).toBe(201)
      const { data } = jsonOf(yield* get(path, wide.headers)) as { readonly data: ReadonlyArray<Webhook> }
      expect(data).toHaveLength(2)
    })
  )

  it.effect("makes a number of them for each user at most", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const there = (yield* webhooks.list("usr_other")).length
      yield* Effect.forEach(Array(webhooksMax - there).fill(0), () => made(userKeys.other))
      const body = { url, events: ["link.created"] }
      expectProblem(yield* add(userKeys.other, body), "too-many-webhooks")
      const [first] = yield* webhooks.list("usr_other")
      yield* withKey(userKeys.other, "DELETE", `${path}/${first!.id}`)
      yield* made(userKeys.other)
    })
  )
})

withService("webhooks", {}, (it) => {
  it.effect("are their owner's: to others they are not there, to administrators they are", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const { id } = yield* made(userKeys.one)
      const [letter] = yield* died("usr_one", 1)
      const letters = `${path}/${id}/dead-letters`
      expect(yield* listOf(userKeys.other)).toEqual([])
      expectProblem(yield* withKey(userKeys.other, "GET", letters), "not-found")
      expectProblem(yield* withKey(userKeys.other, "POST", `${letters}/${letter}/retry`), "not-found")
      expectProblem(yield* withKey(userKeys.other, "DELETE", `${path}/${id}`), "not-found")
      expect(yield* webhooks.find(id)).toMatchObject({ deadLetters: 1, pending: 0 })
      expect((yield* asAdmin("GET", letters)).status).toBe(200)
      expect((yield* asAdmin("POST", `${letters}/${letter}/retry`)).status).toBe(202)
      expect((yield* asAdmin("DELETE", `${path}/${id}`)).status).toBe(204)
      expect(yield* webhooks.find(id)).toBeNull()
    })
  )

  it.effect("are changed with links:write and shown with links:read alone", () =>
    Effect.gen(function* () {
      const { id } = yield* made(userKeys.one)
      const letters = `${path}/${id}/dead-letters`
      for (const [key, method, at] of [
        [userKeys.reader, "DELETE", `${path}/${id}`],
        [userKeys.reader, "POST", `${letters}/msg_1/retry`],
        [userKeys.blind, "GET", path],
        [userKeys.blind, "GET", letters]
      ] as const) {
        expectProblem(yield* withKey(key, method, at), "forbidden")
      }
      expect((yield* withKey(userKeys.reader, "GET", path)).status).toBe(200)
      expect((yield* withKey(userKeys.reader, "GET", letters)).status).toBe(200)
      expectProblem(yield* get(path), "unauthorized")
    })
  )

  it.effect("are removed once, and are not found by odd ids", () =>
    Effect.gen(function* () {
      const { id } = yield* made(userKeys.one)
      expect((yield* withKey(userKeys.one, "DELETE", `${path}/${id}`)).status).toBe(204)
      for (const odd of [id, "%00", "%F0%9F%98%80", "a".repeat(65), "..%2f"]) {
        expectProblem(yield* withKey(userKeys.one, "DELETE", `${path}/${odd}`), "not-found")
      }
    })
  )
})

withService("dead letters", {}, (it) => {
  it.effect("are listed page by page, with when and why they died", () =>
    Effect.gen(function* () {
      const { id } = yield* made(userKeys.one)
      const ids = yield* died("usr_one", 5)
      const letters = `${path}/${id}/dead-letters`
      const page = (query: string) =>
        Effect.map(
          withKey(userKeys.one, "GET", `${letters}${query}`),
          (answer) => jsonOf(answer) as { data: ReadonlyArray<{ id: string }>; nextCursor: string | null }
        )
      const first = yield* page("?limit=3")
      const second = yield* page(`?limit=3&cursor=${first.nextCursor}`)
      expect(first.data).toHaveLength(3)
      expect(second).toMatchObject({ nextCursor: null, data: [{}, {}] })
      expect([...first.data, ...second.data].map((letter) => letter.id).toSorted()).toEqual(ids)
      expect(first.data[0]).toEqual({
        id: expect.stringMatching(/^msg_\d$/),
        event: "link.created",
        events: 1,
        queuedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        failedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        attempts: 1,
        reason: "It answered 500."
      })
      for (const bad of ["0", "101", "x", "1&limit=2", ""]) {
        expectProblem(yield* withKey(userKeys.one, "GET", `${letters}?limit=${bad}`), "invalid-request", [
          ["limit", /from 1 to 100/]
        ])
      }
      for (const bad of ["", "x", "W10", "bnVsbA", Buffer.from(`[-1,"a"]`).toString("base64url")]) {
        expectProblem(yield* withKey(userKeys.one, "GET", `${letters}?cursor=${bad}`), "invalid-request", [
          ["cursor", /not a cursor/]
        ])
      }
    })
  )

  it.effect("are queued again once", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const { id } = yield* made(userKeys.other)
      const [letter] = yield* died("usr_other", 1)
      const retry = `${path}/${id}/dead-letters/${letter}/retry`
      expect((yield* withKey(userKeys.other, "POST", retry)).status).toBe(202)
      expectProblem(yield* withKey(userKeys.other, "POST", retry), "not-found")
      expectProblem(
        yield* withKey(userKeys.other, "POST", `${path}/${id}/dead-letters/%00/retry`),
        "not-found"
      )
      expect(yield* webhooks.find(id)).toMatchObject({ pending: 1, deadLetters: 0 })
    })
  )
})

withService("webhooks whose receivers have not proven themselves", {}, (it) => {
  it.effect(
    "are sent a challenge, are told of nothing, and are sent another one when that is asked for",
    () =>
      Effect.gen(function* () {
        const { webhooks } = yield* TestService
        const { id } = yield* unverified(userKeys.one)
        const message = { id: "msg_1", owner: "usr_one", event: "link.created", body: "{}" } as const
        yield* webhooks.offer([message])
        const [first, ...others] = yield* webhooks.claim(claimOf())
        expect(others).toEqual([])
        expect(first).toMatchObject({ webhookId: id, event: "webhook.verification", url })
        expect(JSON.parse(first!.body)).toEqual({
          type: "webhook.verification",
          timestamp: "2026-11-21T10:00:00.000Z",
          data: { challenge: expect.stringMatching(/^[0-9a-f]{32}$/) }
        })
        yield* webhooks.failed(first!, { reason: "It answered 404.", retryIn_ms: null, pause_ms: 0 })
        expect(yield* listOf(userKeys.one)).toMatchObject([
          { status: "unverified", failures: 1, lastFailure: "It answered 404.", pending: 0 }
        ])

        const again = yield* withKey(userKeys.one, "POST", `${path}/${id}/verify`)
        expect(again.status).toBe(202)
        expect(jsonOf(again)).toMatchObject({ id, status: "unverified", failures: 0, lastFailure: null })
        expect(jsonOf(again)).not.toHaveProperty("secret")
        const [second] = yield* webhooks.claim(claimOf())
        expect(second).toMatchObject({ webhookId: id, event: "webhook.verification" })
        expect(second!.body).not.toBe(first!.body)
        expect(yield* webhooks.verify(id, second!.id)).toBe(true)
        const active = yield* withKey(userKeys.one, "POST", `${path}/${id}/verify`)
        expect(active.status).toBe(200)
        expect(jsonOf(active)).toMatchObject({ id, status: "active" })
        expect(yield* webhooks.claim(claimOf())).toEqual([])
      })
  )

  it.effect("are asked to by those who may change them alone", () =>
    Effect.gen(function* () {
      const { id } = yield* unverified(userKeys.one)
      const verify = (key: string) => withKey(key, "POST", `${path}/${id}/verify`)
      expectProblem(yield* verify(userKeys.reader), "forbidden")
      expectProblem(yield* verify(userKeys.other), "not-found")
      expectProblem(yield* withKey(userKeys.one, "POST", `${path}/whk_none/verify`), "not-found")
      expect((yield* asAdmin("POST", `${path}/${id}/verify`)).status).toBe(202)
    })
  )
})

withService("a webhook", { signUp: true }, (it) => {
  /** Makes a webhook with these headers, has it verified, and gives its id. */
  const madeWith = (headers: Record<string, string>) =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const answer = yield* post(path, { url, events: ["link.created"] }, headers)
      expect(answer.status).toBe(201)
      const { id } = jsonOf(answer) as Webhook
      yield* prove(webhooks, id)
      return id
    })
  const own = { "sec-fetch-site": "same-origin" }

  it.effect("ends when the API key that made it is revoked, and its user's others go on", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const { headers, id: owner } = yield* newSession
      const session = { ...headers, ...own }
      const scopes = ["links:read", "links:write"]
      const key = yield* newKey({ scopes }, session)
      const other = yield* newKey({ scopes }, session)
      const bound = yield* madeWith(key.headers)
      const others = [yield* madeWith(other.headers), yield* madeWith(session)]
      yield* webhooks.offer([{ id: "msg_before", owner, event: "link.created", body: "{}" }])
      expect((yield* ask("DELETE", `/api/v1/api-keys/${key.id}`, session)).status).toBe(204)
      yield* webhooks.offer([{ id: "msg_after", owner, event: "link.created", body: "{}" }])
      const told = (yield* webhooks.claim(claimOf())).filter((delivery) => delivery.owner === owner)
      expect(told.map(({ webhookId }) => webhookId).toSorted()).toEqual([...others, ...others].toSorted())
      const list = (jsonOf(yield* ask("GET", path, headers)) as { data: ReadonlyArray<Webhook> }).data
      expect(list.find(({ id }) => id === bound)).toMatchObject({ status: "ended", pending: 0, dropped: 1 })
      for (const id of others) {
        expect(list.find((one) => one.id === id)).toMatchObject({ status: "active", pending: 2, dropped: 0 })
      }
      expectProblem(yield* ask("POST", `${path}/${bound}/verify`, session), "webhook-ended")
      expect((yield* ask("DELETE", `${path}/${bound}`, session)).status).toBe(204)
    })
  )

  it.effect("ends when the API key that made it expires", () =>
    Effect.gen(function* () {
      const { clock, webhooks } = yield* TestService
      const { headers, id: owner } = yield* newSession
      const scopes = ["links:read", "links:write"]
      const expiresAt = "2100-01-01T00:00:00.000Z"
      const id = yield* madeWith((yield* newKey({ scopes, expiresAt }, { ...headers, ...own })).headers)
      yield* webhooks.offer([{ id: "msg_1", owner, event: "link.created", body: "{}" }])
      clock.set(Date.parse(expiresAt) - 1)
      const found = Effect.withClock(webhooks.find(id), clock)
      expect(yield* found).toMatchObject({ status: "active", pending: 1 })
      clock.set(Date.parse(expiresAt))
      expect(yield* found).toMatchObject({ status: "ended", pending: 0 })
      const claimed = yield* Effect.withClock(webhooks.claim(claimOf()), clock)
      expect(claimed.filter(({ webhookId }) => webhookId === id)).toEqual([])
      clock.set(startOfTests_ms)
    })
  )

  it.effect("of the administrator's key is known by that key", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const id = yield* madeWith(admin)
      expect((yield* webhooks.find(id))!.keyId).toBe(adminKeyIdOf(Secret.digest(adminKey)))
      expect((yield* webhooks.find(id))!.keyId).toMatch(/^adm_[0-9a-f]{4}$/)
    })
  )
})
