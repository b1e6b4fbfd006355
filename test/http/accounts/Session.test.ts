import { expect } from "@effect/vitest"
import { Effect } from "effect"
import {
  ask,
  asAdmin,
  cookieOf,
  newClient,
  newSession,
  newUser,
  password,
  post,
  signIn
} from "../../support/samples/Account.ts"
import { type Answer, jsonOf, type Request } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { TestService, withService } from "../../support/TestService.ts"

const me = (headers: Request["headers"]) => ask("GET", "/api/v1/me", headers)
const logIn = (email: string, secret = password, headers: Request["headers"] = {}) =>
  post("/api/v1/session", { email, password: secret }, headers)

withService("a session", {}, (it) => {
  it.effect("begins with the right password, in a cookie that scripts and other sites cannot use", () =>
    Effect.gen(function* () {
      const { email, id } = yield* newUser()
      const answer = yield* logIn(email.toUpperCase())
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" })
      expect(answer.headers["cache-control"]).toBe("no-store")
      const { attributes, pair } = cookieOf(answer.headers["set-cookie"])
      expect(pair).toMatch(/^linkmint_session=[A-Za-z0-9_-]{43}$/)
      expect(attributes).toEqual(["httponly", "max-age=1209600", "path=/", "samesite=lax"])
      expect(jsonOf(yield* me({ cookie: pair }))).toMatchObject({ id })
    })
  )

  it.effect("does not begin with a wrong password or address, and nothing tells which it was", () =>
    Effect.gen(function* () {
      const { email } = yield* newUser()
      const wrong = [
        yield* logIn(email, `${password}x`),
        yield* logIn("nobody@example.com"),
        yield* logIn("no address"),
        yield* logIn("admin@localhost")
      ]
      for (const answer of wrong) {
        expectProblem(answer, "unauthorized")
        expect(answer.headers["set-cookie"]).toBeUndefined()
        expect(answer.text).toBe(wrong[0]!.text)
      }
    })
  )

  it.effect("does not begin with a body that is not right", () =>
    Effect.gen(function* () {
      const send = (body: unknown) => post("/api/v1/session", body)
      expectProblem(yield* send({ email: "a@b.c" }), "invalid-request", [["password", "is required"]])
      expectProblem(yield* send({ email: 1, password }), "invalid-request", [["email", "must be a string"]])
      expectProblem(yield* send({ email: "a@b.c", password: "x".repeat(129) }), "invalid-request", [
        ["password", "must have 1 to 128 characters"]
      ])
      const form = { "content-type": "application/x-www-form-urlencoded" }
      expectProblem(yield* post("/api/v1/session", "email=a", form), "unsupported-media-type")
      expectProblem(yield* send({ email: "a".repeat(70_000), password }), "payload-too-large")
    })
  )

  it.effect("ends when it is told to, and the cookie with it", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const answer = yield* ask("DELETE", "/api/v1/session", headers)
      expect(answer.status).toBe(204)
      const { attributes, pair } = cookieOf(answer.headers["set-cookie"])
      expect(pair).toBe("linkmint_session=")
      expect(attributes).toContain("max-age=0")
      expectProblem(yield* me(headers), "unauthorized")
      expect((yield* ask("DELETE", "/api/v1/session", headers)).status).toBe(204)
      expect((yield* ask("DELETE", "/api/v1/session")).status).toBe(204)
    })
  )

  it.effect("ends after 14 days", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const { headers } = yield* newSession
      const begun = yield* clock.currentTimeMillis
      for (let hours = 23; hours < 14 * 24; hours += 23) {
        clock.set(begun + hours * 3_600_000)
        expect((yield* me(headers)).status).toBe(200)
      }
      clock.set(begun + 14 * 86_400_000 - 1)
      expect((yield* me(headers)).status).toBe(200)
      clock.set(begun + 14 * 86_400_000)
      expectProblem(yield* me(headers), "unauthorized")
      clock.set(begun)
    })
  )

  it.effect("is one of twenty of a user at most", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const { email, headers } = yield* newSession
      const begun = yield* clock.currentTimeMillis
      let newest = headers
      for (let turn = 1; turn <= 20; turn++) {
        // Ten tries a minute, and an order among the sessions.
        clock.set(begun + turn * 60_000)
        newest = yield* signIn(email)
      }
      expect((yield* me(newest)).status).toBe(200)
      expectProblem(yield* me(headers), "unauthorized")
      clock.set(begun)
    })
  )

  it.effect("may do all that the user may, and no more", () =>
    Effect.gen(function* () {
      const { headers } = yield* newSession
      const created = yield* post("/api/v1/links", { url: "https://example.com/" }, headers)
      expect(created.status).toBe(201)
      const { key } = jsonOf(created) as { readonly key: string }
      expect((yield* ask("GET", `/api/v1/links/${key}`, headers)).status).toBe(200)
      expect((yield* ask("DELETE", `/api/v1/links/${key}`, headers)).status).toBe(204)
      const others = yield* post("/api/v1/links", { url: "https://example.com/" }, asAdmin)
      const { key: othersKey } = jsonOf(others) as { readonly key: string }
      expect((yield* ask("GET", `/api/v1/links/${othersKey}`, asAdmin)).status).toBe(200)
    })
  )

  it.effect("that nobody has is refused even where none is needed; a key counts before it", () =>
    Effect.gen(function* () {
      const unknown = { cookie: `linkmint_session=${"A".repeat(43)}` }
      const body = { url: "https://example.com/" }
      expectProblem(yield* post("/api/v1/links", body, unknown), "unauthorized")
      expectProblem(yield* post("/api/v1/links", body, { cookie: "linkmint_session=x" }), "unauthorized")
      expect((yield* post("/api/v1/links", body, { cookie: "linkmint_session=; a=b" })).status).toBe(201)
      expect((yield* post("/api/v1/links", body, { ...unknown, ...asAdmin })).status).toBe(201)
    })
  )

  it.effect("cannot be known while the store is away", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      const { email, headers } = yield* newSession
      yield* setFault("accounts", "fails")
      const answers = [
        yield* me(headers),
        yield* logIn(email),
        yield* ask("DELETE", "/api/v1/session", headers)
      ]
      yield* setFault("accounts", "none")
      answers.forEach((answer) => expectProblem(answer, "unavailable"))
      expect((yield* me(headers)).status).toBe(200)
    })
  )
})

/** Requests as browsers send them from elsewhere, and as they are sent from here. */
const foreign: ReadonlyArray<Request["headers"]> = [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site", origin: "http://localhost" },
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://127.0.0.1.evil.example" }
]
const own: ReadonlyArray<Request["headers"]> = [
  {},
  { "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
  { "sec-fetch-site": "same-origin", origin: "https://evil.example" }
]

withService("a request that changes something", {}, (it) => {
  for (const headers of foreign) {
    const what = JSON.stringify(headers)
    it.effect(`has no session when it comes from another site: ${what}`, () =>
      Effect.gen(function* () {
        const session = yield* newSession
        const all = { ...session.headers, ...headers }
        expectProblem(yield* post("/api/v1/links", { url: "https://example.com/" }, all), "forbidden")
        expectProblem(
          yield* post("/api/v1/api-keys", { name: "x", scopes: ["links:read"] }, all),
          "forbidden"
        )
        expectProblem(yield* ask("DELETE", "/api/v1/session", all), "forbidden")
        expectProblem(yield* logIn(session.email, password, headers), "forbidden")
        // What it may read, the browser does not show to the other site.
        expect((yield* me(all)).status).toBe(200)
        // Whoever has a key needs no cookie.
        const withKey = { ...all, ...asAdmin }
        expect((yield* post("/api/v1/links", { url: "https://example.com/" }, withKey)).status).toBe(201)
      })
    )
  }

  for (const headers of own) {
    it.effect(`has its session when it comes from here: ${JSON.stringify(headers)}`, () =>
      Effect.gen(function* () {
        const session = yield* newSession
        const all = { ...session.headers, ...headers }
        expect((yield* post("/api/v1/links", { url: "https://example.com/" }, all)).status).toBe(201)
      })
    )
  }

  it.effect("has its session when its origin is the host that it was sent to", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      const session = yield* newSession
      for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
        const all = { ...session.headers, origin }
        expect((yield* post("/api/v1/links", { url: "https://example.com/" }, all)).status).toBe(201)
      }
      const other = { ...session.headers, origin: `http://127.0.0.1:${port + 1}` }
      expectProblem(yield* post("/api/v1/links", { url: "https://example.com/" }, other), "forbidden")
    })
  )
})

withService("behind https, a session", { baseUrl: new URL("https://sho.rt") }, (it) => {
  it.effect("is in a cookie that is sent by https alone, and that no other host can set", () =>
    Effect.gen(function* () {
      const { email, id } = yield* newUser()
      const { attributes, pair } = cookieOf((yield* logIn(email)).headers["set-cookie"])
      expect(pair).toMatch(/^__Host-linkmint_session=/)
      expect(attributes).toEqual(["httponly", "max-age=1209600", "path=/", "samesite=lax", "secure"])
      expect(jsonOf(yield* me({ cookie: pair }))).toMatchObject({ id })
      expectProblem(yield* me({ cookie: pair.replace("__Host-", "") }), "unauthorized")
      const all = { cookie: pair, origin: "https://sho.rt" }
      expect((yield* post("/api/v1/links", { url: "https://example.com/" }, all)).status).toBe(201)
    })
  )
})

/** The cookie of a device that a response sets. */
const deviceOf = (answer: Answer) =>
  Effect.sync(() => {
    const cookies =
      answer.headers["set-cookie"]?.filter((cookie) => cookie.startsWith("linkmint_device=")) ?? []
    expect(cookies).toHaveLength(1)
    const [pair = "", ...attributes] = cookies[0]!.split("; ")
    return { pair, attributes: attributes.map((attribute) => attribute.toLowerCase()).toSorted() }
  })

withService("trying passwords", { trustedProxies: "127.0.0.1" }, (it) => {
  const drainBy = (attempt: (turn: number) => Effect.Effect<Answer, unknown, TestService>, times: number) =>
    Effect.gen(function* () {
      for (let turn = 0; turn < times; turn++) expect((yield* attempt(turn)).status).toBe(401)
      const refused = yield* attempt(times)
      expectProblem(refused, "rate-limited")
      return refused
    })

  it.effect("is possible ten times a minute for one account and client", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const { email } = yield* newUser()
      const from = newClient()
      const refused = yield* drainBy(
        (turn) => logIn(turn % 2 === 0 ? email : email.toUpperCase(), "wrong password", from),
        10
      )
      expect(refused.headers).toMatchObject({
        "retry-after": "6",
        "ratelimit-limit": "10",
        "ratelimit-remaining": "0",
        "ratelimit-reset": "60"
      })
      // Not with the right one either: else trying would go on. But from elsewhere.
      expectProblem(yield* logIn(email, password, from), "rate-limited")
      expect((yield* logIn(email, password, newClient())).status).toBe(204)
      clock.set((yield* clock.currentTimeMillis) + 6_000)
      expect((yield* logIn(email, password, from)).status).toBe(204)
    })
  )

  it.effect(
    "is possible fifty times for one account, from however many clients, and never keeps its user out",
    () =>
      Effect.gen(function* () {
        const { email } = yield* newUser()
        const { email: other } = yield* newUser()
        const known = yield* deviceOf(yield* logIn(email, password, newClient()))
        const others = yield* deviceOf(yield* logIn(other, password, newClient()))
        expect(known.attributes).toEqual(["httponly", "max-age=7776000", "path=/", "samesite=strict"])
        yield* drainBy(() => logIn(email, "wrong password", newClient()), 50)
        const at = (device: { readonly pair: string }) => ({ ...newClient(), cookie: device.pair })
        const unknown = [
          newClient(),
          at(others),
          at({ pair: known.pair.slice(0, -1) }),
          at({ pair: known.pair.replace(/\.\d+\./, ".9999999999999.") })
        ]
        for (const headers of unknown) expectProblem(yield* logIn(email, password, headers), "rate-limited")
        expect((yield* logIn(email, password, at(known))).status).toBe(204)
        // A device is known no longer once the password is another one, but for that at which it was changed.
        const next = `${password} and more of it`
        const session = yield* logIn(email, password, at(known))
        const { send } = yield* TestService
        const changed = yield* send({
          method: "PUT",
          path: "/api/v1/me/password",
          headers: {
            cookie: cookieOf(session.headers["set-cookie"]).pair,
            "content-type": "application/json"
          },
          body: JSON.stringify({ currentPassword: password, password: next })
        })
        expect(changed.status).toBe(204)
        expectProblem(yield* logIn(email, next, at(known)), "rate-limited")
        expect((yield* logIn(email, next, at(yield* deviceOf(changed)))).status).toBe(204)
      })
  )

  it.effect("is possible thirty times a minute for one client, with however many accounts", () =>
    Effect.gen(function* () {
      const from = { "x-forwarded-for": "198.51.100.7" }
      yield* drainBy((turn) => logIn(`nobody-${turn}@example.com`, "wrong password", from), 30)
      const { email } = yield* newUser()
      expect((yield* logIn(email, password, { "x-forwarded-for": "198.51.100.8" })).status).toBe(204)
    })
  )
})
