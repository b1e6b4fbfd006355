import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { monotonicNow_ms } from "../../../src/time/MonotonicTime.ts"
import {
  ask,
  asAdmin,
  cookieOf,
  newKey,
  newSession,
  newUser,
  password,
  post,
  signIn
} from "../../support/samples/Account.ts"
import { jsonOf, type NoAnswer, type Request } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { create, get, TestService, withService } from "../../support/TestService.ts"

type Headers = Request["headers"]

interface Shown {
  readonly id: string
  readonly current: boolean
  readonly lastUsedAt: string
}

const hour_ms = 3_600_000
const minute_ms = 60_000

const other = "another horse, another battery"

const me = (headers: Headers) => ask("GET", "/api/v1/me", headers)

const listed = (headers: Headers) =>
  Effect.map(ask("GET", "/api/v1/sessions", headers), (answer) => {
    expect(answer.status).toBe(200)
    return (jsonOf(answer) as { readonly data: ReadonlyArray<Shown> }).data
  })

const logIn = (email: string, headers: Headers = {}, secret = password) =>
  post("/api/v1/session", { email, password: secret }, headers)

const put = (path: string, body: unknown, headers: Headers) =>
  Effect.flatMap(TestService, ({ send }) =>
    send({
      method: "PUT",
      path,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
  )

const change = (headers: Headers, body: object = {}) =>
  put("/api/v1/me/password", { currentPassword: password, password: other, ...body }, headers)

/** Goes on in time, and back in the end. */
const after = (duration_ms: number) =>
  Effect.map(TestService, ({ clock }) => clock.set(monotonicNow_ms(clock) + duration_ms))

withService("sessions", {}, (it) => {
  it.effect("are listed for their user, with what they were begun with", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      yield* after(1)
      const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
      yield* logIn(email, { "user-agent": userAgent })
      const [firefox, own] = yield* listed(headers)
      expect(firefox).toMatchObject({ current: false, browser: "Firefox", os: "Linux" })
      expect(own).toMatchObject({ current: true, browser: "bot" })
      expect(Object.keys(own!).toSorted()).toEqual(
        ["browser", "createdAt", "current", "expiresAt", "id", "lastUsedAt", "os"].toSorted()
      )
      expect(own!.id).toMatch(/^ses_[0-9a-f]{24}$/)
    })
  )

  it.effect("are ended by their user, one or all others, and by nobody else", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      const stranger = yield* newSession
      const [second, third, fourth] = [yield* signIn(email), yield* signIn(email), yield* signIn(email)]
      const [id] = (yield* listed(second)).filter(({ current }) => current).map((session) => session.id)
      expectProblem(yield* ask("DELETE", `/api/v1/sessions/${id}`, stranger.headers), "not-found")
      expectProblem(yield* ask("DELETE", "/api/v1/sessions/no%20id", headers), "not-found")
      expect((yield* ask("DELETE", `/api/v1/sessions/${id}`, headers)).status).toBe(204)
      expectProblem(yield* ask("DELETE", `/api/v1/sessions/${id}`, headers), "not-found")
      expectProblem(yield* me(second), "unauthorized")
      expect((yield* me(third)).status).toBe(200)

      expect((yield* ask("DELETE", "/api/v1/sessions", headers)).status).toBe(204)
      for (const ended of [third, fourth]) expectProblem(yield* me(ended), "unauthorized")
      expect(yield* listed(headers)).toHaveLength(1)
      expect((yield* me(stranger.headers)).status).toBe(200)
    })
  )

  it.effect("are not managed by keys without the scope admin, nor by the anonymous", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const key = yield* newKey({ scopes: ["links:read", "links:write"] }, headers)
      expectProblem(yield* ask("GET", "/api/v1/sessions", key.headers), "forbidden")
      expectProblem(yield* ask("DELETE", "/api/v1/sessions", key.headers), "forbidden")
      expectProblem(yield* ask("DELETE", "/api/v1/sessions/ses_0", key.headers), "forbidden")
      expectProblem(yield* ask("GET", "/api/v1/sessions"), "unauthorized")
      expect(yield* listed(asAdmin)).toEqual([])
    })
  )

  it.effect("end when they are not used for 24 hours, and tell their last use without a write for each", () =>
    Effect.gen(function* () {
      const { accounts, clock } = yield* TestService
      const { headers, id } = yield* newSession
      const lastUse = Effect.map(accounts.sessionsOf(id), ([session]) => session!.lastUsedAt)
      const begun = yield* clock.currentTimeMillis
      clock.set(begun + 5 * minute_ms - 1)
      for (let turn = 0; turn < 3; turn++) expect((yield* me(headers)).status).toBe(200)
      expect(yield* lastUse).toBe(begun)
      clock.set(begun + 5 * minute_ms)
      expect((yield* me(headers)).status).toBe(200)
      expect(yield* lastUse).toBe(begun + 5 * minute_ms)
      clock.set(begun + 5 * minute_ms + 24 * hour_ms - 1)
      expect((yield* me(headers)).status).toBe(200)
      clock.set(begun + 5 * minute_ms + 48 * hour_ms)
      expectProblem(yield* me(headers), "unauthorized")
      clock.set(begun)
    })
  )

  it.effect(
    "are listed no more once they have ended: unused, after 14 days, or because their user ended them",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* TestService
        const { email, headers: first } = yield* newSession
        const begun = yield* clock.currentTimeMillis
        const idsOf = (headers: Headers) => Effect.map(listed(headers), (all) => all.map(({ id }) => id))
        const [firstId] = yield* idsOf(first)
        clock.set(begun + 1)
        yield* signIn(email)
        clock.set(begun + hour_ms)
        expect(yield* idsOf(first)).toHaveLength(2)
        clock.set(begun + 24 * hour_ms)
        expect(yield* idsOf(first)).toHaveLength(2)
        clock.set(begun + 24 * hour_ms + 1)
        expect(yield* idsOf(first)).toEqual([firstId])

        for (let hours = 47; hours < 14 * 24; hours += 23) {
          clock.set(begun + hours * hour_ms)
          expect((yield* me(first)).status).toBe(200)
        }
        const last = yield* signIn(email)
        clock.set(begun + 14 * 24 * hour_ms - 1)
        expect(yield* idsOf(last)).toContain(firstId)
        clock.set(begun + 14 * 24 * hour_ms)
        const [lastId, ...others] = yield* idsOf(last)
        expect(others).toEqual([])

        const ended = yield* signIn(email)
        const [endedId] = (yield* idsOf(last)).filter((id) => id !== lastId)
        expect((yield* ask("DELETE", `/api/v1/sessions/${endedId}`, ended)).status).toBe(204)
        expect(yield* idsOf(last)).toEqual([lastId])
        clock.set(begun)
      })
  )

  it.effect("begin with a token of their own, and replace that of the browser they begin in", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      const answer = yield* logIn(email, headers)
      const { pair } = cookieOf(answer.headers["set-cookie"])
      expect(pair).not.toBe(headers.cookie)
      expectProblem(yield* me(headers), "unauthorized")
      expect(yield* listed({ cookie: pair })).toHaveLength(1)
      // A token that somebody has put there is not taken over.
      const planted = { cookie: `linkmint_session=${"A".repeat(43)}` }
      const begun = cookieOf((yield* logIn(email, planted)).headers["set-cookie"]).pair
      expect(begun).not.toBe(planted.cookie)
    })
  )
})

withService("a session that began more than 15 minutes ago", {}, (it) => {
  const scopes = { name: "a key", scopes: ["links:read"] }

  it.effect("makes no API key before its user signs in again", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      yield* after(15 * minute_ms - 1)
      expect((yield* post("/api/v1/api-keys", scopes, headers)).status).toBe(201)
      yield* after(1)
      expectProblem(yield* post("/api/v1/api-keys", scopes, headers), "reauthentication-required")
      expect((yield* ask("GET", "/api/v1/api-keys", headers)).status).toBe(200)
      const { pair } = cookieOf((yield* logIn(email, headers)).headers["set-cookie"])
      expect((yield* post("/api/v1/api-keys", scopes, { cookie: pair })).status).toBe(201)
    })
  )

  it.effect("makes no administrator, and disables and deletes nobody", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const { headers, id } = yield* newSession
      const other = yield* newUser()
      const patch = (user: string, body: object, as: Headers) =>
        send({
          method: "PATCH",
          path: `/api/v1/users/${user}`,
          headers: { "content-type": "application/json", ...as },
          body: JSON.stringify(body)
        })
      expect((yield* patch(id, { admin: true }, asAdmin)).status).toBe(200)
      yield* after(15 * minute_ms - 1)
      expect((yield* patch(other.id, { admin: true }, headers)).status).toBe(200)
      yield* after(1)
      for (const body of [{ admin: false }, { disabled: true }]) {
        expectProblem(yield* patch(other.id, body, headers), "reauthentication-required")
      }
      expectProblem(yield* ask("DELETE", `/api/v1/users/${other.id}`, headers), "reauthentication-required")
      expect((yield* ask("DELETE", `/api/v1/users/${other.id}`, asAdmin)).status).toBe(204)
    })
  )

  it.effect("is none of those who show a key", () =>
    Effect.gen(function* () {
      const key = yield* newKey({ scopes: ["admin"] })
      yield* after(hour_ms)
      expect((yield* post("/api/v1/api-keys", scopes, key.headers)).status).toBe(201)
      expect((yield* post("/api/v1/api-keys", scopes, asAdmin)).status).toBe(201)
    })
  )
})

withService("a password", { trustedProxies: "127.0.0.1" }, (it) => {
  it.effect("is changed by who knows it: all sessions end, and one begins", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      const elsewhere = yield* signIn(email)
      const key = yield* newKey({ scopes: ["links:read"] }, headers)
      const answer = yield* change(headers)
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" })
      const { pair } = cookieOf(answer.headers["set-cookie"])
      for (const ended of [headers, elsewhere]) expectProblem(yield* me(ended), "unauthorized")
      expect((yield* me({ cookie: pair })).status).toBe(200)
      expectProblem(yield* logIn(email), "unauthorized")
      expect((yield* logIn(email, {}, other)).status).toBe(204)
      // Keys go on unless it is said that they must not.
      expect((yield* ask("GET", "/api/v1/links", key.headers)).status).toBe(200)
      const again = { currentPassword: other, password, revokeKeys: true }
      expect((yield* put("/api/v1/me/password", again, { cookie: pair })).status).toBe(204)
      yield* after(1_000)
      expectProblem(yield* ask("GET", "/api/v1/links", key.headers), "unauthorized")
    })
  )

  it.effect("is not changed without the one before, to none that the policy refuses, nor by a key", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      const key = yield* newKey({ scopes: ["links:read"] }, headers)
      const fault = (path: string, message: string | RegExp) => [[path, message]] as const
      const refusals = [
        [{ currentPassword: "not it" }, fault("currentPassword", "is not the password")],
        [{ password: "short" }, fault("password", "must have 12 to 128 characters")],
        [{ password: "Password2026!" }, fault("password", /guessed first/)],
        [{ password }, fault("password", "must be another one than before")],
        [{ revokeKeys: "yes" }, fault("revokeKeys", "must be true or false")]
      ] as const
      for (const [body, faults] of refusals) {
        expectProblem(yield* change(headers, body), "invalid-request", faults)
      }
      expectProblem(yield* change(key.headers), "forbidden")
      expectProblem(yield* change(asAdmin), "forbidden")
      expectProblem(yield* change({}), "unauthorized")
      expectProblem(yield* change({ ...headers, "sec-fetch-site": "cross-site" }), "forbidden")
      expect((yield* logIn(email)).status).toBe(204)
    })
  )

  it.effect("is tried as seldom by a session as at sign-in, and not kept from another of the same user", () =>
    Effect.gen(function* () {
      const { email, headers } = yield* newSession
      const others = yield* signIn(email)
      const statuses = []
      for (let turn = 0; turn < 12; turn++) {
        const from = { ...headers, "x-forwarded-for": `203.0.113.${turn}` }
        statuses.push((yield* change(from, { currentPassword: "not it" })).status)
      }
      expect(statuses).toContain(429)
      expect((yield* change(others)).status).toBe(204)
    })
  )
})

/** What is asked for with a body, by who has just made the link `mine`; and what else must be there to ask. */
const bodied: ReadonlyArray<readonly [method: string, path: string, body: object]> = [
  ["POST", "/api/v1/api-keys", { name: "left behind", scopes: ["links:read"] }],
  ["POST", "/api/v1/webhooks", { url: "https://hooks.example/", events: ["link.created"] }],
  ["POST", "/api/v1/links", { url: "https://example.com/left-behind" }],
  ["POST", "/api/v1/links", { url: "https://example.com/left-behind", alias: "left-behind" }],
  ["POST", "/api/v1/links/bulk", { links: [{ url: "https://example.com/left-behind" }] }],
  ["POST", "/api/v1/links/bulk-edit", { filter: {}, change: { url: "https://example.com/left-behind" } }],
  ["PATCH", "/api/v1/links/KEY", { url: "https://example.com/left-behind" }],
  ["PUT", "/api/v1/me/password", { currentPassword: password, password: other }]
]

withService(
  "who is nobody any more when the body of a request has come",
  { anonymousCreates: false },
  (it) => {
    /** Sends half of a request, has something done, and sends the rest: the status of the answer. */
    const meanwhile = (
      [method, path, body]: readonly [string, string, object],
      headers: Readonly<Record<string, string>>,
      act: Effect.Effect<unknown, NoAnswer, TestService>
    ) =>
      Effect.gen(function* () {
        const { port } = yield* TestService
        const connection = yield* RawConnection.open(port)
        const fields = { ...headers, "content-type": "application/json" }
        const [first, rest] = RawConnection.inHalves(method, path, fields, JSON.stringify(body))
        yield* connection.write(first)
        // The service has asked who that is, and waits for the rest.
        yield* get("/health/live")
        yield* act
        // By then every node knows what has ended.
        yield* after(1_000)
        yield* connection.write(rest)
        return Number((yield* connection.heard(/^HTTP\/1\.1 \d+ /)).slice(9, 12))
      }).pipe(Effect.scoped)

    for (const asked of bodied) {
      const [method, path] = asked
      it.effect(`may not ${method} ${path} with a session that has ended`, () =>
        Effect.gen(function* () {
          const { headers } = yield* newSession
          const own = { ...headers, "sec-fetch-site": "same-origin" }
          const made = yield* create({ url: "https://example.com/mine" }, own)
          const { key } = jsonOf(made) as { readonly key: string }
          const request = [method, path.replace("KEY", key), asked[2]] as const
          expect(yield* meanwhile(request, own, ask("DELETE", "/api/v1/session", own))).toBe(401)
          const after = yield* ask("GET", "/api/v1/links?limit=20", asAdmin)
          expect(after.text).not.toContain("left-behind")
        })
      )
    }

    it.effect.each([0, -5_000])(
      "may not make a link with a key that was revoked, while the clock jumps by %i ms",
      (by_ms) =>
        Effect.gen(function* () {
          const { clock } = yield* TestService
          const { headers, id } = yield* newKey({ scopes: ["links:write"] })
          // Now the node knows the key.
          expect((yield* create({ url: "https://example.com/" }, headers)).status).toBe(201)
          const revoke = Effect.zipRight(
            ask("DELETE", `/api/v1/api-keys/${id}`, asAdmin),
            Effect.sync(() => clock.jump(by_ms))
          )
          const asked = meanwhile(["POST", "/api/v1/links", { url: "https://example.com/" }], headers, revoke)
          expect(
            yield* Effect.ensuring(
              asked,
              Effect.sync(() => clock.jump(0))
            )
          ).toBe(401)
        })
    )
  }
)

withService("who signs in with a password that somebody else chose", {}, (it) => {
  it.effect("may do nothing but choose another one, and sign out", () =>
    Effect.gen(function* () {
      const { accounts } = yield* TestService
      const { email, id } = yield* newUser()
      const { passwordHash } = (yield* accounts.userById(id))!
      const drawn = { passwordHash: passwordHash!, passwordIsTemporary: true, revokesKeys: false, at: 0 }
      yield* accounts.setPassword(id, drawn)
      const headers = yield* signIn(email)
      expect(jsonOf(yield* me(headers))).toMatchObject({ passwordChangeRequired: true })
      const refused = [
        ["POST", "/api/v1/links"],
        ["GET", "/api/v1/links"],
        ["GET", "/api/v1/stats"],
        ["POST", "/api/v1/api-keys"],
        ["GET", "/api/v1/api-keys"],
        ["GET", "/api/v1/sessions"],
        ["DELETE", "/api/v1/sessions"],
        ["GET", "/api/v1/webhooks"],
        ["POST", "/api/v1/users"],
        ["GET", "/api/v1/cluster"]
      ] as const
      for (const [method, path] of refused) {
        const answer = method === "POST" ? yield* post(path, {}, headers) : yield* ask(method, path, headers)
        expectProblem(answer, "password-change-required")
      }
      const { pair } = cookieOf((yield* change(headers)).headers["set-cookie"])
      const own = { cookie: pair }
      expect(jsonOf(yield* me(own))).toMatchObject({ passwordChangeRequired: false })
      expect((yield* ask("GET", "/api/v1/links", own)).status).toBe(200)
      expect((yield* ask("DELETE", "/api/v1/session", own)).status).toBe(204)
    })
  )
})
