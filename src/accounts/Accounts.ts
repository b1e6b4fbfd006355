import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { type Doer, stranger } from "../model/Audit.ts"
import { AdminKey } from "./AdminKey.ts"
import { Passwords, type PasswordsBusy, type Work } from "./Passwords.ts"
import * as FreshCache from "../fibers/FreshCache.ts"
import * as Secret from "../secrets/Secret.ts"
import {
  AccountStore,
  type ApiKey,
  newUser,
  type PasswordChange,
  type User
} from "../storage/accounts/AccountStore.ts"
import type { AuditLog } from "../storage/accounts/AuditLog.ts"
import type { StorageError } from "../storage/StorageError.ts"
import * as PasswordPolicy from "./PasswordPolicy.ts"
import { administrator, type KnownCaller, type Limits, type Scope, scopes } from "./Access.ts"
import * as AuditRecorder from "./AuditRecorder.ts"
import { type SessionClient, Sessions } from "./Sessions.ts"

/** API keys of one user at most. */
export const keysMax = 100

/** API keys that a node caches, and for how long: a revoked one is refused by every node within a second, the time of a request included. */
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

/** A user's own change of the password. */
export interface OwnPasswordChange extends Pick<PasswordChange, "revokesKeys"> {
  readonly current: Redacted.Redacted
  readonly password: Redacted.Redacted
}

/** A session that has begun. */
export interface NewSession {
  readonly token: Redacted.Redacted
  readonly user: User
}

/** An API key that was made, with its secret, which cannot be shown again. */
export interface NewKey {
  readonly key: ApiKey
  readonly secret: Redacted.Redacted
}

/**
 * Users and their credentials. Secrets have 192 random bits and are looked up by their SHA-256, so that neither the database nor the time of a look-up reveals
 * them.
 *
 * The audit log records everything that is done here, in the same transaction.
 */
export class Accounts extends Context.Tag("linkmint/Accounts")<
  Accounts,
  {
    /** Whose API key this is; `null` where there is none, or it has expired. The administrator's is known without asking the store. */
    readonly ofKey: (secret: Redacted.Redacted) => Effect.Effect<KnownCaller | null, StorageError>
    /** The same without an effect; `undefined` where the store must be asked. */
    readonly ofKeyNow: (secret: Redacted.Redacted) => KnownCaller | null | undefined
    /** Begins a session in place of the client's former one; `null` where there is no such user or the password is wrong, which take equally long. */
    readonly logIn: (
      email: string,
      password: Redacted.Redacted,
      client: SessionClient,
      replaced: Redacted.Redacted | null
    ) => Effect.Effect<NewSession | null, StorageError | PasswordsBusy>
    readonly user: (id: string) => Effect.Effect<User | null, StorageError>
    /** Adds a user; `null` where the e-mail address is taken, which takes equally long. */
    readonly addUser: (
      draft: UserDraft,
      doer: Doer,
      options?: Partial<Pick<User, "isAdmin" | "passwordIsTemporary">>
    ) => Effect.Effect<User | null, StorageError | PasswordsBusy | PasswordPolicy.PasswordRefused>
    /** Sets a user's password and ends the sessions; `false` where there is no such user. */
    readonly setPassword: (
      email: string,
      password: Redacted.Redacted,
      doer: Doer,
      options: Pick<PasswordChange, "passwordIsTemporary" | "revokesKeys">
    ) => Effect.Effect<boolean, StorageError | PasswordsBusy | PasswordPolicy.PasswordRefused>
    /** Changes the password of a user who has signed in: all sessions end, and a new one begins. `null` where `current` is not the password. */
    readonly changePassword: (
      userId: string,
      change: OwnPasswordChange,
      client: SessionClient
    ) => Effect.Effect<NewSession | null, StorageError | PasswordsBusy | PasswordPolicy.PasswordRefused>
    /** Makes a key, unless the user has `keysMax` already (`full`), or is disabled or does not exist (`nobody`). */
    readonly addKey: (
      userId: string,
      draft: KeyDraft,
      doer: Doer
    ) => Effect.Effect<NewKey | "full" | "nobody", StorageError>
    readonly keysOf: (userId: string) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError>
    /** Revokes a key, of this user only or of any user (`null`): no node accepts it a second later. `false` where there is none. */
    readonly revoke: (id: string, userId: string | null, doer: Doer) => Effect.Effect<boolean, StorageError>
  }
>() {}

/** The shape of all secrets that are drawn here: the store is not asked for others. */
const secretShape = /^lm_[A-Za-z0-9_-]{32}$/

const digestOf = (secret: Redacted.Redacted) => Secret.digest(Redacted.value(secret))

const drawId = (prefix: string) =>
  Effect.map(Secret.draw(12), (bytes) => `${prefix}_${bytes.toString("base64url")}`)

const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text)

/** What a key allows: never more than its user may do now. */
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
  const sessions = yield* Sessions
  const recording = yield* AuditRecorder.make
  const passwords = yield* Passwords
  const checkPassword = yield* PasswordPolicy.make
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
    const known = keyBySecret.getNow(secretDigest)
    return known && callerNow(known.value)
  }

  const isSame = (one: Redacted.Redacted, other: Redacted.Redacted) =>
    Redacted.value(PasswordPolicy.normalized(one)) === Redacted.value(PasswordPolicy.normalized(other))

  /** Checks the normalized password, and then the password as given, which early versions hashed. */
  const verify = Effect.fnUntraced(function* (hash: string | null, password: Redacted.Redacted) {
    const normalized = PasswordPolicy.normalized(password)
    if (yield* passwords.verify(hash, normalized)) return true
    const isNormal = Redacted.value(normalized) === Redacted.value(password)
    return !isNormal && (yield* passwords.verify(hash, password))
  })

  const begin = (user: User, client: SessionClient, replaced: Redacted.Redacted | null) =>
    Effect.map(sessions.begin(user, client, replaced), (token) => token && { token, user })

  const hash = (password: Redacted.Redacted, work?: Work) =>
    passwords.hash(PasswordPolicy.normalized(password), work)

  const replacePassword = (doer: Doer, userId: string, change: Omit<PasswordChange, "at">) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      recording(doer, store.setPassword(userId, { ...change, at }), (isSet) => [
        ...(isSet ? [["password.changed", userId, userId] as const] : []),
        ...(isSet && change.revokesKeys ? [["key.revoked", null, userId] as const] : [])
      ])
    )

  return Accounts.of({
    ofKeyNow: (secret) => knownNow(secret, digestOf(secret)),
    ofKey: Effect.fn("Accounts.ofKey")(function* (secret) {
      const secretDigest = digestOf(secret)
      const known = knownNow(secret, secretDigest)
      return known === undefined ? callerNow(yield* keyBySecret.get(secretDigest)) : known
    }),

    logIn: Effect.fn("Accounts.logIn")(function* (email, password, client, replaced) {
      const user = yield* store.userByEmail(email)
      const isRight = yield* verify(user?.passwordHash ?? null, password)
      if (isRight && user !== null) return yield* begin(user, client, replaced)
      const target = user?.id ?? null
      yield* recording(stranger(client.hash), Effect.void, () => [["session.refused", target, target]])
      return null
    }),

    user: store.userById,

    addUser: Effect.fn("Accounts.addUser")(function* ({ password, ...draft }, doer, options = {}) {
      yield* checkPassword(password, draft)
      const id = yield* drawId("usr")
      const passwordHash = yield* hash(password, doer.by === "nothing" ? "newcomer" : "account")
      const user = newUser({ ...draft, id, passwordHash, ...options }, yield* Clock.currentTimeMillis)
      const added = yield* recording(doer, store.addUser(user), (added) =>
        added
          ? [
              ["user.added", user.id, user.id],
              ...(user.isAdmin ? [["admin.granted", user.id, user.id] as const] : [])
            ]
          : // Recorded like an addition, so that both take equally long.
            [["user.refused", null, null]]
      )
      return added ? user : null
    }),

    setPassword: Effect.fn("Accounts.setPassword")(function* (email, password, doer, options) {
      const user = yield* store.userByEmail(email)
      if (user === null) return false
      yield* checkPassword(password, user)
      const passwordHash = yield* hash(password)
      return yield* replacePassword(doer, user.id, { ...options, passwordHash })
    }),

    changePassword: Effect.fn("Accounts.changePassword")(function* (userId, change, client) {
      const { current, password, revokesKeys } = change
      const doer: Doer = { by: "session", userId, keyId: null, client: client.hash }
      const user = yield* store.userById(userId)
      const isRight = yield* verify(user?.passwordHash ?? null, current)
      if (!isRight || user === null) {
        yield* recording(doer, Effect.void, () => [["password.refused", userId, userId]])
        return null
      }
      yield* checkPassword(password, user)
      if (isSame(current, password)) {
        return yield* new PasswordPolicy.PasswordRefused({ message: "must be another one than before" })
      }
      const passwordHash = yield* hash(password)
      const passwordIsTemporary = false
      const replaces = user.passwordHash!
      const isSet = yield* replacePassword(doer, userId, {
        passwordHash,
        passwordIsTemporary,
        revokesKeys,
        replaces
      })
      // Another one was set meanwhile: this change was confirmed by one that is no more.
      if (!isSet) return null
      return yield* begin({ ...user, passwordHash, passwordIsTemporary }, client, null)
    }),

    addKey: Effect.fn("Accounts.addKey")(function* (userId, draft, doer) {
      const secret = yield* Secret.drawApiKey
      const key: ApiKey = {
        ...draft,
        id: yield* drawId("key"),
        userId,
        secretHash: digestOf(secret),
        createdAt: yield* Clock.currentTimeMillis
      }
      const added = yield* recording(doer, store.addKey(key, keysMax), (added) =>
        added === "added" ? [["key.added", key.id, userId]] : []
      )
      return added === "added" ? { key, secret } : added
    }),

    keysOf: store.keysOf,
    revoke: (id, userId, doer) =>
      Effect.map(
        recording(doer, store.removeKey(id, userId), (owner) =>
          owner === null ? [] : [["key.revoked", id, owner]]
        ),
        (owner) => owner !== null
      )
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<Accounts, never, AdminKey | AccountStore | AuditLog | Passwords | Sessions> =
  Layer.scoped(Accounts, make)
