import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { AdminKey } from "../Deployment.ts"
import { Passwords, type PasswordsBusy } from "../Passwords.ts"
import * as FreshCache from "../FreshCache.ts"
import * as Secret from "../Secret.ts"
import { AccountStore, type ApiKey, type User } from "../storage/AccountStore.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { administrator, type KnownCaller, type Limits, type Scope, scopes, signedIn } from "./Access.ts"

/** API keys of one user at most. */
export const keysMax = 100

/** Sessions of one user at most; the oldest end. */
const sessionsMax = 20

/** How long a session lasts. */
export const sessionMax = Duration.days(14)

/** API keys that a node remembers, and for how long: a revoked one ends everywhere within a second, the time of a request included. */
const cachedMax = 10_000
const cachedFor = Duration.millis(750)

/** What a new user is made of. */
export interface UserDraft {
  readonly email: string
  readonly password: Redacted.Redacted
  readonly firstName: string | null
  readonly middleName: string | null
  readonly lastName: string | null
}

/** What a new API key is made of. */
export interface KeyDraft extends Limits {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number | null
}

/** A session that has begun. */
export interface NewSession {
  readonly token: Redacted.Redacted
  readonly user: User
}

/** An API key that was made, with its secret, which nobody can be told again. */
export interface NewKey {
  readonly key: ApiKey
  readonly secret: Redacted.Redacted
}

/**
 * Users and their credentials. Secrets and tokens are drawn with 192 and 256 bits, and looked up by their SHA-256, so that neither the database nor the time
 * of a look-up tells them.
 */
export class Accounts extends Context.Tag("linkmint/Accounts")<
  Accounts,
  {
    /** Whose API key this is; `null` where it is nobody's, or has expired. The administrator's is known without asking a store. */
    readonly ofKey: (secret: Redacted.Redacted) => Effect.Effect<KnownCaller | null, StorageError>
    /** The same without an effect; `undefined` where a store must be asked. */
    readonly ofKeyNow: (secret: Redacted.Redacted) => KnownCaller | null | undefined
    /** Whose session this is; `null` where there is none, or it has ended. */
    readonly ofSession: (token: Redacted.Redacted) => Effect.Effect<KnownCaller | null, StorageError>
    /** Begins a session; `null` where there is no such user or his password is another one. Either takes as long. */
    readonly logIn: (
      email: string,
      password: Redacted.Redacted
    ) => Effect.Effect<NewSession | null, StorageError | PasswordsBusy>
    readonly logOut: (token: Redacted.Redacted) => Effect.Effect<void, StorageError>
    readonly user: (id: string) => Effect.Effect<User | null, StorageError>
    /** Adds a user; `null` where the e-mail address is taken. */
    readonly addUser: (
      draft: UserDraft,
      isAdmin?: boolean
    ) => Effect.Effect<User | null, StorageError | PasswordsBusy>
    /** Sets a password and ends the user's sessions; `false` where there is no such user. */
    readonly setPassword: (
      email: string,
      password: Redacted.Redacted
    ) => Effect.Effect<boolean, StorageError | PasswordsBusy>
    /** Makes a key; `null` where the user has `keysMax` already. */
    readonly addKey: (userId: string, draft: KeyDraft) => Effect.Effect<NewKey | null, StorageError>
    readonly keysOf: (userId: string) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError>
    /** Revokes a key, of this user alone or of anybody (`null`): no node accepts it a second later. `false` where there is none. */
    readonly revoke: (id: string, userId: string | null) => Effect.Effect<boolean, StorageError>
  }
>() {}

/** The shape of all secrets that are drawn here: others are nobody's without asking. */
const secretShape = /^lm_[A-Za-z0-9_-]{32}$/
const tokenShape = /^[A-Za-z0-9_-]{43}$/

const digestOf = (secret: Redacted.Redacted) => Secret.digest(Redacted.value(secret))

const drawId = (prefix: string) =>
  Effect.map(Secret.draw(12), (bytes) => `${prefix}_${bytes.toString("base64url")}`)

const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text)

/** What a key allows, which is never more than its user may do by now. */
const callerOf = (key: ApiKey, user: User): KnownCaller => {
  const granted = new Set(key.scopes.filter(isScope).filter((scope) => user.isAdmin || scope !== "admin"))
  return {
    userId: user.id,
    isAdmin: granted.has("admin"),
    scopes: granted,
    keyId: key.id,
    limits: { createsPerMinute: key.createsPerMinute, redirectsPerDay: key.redirectsPerDay }
  }
}

/** See {@link Accounts}. */
export const make = Effect.gen(function* () {
  const { digest } = yield* AdminKey
  const store = yield* AccountStore
  const passwords = yield* Passwords
  const clock = yield* Effect.clock
  const keyBySecret = yield* FreshCache.make({ max: cachedMax, freshFor: cachedFor, read: store.keyBySecret })

  const callerNow = (found: { readonly key: ApiKey; readonly user: User } | null) => {
    const expiresAt = found?.key.expiresAt ?? null
    const hasExpired = expiresAt !== null && expiresAt <= clock.unsafeCurrentTimeMillis()
    return found === null || hasExpired ? null : callerOf(found.key, found.user)
  }

  const knownNow = (secret: Redacted.Redacted, secretDigest: string) => {
    if (Secret.isSameDigest(secretDigest, digest)) return administrator
    if (!secretShape.test(Redacted.value(secret))) return null
    const known = keyBySecret.peek(secretDigest)
    return known && callerNow(known.value)
  }

  return Accounts.of({
    ofKeyNow: (secret) => knownNow(secret, digestOf(secret)),
    ofKey: Effect.fn("Accounts.ofKey")(function* (secret) {
      const secretDigest = digestOf(secret)
      const known = knownNow(secret, secretDigest)
      return known === undefined ? callerNow(yield* keyBySecret.get(secretDigest)) : known
    }),

    ofSession: Effect.fn("Accounts.ofSession")(function* (token) {
      if (!tokenShape.test(Redacted.value(token))) return null
      const user = yield* store.userOfSession(digestOf(token), yield* Clock.currentTimeMillis)
      return user === null ? null : signedIn(user.id, user.isAdmin)
    }),

    logIn: Effect.fn("Accounts.logIn")(function* (email, password) {
      const user = yield* store.userByEmail(email)
      const isRight = yield* passwords.verify(user?.passwordHash ?? null, password)
      if (!isRight || user === null || user.passwordHash === null) return null
      const token = Redacted.make((yield* Secret.draw(32)).toString("base64url"))
      const createdAt = yield* Clock.currentTimeMillis
      const expiresAt = createdAt + Duration.toMillis(sessionMax)
      const session = { tokenHash: digestOf(token), userId: user.id, createdAt, expiresAt }
      const begun = yield* store.addSession(session, user.passwordHash, sessionsMax)
      return begun ? { token, user } : null
    }),

    logOut: (token) => store.endSession(digestOf(token)),
    user: store.userById,

    addUser: Effect.fn("Accounts.addUser")(function* ({ password, ...draft }, isAdmin = false) {
      const now = yield* Clock.currentTimeMillis
      const user: User = {
        ...draft,
        id: yield* drawId("usr"),
        passwordHash: yield* passwords.hash(password),
        isAdmin,
        createdAt: now,
        updatedAt: now,
        lastLoginAt: null
      }
      return (yield* store.addUser(user)) ? user : null
    }),

    setPassword: Effect.fn("Accounts.setPassword")(function* (email, password) {
      const user = yield* store.userByEmail(email)
      if (user === null) return false
      const hash = yield* passwords.hash(password)
      return yield* store.setPassword(user.id, hash, yield* Clock.currentTimeMillis)
    }),

    addKey: Effect.fn("Accounts.addKey")(function* (userId, draft) {
      const secret = yield* Secret.drawApiKey
      const key: ApiKey = {
        ...draft,
        id: yield* drawId("key"),
        userId,
        secretHash: digestOf(secret),
        createdAt: yield* Clock.currentTimeMillis
      }
      return (yield* store.addKey(key, keysMax)) ? { key, secret } : null
    }),

    keysOf: store.keysOf,
    revoke: store.removeKey
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<Accounts, never, AdminKey | AccountStore | Passwords> = Layer.scoped(
  Accounts,
  make
)
