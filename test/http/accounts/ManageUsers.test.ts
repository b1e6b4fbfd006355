import { expect } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { ask, newKey, newSession, newUser, password, post, signIn } from "../../support/samples/Account.ts"
import { type Answer, jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  asAdmin,
  create,
  get,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const path = (id: string) => `/api/v1/users/${id}`
const change = (id: string, body: object) => asAdmin("PATCH", path(id), body)
const disable = (id: string) => change(id, { disabled: true })

const dataOf = (answer: Answer) => {
  expect(answer.status).toBe(200)
  return jsonOf(answer) as {
    readonly data: ReadonlyArray<{ readonly id: string }>
    readonly nextCursor: string | null
  }
}

const actionsOf = (user: string) =>
  Effect.gen(function* () {
    const { audit } = yield* TestService
    const entries = yield* audit.list({ user, limit: 100 })
    return entries.map(({ action, doer }) => `${action} by ${doer.userId ?? "nobody"}`)
  })

/** Somebody with a session, an API key, a webhook and a link. */
const furnished = (alias: string) =>
  Effect.gen(function* () {
    const user = yield* newSession
    const key = yield* newKey({ scopes: ["links:read", "links:write"] }, user.headers)
    yield* create({ url: "https://example.com/", alias }, key.headers)
    const webhook = yield* post(
      "/api/v1/webhooks",
      { url: "https://receiver.example/", events: ["link.created"] },
      key.headers
    )
    const { id: webhookId } = jsonOf(webhook) as { readonly id: string }
    return { ...user, key, webhookId }
  })

/** Past the time for which a node believes what it knows of a key. */
const aSecondLater = Effect.gen(function* () {
  const { clock } = yield* TestService
  clock.set((yield* clock.currentTimeMillis) + Duration.toMillis("1 second"))
})

withService("users", {}, (it) => {
  it.effect("are listed for administrators page by page, the newest first, or by their address", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const made: Array<{ readonly id: string; readonly email: string }> = []
      for (let turn = 0; turn < 4; turn++) {
        clock.set((yield* clock.currentTimeMillis) + 1_000)
        made.push(yield* newUser())
      }
      const expected = made.map(({ id }) => id).toReversed()
      const first = dataOf(yield* asAdmin("GET", "/api/v1/users?limit=3"))
      const next = dataOf(yield* asAdmin("GET", `/api/v1/users?limit=3&cursor=${first.nextCursor}`))
      expect([...first.data, ...next.data].map(({ id }) => id).slice(0, 4)).toEqual(expected)
      const email = encodeURIComponent(made[2]!.email.toUpperCase())
      const one = yield* asAdmin("GET", `/api/v1/users?email=${email}`)
      expect(one.headers["cache-control"]).toBe("no-store")
      expect(dataOf(one)).toMatchObject({
        data: [{ id: made[2]!.id, disabledAt: null, admin: false }],
        nextCursor: null
      })
      expect(one.text).not.toMatch(/hash|argon/i)
      expectProblem(yield* asAdmin("GET", "/api/v1/users?limit=0&cursor=-&email=%00"), "invalid-request", [
        ["email", /address/],
        ["limit", /500/],
        ["cursor", /cursor/]
      ])
    })
  )

  it.effect("are neither listed, changed nor deleted by others, not even by themselves", () =>
    Effect.gen(function* () {
      const { headers, id } = yield* newSession
      const victim = yield* newUser()
      const key = yield* newKey({ scopes: ["links:read", "links:write", "stats:read"] })
      const json = { "content-type": "application/json" }
      const { send } = yield* TestService
      const tries = [
        { path: "/api/v1/users" },
        { method: "PATCH", path: path(victim.id), body: JSON.stringify({ disabled: true }) },
        { method: "PATCH", path: path(id), body: JSON.stringify({ admin: true }) },
        { method: "DELETE", path: path(victim.id) },
        { method: "DELETE", path: path(id) }
      ]
      for (const request of tries) {
        expectProblem(yield* send({ ...request, headers: json }), "unauthorized")
        expectProblem(yield* send({ ...request, headers: { ...json, ...headers } }), "forbidden")
        expectProblem(yield* send({ ...request, headers: { ...json, ...key.headers } }), "forbidden")
        const foreign = { "sec-fetch-site": "cross-site", cookie: headers.cookie }
        if (request.method !== undefined) {
          expectProblem(yield* send({ ...request, headers: { ...json, ...foreign } }), "forbidden")
        }
      }
      expect(yield* signIn(victim.email)).toBeDefined()
      expect(jsonOf(yield* ask("GET", "/api/v1/me", headers))).toMatchObject({ admin: false })
      expectProblem(yield* withKey(userKeys.one, "DELETE", path("usr_other")), "forbidden")
    })
  )

  it.effect("who are disabled have no sessions, keys or webhooks, and sign in no more; links redirect", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const user = yield* furnished("of-disabled")
      const answer = yield* disable(user.id)
      expect(answer.status).toBe(200)
      expect(jsonOf(answer)).toMatchObject({ id: user.id, disabledAt: expect.stringMatching(/Z$/) })
      expectProblem(yield* ask("GET", "/api/v1/me", user.headers), "unauthorized")
      yield* aSecondLater
      expectProblem(yield* ask("GET", "/api/v1/me", user.key.headers), "unauthorized")
      expectProblem(
        yield* create({ url: "https://example.com/", alias: "too-late" }, user.key.headers),
        "unauthorized"
      )
      const wrong = yield* post("/api/v1/session", { email: user.email, password: `${password}x` })
      const right = yield* post("/api/v1/session", { email: user.email, password })
      expectProblem(right, "unauthorized")
      expect(right.text).toBe(wrong.text)
      expect(yield* webhooks.find(user.webhookId)).toMatchObject({ status: "ended" })
      expect((yield* get("/of-disabled")).status).toBe(302)
      expect((yield* asAdmin("GET", "/api/v1/links/of-disabled")).status).toBe(200)
      expect(yield* actionsOf(user.id)).toContain("user.disabled by admin")

      expect(jsonOf(yield* change(user.id, { disabled: false }))).toMatchObject({ disabledAt: null })
      yield* aSecondLater
      expect((yield* ask("GET", "/api/v1/links/of-disabled", user.key.headers)).status).toBe(200)
      expectProblem(yield* ask("GET", "/api/v1/me", user.headers), "unauthorized")
      expect(yield* signIn(user.email)).toBeDefined()
      expect(yield* actionsOf(user.id)).toContain("user.enabled by admin")
    })
  )

  it.effect("who are deleted leave nothing that works but their links, which are the administrators'", () =>
    Effect.gen(function* () {
      const { webhooks } = yield* TestService
      const user = yield* furnished("of-deleted")
      expect((yield* asAdmin("DELETE", path(user.id))).status).toBe(204)
      expectProblem(yield* asAdmin("DELETE", path(user.id)), "not-found")
      expectProblem(yield* disable(user.id), "not-found")
      yield* aSecondLater
      for (const headers of [user.headers, user.key.headers]) {
        expectProblem(yield* ask("GET", "/api/v1/me", headers), "unauthorized")
      }
      expectProblem(yield* post("/api/v1/session", { email: user.email, password }), "unauthorized")
      expect(yield* webhooks.find(user.webhookId)).toBeNull()
      expect((yield* get("/of-deleted")).status).toBe(302)
      const links = dataOf(yield* asAdmin("GET", `/api/v1/links?owner=${user.id}`))
      expect(links.data).toMatchObject([{ key: "of-deleted" }])
      // Whoever has the address next is somebody else.
      const again = yield* post(
        "/api/v1/users",
        { email: user.email, password },
        { "x-api-key": "lm_the-administrator-of-tests" }
      )
      expect(again.status).toBe(201)
      const headers = yield* signIn(user.email)
      expectProblem(yield* ask("GET", "/api/v1/links/of-deleted", headers), "not-found")
      const log = yield* TestService.pipe(
        Effect.flatMap(({ audit }) => audit.list({ user: user.id, limit: 10 }))
      )
      expect(log).toContainEqual(expect.objectContaining({ action: "user.deleted", target: user.id }))
      expect(JSON.stringify(log)).not.toContain(user.email)
    })
  )

  it.effect("become administrators and cease to be, and their keys with them", () =>
    Effect.gen(function* () {
      const user = yield* newSession
      expect(jsonOf(yield* change(user.id, { admin: true }))).toMatchObject({ admin: true })
      const key = yield* newKey({ scopes: ["admin"] }, user.headers)
      expect((yield* ask("GET", "/api/v1/users", key.headers)).status).toBe(200)
      expect(jsonOf(yield* change(user.id, { admin: false }))).toMatchObject({ admin: false })
      yield* aSecondLater
      expectProblem(yield* ask("GET", "/api/v1/users", key.headers), "forbidden")
      expectProblem(yield* ask("GET", "/api/v1/users", user.headers), "forbidden")
      const actions = yield* actionsOf(user.id)
      expect(actions).toContain("admin.granted by admin")
      expect(actions).toContain("admin.withdrawn by admin")
    })
  )

  it.effect("keep one administrator who works, no matter who asks", () =>
    Effect.gen(function* () {
      expectProblem(yield* disable("admin"), "last-administrator")
      expectProblem(yield* change("admin", { admin: false }), "last-administrator")
      expectProblem(yield* asAdmin("DELETE", path("admin")), "forbidden")
      const { headers, id } = yield* newSession
      yield* change(id, { admin: true })
      const json = { "content-type": "application/json" }
      const { send } = yield* TestService
      const own = (body: object) =>
        send({
          method: "PATCH",
          path: path(id),
          headers: { ...json, ...headers },
          body: JSON.stringify(body)
        })
      expect((yield* disable("admin")).status).toBe(200)
      expectProblem(yield* own({ disabled: true }), "last-administrator")
      expectProblem(yield* own({ admin: false }), "last-administrator")
      expectProblem(yield* ask("DELETE", path(id), headers), "last-administrator")
      expect((yield* change("admin", { disabled: false })).status).toBe(200)
      expect((yield* own({ disabled: true })).status).toBe(200)
      expect((yield* asAdmin("DELETE", path(id))).status).toBe(204)
    })
  )

  it.effect(
    "delete their own accounts, in a session in which the password was shown a while ago at most",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* TestService
        const user = yield* furnished("of-leaver")
        const leave = (headers: Record<string, string>) => ask("DELETE", "/api/v1/me", headers)
        expectProblem(yield* leave({}), "unauthorized")
        expectProblem(yield* leave(user.key.headers), "forbidden")
        expectProblem(yield* leave({ ...user.headers, "sec-fetch-site": "cross-site" }), "forbidden")
        clock.set((yield* clock.currentTimeMillis) + Duration.toMillis("16 minutes"))
        expectProblem(yield* leave(user.headers), "reauthentication-required")
        const headers = yield* signIn(user.email)
        // However often it is asked at once: whoever comes too late finds it done, or the session ended.
        const answers = yield* Effect.all(
          Array.from({ length: 5 }, () => leave(headers)),
          { concurrency: "unbounded" }
        )
        const [answer] = answers.filter(({ status }) => status === 204)
        expect(answers.filter(({ status }) => status !== 204 && status !== 401)).toEqual([])
        expect(answer!.headers["set-cookie"]![0]).toMatch(/^linkmint_session=;/)
        expectProblem(yield* ask("GET", "/api/v1/me", headers), "unauthorized")
        expectProblem(yield* post("/api/v1/session", { email: user.email, password }), "unauthorized")
        expect((yield* get("/of-leaver")).status).toBe(302)
        expect(yield* actionsOf(user.id)).toContain(`user.deleted by ${user.id}`)
      })
  )

  for (const [who, remove] of [
    ["administrators", (id: string, _: object, query: string) => asAdmin("DELETE", `${path(id)}${query}`)],
    [
      "themselves",
      (_: string, headers: Record<string, string>, query: string) =>
        ask("DELETE", `/api/v1/me${query}`, headers)
    ]
  ] as const) {
    it.effect(`are deleted by ${who} with their links or without, and caches hear of it`, () =>
      Effect.gen(function* () {
        const kept = yield* furnished(`kept-by-${who}`)
        const gone = yield* furnished(`gone-by-${who}`)
        // More than are deleted at once.
        const links = Array.from({ length: 1_000 }, (_, index) => ({ url: `https://example.com/${index}` }))
        const made = yield* post("/api/v1/links/bulk", { links }, gone.key.headers)
        const { results } = jsonOf(made) as {
          readonly results: ReadonlyArray<{ readonly link: { readonly key: string } }>
        }
        expect((yield* get(`/gone-by-${who}`)).status).toBe(302)

        for (const bad of ["?links=", "?links=all", "?links=keep&links=delete"]) {
          expectProblem(yield* remove(gone.id, gone.headers, bad), "invalid-request", [
            ["links", "must be keep or delete"]
          ])
        }
        expect((yield* remove(kept.id, kept.headers, "?links=keep")).status).toBe(204)
        expect((yield* remove(gone.id, gone.headers, "?links=delete")).status).toBe(204)
        expect((yield* get(`/kept-by-${who}`)).status).toBe(302)
        const statuses = yield* Effect.forEach(
          [`gone-by-${who}`, ...results.map(({ link }) => link.key)],
          (key) => Effect.map(get(`/${key}`), ({ status }) => status),
          { concurrency: 16 }
        )
        expect(statuses.filter((status) => status === 410)).toHaveLength(1_000)
        expect(statuses.filter((status) => status === 302)).toHaveLength(1)
        const { removals } = yield* TestService
        expect(yield* removals.remove(1_000)).toHaveLength(1)
        expect(dataOf(yield* asAdmin("GET", `/api/v1/links?owner=${gone.id}`)).data).toEqual([])
        const by = who === "administrators" ? "admin" : gone.id
        expect(yield* actionsOf(gone.id)).toContain(`links.deleted by ${by}`)
        expect(yield* actionsOf(kept.id)).not.toContain(expect.stringContaining("links.deleted"))
      })
    )
  }

  it.effect("are gone also where the links can only be deleted later", () =>
    Effect.gen(function* () {
      const { removals, setFault } = yield* TestService
      const user = yield* furnished("later-deleted")
      yield* setFault("removing", "fails")
      expect((yield* asAdmin("DELETE", `${path(user.id)}?links=delete`)).status).toBe(204)
      yield* setFault("removing", "none")
      expect((yield* get("/later-deleted")).status).toBe(302)
      yield* removals.remove(10)
      expect((yield* get("/later-deleted")).status).toBe(410)
    })
  )

  it.effect("are changed in what is said alone", () =>
    Effect.gen(function* () {
      const { id } = yield* newUser()
      expectProblem(yield* change(id, {}), "invalid-request", [["", /disabled or admin/]])
      expectProblem(yield* change(id, { disabled: "yes", role: 1 }), "invalid-request", [
        ["role", /not a known/],
        ["disabled", /true or false/]
      ])
      expect((yield* change(id, { disabled: false })).status).toBe(200)
      // Nothing was changed, so that there is nothing to tell.
      expect(yield* actionsOf(id)).toEqual(["user.added by admin"])
    })
  )
})
