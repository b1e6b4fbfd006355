import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { webhooksMax } from "../../src/Webhook.ts"
import { jsonOf } from "./client.ts"
import { expectProblem } from "./problems.ts"
import { asAdmin, get, startOfTests_ms, TestService, userKeys, withKey, withService } from "./TestService.ts"

interface Webhook {
  readonly id: string
  readonly secret: string
}

const path = "/api/v1/webhooks"
const url = "https://hooks.example/path?query"

const add = (key: string, body: unknown) => withKey(key, "POST", path, body)

/** Makes a webhook of a user's, and gives it. */
const made = (key: string, events: ReadonlyArray<string> = ["link.created"]) =>
  Effect.map(add(key, { url, events }), (answer) => {
    expect(answer.status).toBe(201)
    return jsonOf(answer) as Webhook
  })

const listOf = (key: string) =>
  Effect.map(withKey(key, "GET", path), (answer) => (jsonOf(answer) as { data: ReadonlyArray<Webhook> }).data)

/** Lets a user's messages die: gives their ids. */
const died = (owner: string, count: number) =>
  Effect.gen(function* () {
    const { webhooks } = yield* TestService
    const ids = Array.from({ length: count }, (_, index) => `msg_${index}`)
    yield* webhooks.offer(ids.map((id) => ({ id, owner, event: "link.created", body: "{}" })))
    const claimed = yield* webhooks.claim({ max: 100, perWebhook: 100, busy: [], lease_ms: 60_000 })
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
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        pending: 0,
        deadLetters: 0,
        dropped: 0,
        failures: 0
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
