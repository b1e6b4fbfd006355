import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { AuditEntry } from "../../../src/storage/accounts/AuditLog.ts"
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
import { expectProblem } from "../../support/http/Problems.ts"
import {
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

/** What is in the log of what was done by a user or to what is theirs, the oldest first: of each who, what, what to and how often. */
const logOf = (user: string) =>
  Effect.gen(function* () {
    const { audit } = yield* TestService
    const entries = yield* audit.list({ user, limit: 100 })
    return new Map(entries.map((entry) => [entry.action, entry]))
  })

const inLog = (entry: AuditEntry | undefined) =>
  entry && [entry.doer.by, entry.doer.userId, entry.target, entry.owner, entry.count]

withService("the audit log", { trustedProxies: "127.0.0.1" }, (it) => {
  it.effect("has sign-ins, those that were refused too, and sign-outs", () =>
    Effect.gen(function* () {
      const { audit } = yield* TestService
      const { email, id } = yield* newUser()
      for (let turn = 0; turn < 3; turn++) {
        yield* post("/api/v1/session", { email, password: `${password}x` })
      }
      yield* post("/api/v1/session", { email: "who-is-that@example.com", password })
      yield* ask("DELETE", "/api/v1/session", yield* signIn(email))
      const log = yield* logOf(id)
      expect(log.size).toBe(4)
      expect(inLog(log.get("user.added"))).toEqual(["admin-key", "admin", id, id, 1])
      expect(inLog(log.get("session.refused"))).toEqual(["nothing", null, id, id, 3])
      expect(inLog(log.get("session.begun"))).toEqual(["session", id, id, id, 1])
      expect(inLog(log.get("session.ended"))).toEqual(["session", id, id, id, 1])
      expect(log.get("session.begun")!.at).toBe(startOfTests_ms)
      expect(log.get("session.begun")!.doer.client).toMatch(/^[A-Za-z0-9_-]{43}$/)
      // What was typed as an address is nowhere.
      const all = yield* audit.list({ limit: 1_000 })
      expect(all.some(({ action, target }) => action === "session.refused" && target === null)).toBe(true)
      expect(JSON.stringify(all)).not.toContain("@")
    })
  )

  it.effect("knows clients by hashes alone, which are the same for the same client", () =>
    Effect.gen(function* () {
      const { audit } = yield* TestService
      const { email, id } = yield* newUser()
      const logIn = (client: string) =>
        post("/api/v1/session", { email, password }, { "x-forwarded-for": client })
      for (const client of ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"]) yield* logIn(client)
      const entries = yield* audit.list({ user: id, action: "session.begun", limit: 10 })
      expect(entries.map(({ count }) => count).toSorted()).toEqual([1, 1, 2])
      for (const { doer } of entries) expect(doer.client).toMatch(/^[A-Za-z0-9_-]{43}$/)
    })
  )

  it.effect("has who made and revoked API keys, and by what", () =>
    Effect.gen(function* () {
      const { headers, id } = yield* newSession
      const { id: own } = yield* newKey({ scopes: ["links:read"] }, headers)
      expect(inLog((yield* logOf(id)).get("key.added"))).toEqual(["session", id, own, id, 1])
      const admin = yield* newKey({ scopes: ["admin"] })
      expect((yield* ask("DELETE", `/api/v1/api-keys/${own}`, admin.headers)).status).toBe(204)
      const revoked = (yield* logOf(id)).get("key.revoked")
      expect(inLog(revoked)).toEqual(["api-key", "admin", own, id, 1])
      expect(revoked!.doer.keyId).toBe(admin.id)
      expectProblem(yield* ask("DELETE", `/api/v1/api-keys/${own}`, headers), "not-found")
      expect((yield* logOf(id)).get("key.revoked")!.count).toBe(1)
    })
  )

  it.effect("has who made and removed webhooks", () =>
    Effect.gen(function* () {
      const { headers, id } = yield* newSession
      const body = { url: "https://receiver.example/hook", events: ["link.created"] }
      const made = jsonOf(yield* post("/api/v1/webhooks", body, headers)) as { readonly id: string }
      expect((yield* ask("DELETE", `/api/v1/webhooks/${made.id}`, asAdmin)).status).toBe(204)
      const log = yield* logOf(id)
      expect(inLog(log.get("webhook.added"))).toEqual(["session", id, made.id, id, 1])
      expect(inLog(log.get("webhook.removed"))).toEqual(["admin-key", "admin", made.id, id, 1])
    })
  )

  it.effect("has what administrators do to links of others, and nothing of what users do to their own", () =>
    Effect.gen(function* () {
      const { audit } = yield* TestService
      const url = "https://example.com/"
      const make = (key: string, alias: string) => withKey(key, "POST", "/api/v1/links", { url, alias })
      yield* make(userKeys.one, "audited")
      yield* make(userKeys.one, "not-audited")
      yield* create({ url, alias: "audited-nobody" })
      yield* withKey(userKeys.one, "PATCH", "/api/v1/links/audited", { title: "t" })
      yield* withKey(userKeys.one, "DELETE", "/api/v1/links/not-audited")
      expectProblem(yield* withKey(userKeys.other, "DELETE", "/api/v1/links/audited"), "not-found")
      expect((yield* logOf("usr_one")).size).toBe(0)
      const patch = { method: "PATCH", path: "/api/v1/links/audited", body: JSON.stringify({ title: "t" }) }
      const json = { "content-type": "application/json" }
      const { send } = yield* TestService
      expect((yield* send({ ...patch, headers: { ...asAdmin, ...json } })).status).toBe(200)
      expect((yield* ask("DELETE", "/api/v1/links/audited", asAdmin)).status).toBe(204)
      const log = yield* logOf("usr_one")
      expect(inLog(log.get("link.changed"))).toEqual(["admin-key", "admin", "audited", "usr_one", 1])
      expect(inLog(log.get("link.deleted"))).toEqual(["admin-key", "admin", "audited", "usr_one", 1])
      yield* ask("DELETE", "/api/v1/links/audited-nobody", asAdmin)
      const [newest] = yield* audit
        .list({ action: "link.deleted", limit: 10 })
        .pipe(Effect.map((entries) => entries.filter(({ owner }) => owner === null)))
      expect(inLog(newest)).toEqual(["admin-key", "admin", "audited-nobody", null, 1])
    })
  )

  it.effect("that cannot be written leaves sign-ins and takedowns undone", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      const { email } = yield* newUser()
      yield* create({ url: "https://example.com/", alias: "stays-up" })
      yield* setFault("audit", "fails")
      yield* Effect.gen(function* () {
        for (const tried of [password, `${password}x`]) {
          const answer = yield* post("/api/v1/session", { email, password: tried })
          expectProblem(answer, "unavailable")
          expect(answer.headers["set-cookie"]).toBeUndefined()
        }
        expectProblem(yield* ask("DELETE", "/api/v1/links/stays-up", asAdmin), "unavailable")
        expect((yield* get("/stays-up")).status).toBe(302)
      }).pipe(Effect.ensuring(setFault("audit", "none")))
    })
  )
})
