import { describe, expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import * as Accounts from "../../src/accounts/Accounts.ts"
import { stranger } from "../../src/model/Audit.ts"
import * as Sessions from "../../src/accounts/Sessions.ts"
import { AdminKey } from "../../src/accounts/AdminKey.ts"
import * as Passwords from "../../src/accounts/Passwords.ts"
import { AccountStore } from "../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreMemory from "../../src/sim/stores/AccountStoreMemory.ts"
import { AuditLog } from "../../src/storage/accounts/AuditLog.ts"
import * as AuditLogMemory from "../../src/sim/stores/AuditLogMemory.ts"
import { keyOf, userOf } from "../support/samples/SomeWebhooks.ts"

/** Accounts over a store of their own. Its clock is the test's. */
const layerOver = (passwords: Layer.Layer<Passwords.Passwords>) =>
  Accounts.layer.pipe(
    Layer.provideMerge(Sessions.layer({ idle: Duration.hours(24) })),
    Layer.provide(AuditLogMemory.layer),
    Layer.provideMerge(AccountStoreMemory.layer),
    Layer.provideMerge(passwords),
    Layer.provide(Layer.succeed(AdminKey, { digest: "0".repeat(64), drawn: Option.none() }))
  )

const layer = layerOver(Passwords.layer)

const doer = stranger(null)

const client = { browser: "Firefox", os: "Linux", hash: null }

const given = { passwordIsTemporary: false, revokesKeys: false }

/** A user whose password was hashed as it is, before there was a policy. */
const userWith = (password: string) =>
  Effect.gen(function* () {
    const user = userOf("usr_old")
    const passwordHash = yield* (yield* Passwords.Passwords).hash(Redacted.make(password))
    yield* (yield* AccountStore).addUser({ ...user, passwordHash })
    return user
  })

const signsIn = (email: string, password: string) =>
  Effect.gen(function* () {
    const { logIn } = yield* Accounts.Accounts
    return (yield* logIn(email, Redacted.make(password), client, null)) !== null
  })

describe("a password", () => {
  for (const password of ["short", "12345678", "e\u0301le\u0301phant"]) {
    it.effect(`that was set before there was a policy still signs in: ${JSON.stringify(password)}`, () =>
      Effect.gen(function* () {
        const { email } = yield* userWith(password)
        expect(yield* signsIn(email, password)).toBe(true)
        expect(yield* signsIn(email, `${password}x`)).toBe(false)
      }).pipe(Effect.provide(layer))
    )
  }

  it.effect("that is set for a user ends the sessions, and the API keys where that is asked for", () =>
    Effect.gen(function* () {
      const { email, id } = yield* userWith("the one before")
      const { logIn, setPassword } = yield* Accounts.Accounts
      const store = yield* AccountStore
      yield* store.addKey(keyOf("key_a", id), 10)
      const set = (password: string, revokesKeys: boolean) =>
        setPassword(email, Redacted.make(password), doer, { passwordIsTemporary: false, revokesKeys })
      yield* logIn(email, Redacted.make("the one before"), client, null)
      yield* set("kq7 vd2 xw9 zz1", false)
      expect(yield* store.sessionsOf(id)).toEqual([])
      expect(yield* store.keysOf(id)).toHaveLength(1)
      yield* set("kq7 vd2 xw9 zz2", true)
      expect(yield* store.keysOf(id)).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  it.effect("that was set while its user changed the one before stays", () => {
    let meanwhile: Effect.Effect<unknown, unknown> = Effect.void
    /** The one before has been verified by then, and the next is not set. */
    const passwords = Effect.map(Passwords.make, ({ hash, ...others }) => ({
      ...others,
      hash: (...asked: Parameters<typeof hash>) => {
        const first = meanwhile
        meanwhile = Effect.void
        return Effect.zipRight(Effect.ignore(first), hash(...asked))
      }
    }))
    return Effect.gen(function* () {
      const { email, id } = yield* userWith("the one before")
      const { changePassword, setPassword } = yield* Accounts.Accounts
      meanwhile = setPassword(email, Redacted.make("kq7 vd2 xw9 zz1"), doer, given)
      const change = {
        current: Redacted.make("the one before"),
        password: Redacted.make("kq7 vd2 xw9 zz2"),
        revokesKeys: true
      }
      expect(yield* changePassword(id, change, client)).toBeNull()
      expect(yield* (yield* AccountStore).sessionsOf(id)).toEqual([])
      expect(yield* signsIn(email, "kq7 vd2 xw9 zz1")).toBe(true)
    }).pipe(Effect.provide(layerOver(Layer.effect(Passwords.Passwords, passwords))))
  })

  it.effect("signs in however a keyboard writes it, and to its last character", () =>
    Effect.gen(function* () {
      const { addUser } = yield* Accounts.Accounts
      const names = { firstName: null, middleName: null, lastName: null }
      const password = `caf\u00e9 ${"kq7 vd2 xw9 ".repeat(10)}xyz`
      expect(Array.from(password)).toHaveLength(128)
      yield* addUser({ email: "a@example.com", password: Redacted.make(password), ...names }, doer)
      expect(yield* signsIn("a@example.com", password)).toBe(true)
      expect(yield* signsIn("a@example.com", password.normalize("NFD"))).toBe(true)
      expect(yield* signsIn("a@example.com", password.slice(0, -1))).toBe(false)
      expect(yield* signsIn("a@example.com", `${password.slice(0, -1)}w`)).toBe(false)
    }).pipe(Effect.provide(layer))
  )

  it.effect("that the policy refuses is set neither at first nor later", () =>
    Effect.gen(function* () {
      const { email } = yield* userWith("short")
      const accounts = yield* Accounts.Accounts
      const weak = Redacted.make("password2026")
      const names = { firstName: null, middleName: null, lastName: null }
      const draft = { email: "b@example.com", password: weak, ...names }
      const added = yield* Effect.flip(accounts.addUser(draft, doer))
      expect(added._tag).toBe("PasswordRefused")
      expect((yield* Effect.flip(accounts.setPassword(email, weak, doer, given)))._tag).toBe(
        "PasswordRefused"
      )
      expect(yield* signsIn(email, "short")).toBe(true)
    }).pipe(Effect.provide(layer))
  )
})

describe("whether there is an account", () => {
  /** What hashing and recording an effect has cost. */
  const costOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const before = yield* Counts
      const [hashed, verified, written] = [before.hashed, before.verified, before.written]
      yield* effect
      return [before.hashed - hashed, before.verified - verified, before.written - written]
    })

  class Counts extends Context.Reference<Counts>()("test/Counts", {
    defaultValue: () => ({ hashed: 0, verified: 0, written: 0 })
  }) {}

  const counted = Layer.effect(
    Passwords.Passwords,
    Effect.gen(function* () {
      const counts = yield* Counts
      const { hash, verify } = yield* Passwords.make
      return Passwords.Passwords.of({
        hash: (password) => Effect.tap(hash(password), () => Effect.sync(() => counts.hashed++)),
        verify: (stored, password) =>
          Effect.tap(verify(stored, password), () => Effect.sync(() => counts.verified++))
      })
    })
  )

  const countedLog = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const counts = yield* Counts
      const log = yield* AuditLog
      return AuditLog.of({
        ...log,
        recording: (act, eventsOf) =>
          Effect.map(log.recording(act, eventsOf), (result) => {
            counts.written += eventsOf(result).length
            return result
          })
      })
    })
  ).pipe(Layer.provide(AuditLogMemory.layer))

  const countedLayer = Accounts.layer.pipe(
    Layer.provideMerge(Sessions.layer({ idle: Duration.hours(24) })),
    Layer.provide(countedLog),
    Layer.provideMerge(AccountStoreMemory.layer),
    Layer.provideMerge(counted),
    Layer.provide(Layer.succeed(AdminKey, { digest: "0".repeat(64), drawn: Option.none() }))
  )

  it.effect("is told neither at sign-up nor at sign-in by the work that is done", () =>
    Effect.gen(function* () {
      const { addUser, logIn } = yield* Accounts.Accounts
      const names = { firstName: null, middleName: null, lastName: null }
      const password = Redacted.make("correct horse battery staple")
      const signUp = addUser({ email: "a@example.com", password, ...names }, doer)
      expect(yield* costOf(signUp)).toEqual([1, 0, 1])
      expect(yield* costOf(signUp)).toEqual([1, 0, 1])
      for (const wrong of ["not the password", "not the p\u00e4ssword".normalize("NFD")]) {
        const tried = (email: string) => costOf(logIn(email, Redacted.make(wrong), client, null))
        expect(yield* tried("nobody@example.com")).toEqual(yield* tried("a@example.com"))
      }
    }).pipe(Effect.provide(countedLayer))
  )
})
