import { expect } from "@effect/vitest"
import { Effect } from "effect"
import {
  ask,
  asAdmin,
  newKey,
  newSession,
  newUser,
  password,
  post,
  signIn
} from "../../support/samples/Account.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem, type ExpectedFault } from "../../support/http/Problems.ts"
import { TestService, withService } from "../../support/TestService.ts"

let count = 0
const freshEmail = () => `fresh-${count++}@example.com`

withService("a user", {}, (it) => {
  it.effect("is added by the administrator, and shown without the password", () =>
    Effect.gen(function* () {
      const answer = yield* post(
        "/api/v1/users",
        { email: "Ada@Example.com", password, firstName: "Ada", middleName: "King", lastName: "Łovelace" },
        asAdmin
      )
      expect(answer.status).toBe(201)
      expect(answer.headers["cache-control"]).toBe("no-store")
      expect(jsonOf(answer)).toEqual({
        id: expect.stringMatching(/^usr_[A-Za-z0-9_-]{16}$/),
        email: "Ada@Example.com",
        firstName: "Ada",
        middleName: "King",
        lastName: "Łovelace",
        admin: false,
        createdAt: "2026-11-21T10:00:00.000Z",
        updatedAt: "2026-11-21T10:00:00.000Z",
        lastLoginAt: null,
        disabledAt: null
      })
    })
  )

  it.effect("needs no names", () =>
    Effect.map(post("/api/v1/users", { email: freshEmail(), password }, asAdmin), (answer) =>
      expect(jsonOf(answer)).toMatchObject({ firstName: null, middleName: null, lastName: null })
    )
  )

  it.effect("is not added by the anonymous, nor by who is no administrator", () =>
    Effect.gen(function* () {
      const body = { email: "never@example.com", password }
      expectProblem(yield* post("/api/v1/users", body), "unauthorized")
      const { headers } = yield* newSession
      expectProblem(yield* post("/api/v1/users", body, headers), "forbidden")
      const key = yield* newKey({ scopes: ["links:read", "links:write", "stats:read"] })
      expectProblem(yield* post("/api/v1/users", body, key.headers), "forbidden")
      // Nothing was stored: the address is still to be had.
      expect((yield* post("/api/v1/users", body, asAdmin)).status).toBe(201)
    })
  )

  it.effect("is not added a second time, in whatever case", () =>
    Effect.gen(function* () {
      const { email } = yield* newUser()
      const again = yield* post("/api/v1/users", { email: email.toUpperCase(), password }, asAdmin)
      expectProblem(again, "email-taken", [["email", "belongs to an account already"]])
    })
  )

  const refused: ReadonlyArray<readonly [string, unknown, ...ReadonlyArray<ExpectedFault>]> = [
    ["no e-mail address", { password }, ["email", "is required"]],
    ["no password", { email: "a@example.com" }, ["password", "is required"]],
    [
      "an unknown field",
      { email: "a@example.com", password, admin: true },
      ["admin", "is not a known field"]
    ],
    ["names that are no text", { email: "a@b.c", password, firstName: 1 }, ["firstName", "must be a string"]],
    [
      "an empty name",
      { email: "a@b.c", password, lastName: "" },
      ["lastName", "must have 1 to 100 characters"]
    ],
    [
      "a name of 101 characters",
      { email: "a@b.c", password, middleName: "x".repeat(101) },
      ["middleName", "must have 1 to 100 characters"]
    ],
    [
      "a password of 11 characters",
      { email: "a@example.com", password: "😀".repeat(11) },
      ["password", "must have 12 to 128 characters"]
    ],
    [
      "a password of 129 characters",
      { email: "a@example.com", password: "x".repeat(129) },
      ["password", "must have 12 to 128 characters"]
    ],
    [
      "a password that is a number",
      { email: "a@example.com", password: 12345678 },
      ["password", "must be a string"]
    ],
    [
      "a password with half a character",
      { email: "a@example.com", password: "123456789012\ud800" },
      ["password", "must have 12 to 128 characters"]
    ],
    ["several faults", { email: "a", x: 1 }, ["password", /./], ["email", /./], ["x", /./]],
    ["a list", [], ["", "The body must be a JSON object."]]
  ]
  for (const [what, body, ...faults] of refused) {
    it.effect(`is not added with ${what}`, () =>
      Effect.map(post("/api/v1/users", body, asAdmin), (answer) => {
        const sorted = faults.toSorted(([one], [other]) => (one < other ? -1 : 1))
        const listed = (
          jsonOf(answer) as { readonly errors: ReadonlyArray<{ path: string; message: string }> }
        ).errors
        expect(answer.status).toBe(400)
        expect(listed.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual(
          sorted.map(([path, message]) => ({ path, message: expect.stringMatching(message) }))
        )
      })
    )
  }

  for (const email of [
    "",
    "a",
    "@example.com",
    "a@",
    "a b@example.com",
    "a@example..com",
    "a@-example.com",
    "a@exa mple.com",
    "ä@example.com",
    "a@example.com\n",
    `${"a".repeat(251)}@b.c`
  ]) {
    it.effect(`is not added with the e-mail address ${JSON.stringify(email.slice(0, 40))}`, () =>
      Effect.map(post("/api/v1/users", { email, password }, asAdmin), (answer) => {
        expect(answer.status).toBe(400)
        expect(jsonOf(answer)).toMatchObject({ errors: [{ path: "email" }] })
      })
    )
  }

  it.effect("is not added with a body that is too large, or no JSON", () =>
    Effect.gen(function* () {
      const large = { email: freshEmail(), password, firstName: "x".repeat(70_000) }
      expectProblem(yield* post("/api/v1/users", large, asAdmin), "payload-too-large")
      const form = { ...asAdmin, "content-type": "application/x-www-form-urlencoded" }
      expectProblem(yield* post("/api/v1/users", "email=a", form), "unsupported-media-type")
      expect((yield* post("/api/v1/users", "{", asAdmin)).status).toBe(400)
    })
  )

  it.effect("cannot be added while the store is away", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* setFault("accounts", "fails")
      const answer = yield* post("/api/v1/users", { email: freshEmail(), password }, asAdmin)
      yield* setFault("accounts", "none")
      expectProblem(answer, "unavailable")
    })
  )
})

withService("where sign-up is open, a user", { signUp: true, trustedProxies: "127.0.0.1" }, (it) => {
  it.effect("is added by the anonymous, and is no administrator", () =>
    Effect.gen(function* () {
      const email = freshEmail()
      const answer = yield* post("/api/v1/users", { email, password })
      expect(answer.status).toBe(202)
      expect(jsonOf(answer)).toEqual({ email })
      const me = yield* ask("GET", "/api/v1/me", yield* signIn(email))
      expect(jsonOf(me)).toMatchObject({ email, admin: false })
    })
  )

  it.effect("is not told whether somebody has the e-mail address already", () =>
    Effect.gen(function* () {
      const { accounts } = yield* TestService
      const { email: taken } = yield* newUser()
      let free = ""
      const before = yield* accounts.userByEmail(taken)
      const other = "another horse, another battery"
      const reader = yield* newKey({ scopes: ["links:read"] })
      for (const headers of [{}, reader.headers]) {
        const answers = []
        free = freshEmail()
        for (const email of [taken, free]) {
          const answer = yield* post("/api/v1/users", { email, password: other, firstName: "Eve" }, headers)
          const { date, "x-request-id": id, ...shown } = answer.headers
          expect([typeof date, typeof id]).toEqual(["string", "string"])
          answers.push({ status: answer.status, text: answer.text.replace(email, ""), shown })
        }
        expect(answers[0]!.status).toBe(202)
        const { "content-length": _, ...shown } = answers[0]!.shown
        expect(answers[1]).toMatchObject({ ...answers[0], shown })
      }
      expect(yield* accounts.userByEmail(taken)).toEqual(before)
      expect((yield* post("/api/v1/session", { email: free, password: other })).status).toBe(204)
      const toAdmin = yield* post("/api/v1/users", { email: taken, password }, asAdmin)
      expectProblem(toAdmin, "email-taken", [["email", "belongs to an account already"]])
    })
  )

  it.effect("is not added without limit by one client", () =>
    Effect.gen(function* () {
      const from = { "x-forwarded-for": "198.51.100.7" }
      for (let turn = 0; turn < 30; turn++) {
        const { status } = yield* post("/api/v1/users", { email: freshEmail(), password }, from)
        expect(status).toBe(202)
      }
      const refused = yield* post("/api/v1/users", { email: freshEmail(), password }, from)
      expectProblem(refused, "rate-limited")
      expect(refused.headers).toMatchObject({ "retry-after": "2", "ratelimit-limit": "30" })
      const other = { "x-forwarded-for": "198.51.100.8" }
      expect((yield* post("/api/v1/users", { email: freshEmail(), password }, other)).status).toBe(202)
    })
  )
})

withService("who the caller is", {}, (it) => {
  it.effect("is told to the administrator", () =>
    Effect.map(ask("GET", "/api/v1/me", asAdmin), (answer) => {
      expect(answer.status).toBe(200)
      expect(jsonOf(answer)).toMatchObject({
        id: "admin",
        email: "admin@localhost",
        admin: true,
        scopes: ["links:read", "links:write", "stats:read", "admin"],
        quotas: { createsPerMinute: null, redirectsPerDay: null }
      })
    })
  )

  it.effect("is told to who has signed in, with the login, and to a key with its scopes", () =>
    Effect.gen(function* () {
      const { email, headers, id } = yield* newSession
      const me = jsonOf(yield* ask("GET", "/api/v1/me", headers))
      expect(me).toMatchObject({ id, email, admin: false, lastLoginAt: "2026-11-21T10:00:00.000Z" })
      expect(me).toMatchObject({ scopes: ["links:read", "links:write", "stats:read"] })
      const key = yield* newKey({ scopes: ["stats:read"] }, headers)
      expect(jsonOf(yield* ask("GET", "/api/v1/me", key.headers))).toMatchObject({
        id,
        scopes: ["stats:read"]
      })
    })
  )

  it.effect("is not told to the anonymous", () =>
    Effect.map(ask("GET", "/api/v1/me"), (answer) => expectProblem(answer, "unauthorized"))
  )
})
