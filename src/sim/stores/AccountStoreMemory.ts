import { Effect, Layer } from "effect"
import {
  AccountStore,
  type ApiKey,
  emailKeyOf,
  type Session,
  type User,
  type UserPosition
} from "../../storage/accounts/AccountStore.ts"

/** `AccountStore` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const users = new Map<string, User>()
  const sessions = new Map<string, Session>()
  const keys = new Map<string, ApiKey>()

  const byEmail = (email: string) =>
    [...users.values()].find((user) => emailKeyOf(user.email) === emailKeyOf(email))
  /** The newest first, those of one moment by their hashes. */
  const sessionsOf = (userId: string) =>
    [...sessions.values()]
      .filter((session) => session.userId === userId)
      .toSorted((one, other) => other.createdAt - one.createdAt || (one.tokenHash < other.tokenHash ? -1 : 1))
  const keysOf = (userId: string) => [...keys.values()].filter((key) => key.userId === userId)

  const byAge = (one: ApiKey, other: ApiKey) =>
    one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)

  const newestFirst = (one: UserPosition, other: UserPosition) =>
    other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1)

  const isLastAdministrator = (id: string) =>
    users.get(id)!.isAdmin &&
    users.get(id)!.disabledAt === null &&
    [...users.values()].filter(({ disabledAt, isAdmin }) => isAdmin && disabledAt === null).length === 1

  const endSessionsOf = (id: string) => sessionsOf(id).forEach(({ tokenHash }) => sessions.delete(tokenHash))

  return AccountStore.of({
    addUser: (user) =>
      Effect.sync(() => {
        if (users.has(user.id) || byEmail(user.email) !== undefined) return false
        users.set(user.id, user)
        return true
      }),
    userById: (id) => Effect.sync(() => users.get(id) ?? null),
    userByEmail: (email) => Effect.sync(() => byEmail(email) ?? null),
    setPassword: (id, { at, passwordHash, passwordIsTemporary, replaces, revokesKeys }) =>
      Effect.sync(() => {
        const user = users.get(id)
        if (user === undefined || (replaces !== undefined && user.passwordHash !== replaces)) return false
        const webhooksSince = revokesKeys ? at : user.webhooksSince
        users.set(id, { ...user, passwordHash, passwordIsTemporary, webhooksSince, updatedAt: at })
        sessionsOf(id).forEach(({ tokenHash }) => sessions.delete(tokenHash))
        if (revokesKeys) keysOf(id).forEach((key) => keys.delete(key.id))
        return true
      }),
    addSession: (session, passwordHash, sessionsMax) =>
      Effect.sync(() => {
        const { createdAt, userId } = session
        const user = users.get(userId)
        if (user?.passwordHash !== passwordHash || user.disabledAt !== null) return false
        users.set(userId, { ...user, lastLoginAt: createdAt })
        const live = sessionsOf(userId).filter(({ expiresAt }) => expiresAt > createdAt)
        const kept = new Set(live.slice(0, sessionsMax - 1))
        sessionsOf(userId).forEach((one) => kept.has(one) || sessions.delete(one.tokenHash))
        sessions.set(session.tokenHash, session)
        return true
      }),
    sessionByToken: (tokenHash) =>
      Effect.sync(() => {
        const session = sessions.get(tokenHash)
        return session === undefined ? null : { session, user: users.get(session.userId)! }
      }),
    sessionsOf: (userId) => Effect.sync(() => sessionsOf(userId)),
    touchSession: (tokenHash, at) =>
      Effect.sync(() => {
        const session = sessions.get(tokenHash)
        if (session !== undefined && session.lastUsedAt < at) {
          sessions.set(tokenHash, { ...session, lastUsedAt: at })
        }
      }),
    endSession: (tokenHash) =>
      Effect.sync(() => {
        const userId = sessions.get(tokenHash)?.userId ?? null
        sessions.delete(tokenHash)
        return userId
      }),
    endSessionsOf: (userId, except) =>
      Effect.sync(() => {
        const ended = sessionsOf(userId).filter(({ tokenHash }) => tokenHash !== except)
        ended.forEach(({ tokenHash }) => sessions.delete(tokenHash))
        return ended.length
      }),
    addKey: (key, keysMax) =>
      Effect.sync(() => {
        const user = users.get(key.userId)
        if (user === undefined || user.disabledAt !== null) return "nobody"
        if (keysOf(key.userId).length >= keysMax) return "full"
        keys.set(key.id, key)
        return "added"
      }),
    keyBySecret: (secretHash) =>
      Effect.sync(() => {
        const key = [...keys.values()].find((one) => one.secretHash === secretHash)
        if (key === undefined) return null
        const user = users.get(key.userId)!
        return user.disabledAt === null ? { key, user } : null
      }),
    keysOf: (userId) => Effect.sync(() => keysOf(userId).toSorted(byAge)),
    removeKey: (id, userId) =>
      Effect.sync(() => {
        const owner = keys.get(id)?.userId ?? null
        if (userId !== null && owner !== userId) return null
        keys.delete(id)
        return owner
      }),
    listUsers: ({ after, email, limit }) =>
      Effect.sync(() =>
        [...users.values()]
          .filter((user) => email === undefined || emailKeyOf(user.email) === emailKeyOf(email))
          .filter((user) => after === undefined || (user.id !== after.id && newestFirst(after, user) < 0))
          .toSorted(newestFirst)
          .slice(0, limit)
      ),
    changeUser: (id, change, at) =>
      Effect.sync(() => {
        const before = users.get(id)
        if (before === undefined) return "nobody"
        const { isAdmin = before.isAdmin, isDisabled = before.disabledAt !== null } = change
        if ((!isAdmin || isDisabled) && isLastAdministrator(id)) return "last-administrator"
        const disabledAt = isDisabled ? (before.disabledAt ?? at) : null
        const after = { ...before, isAdmin, disabledAt, updatedAt: at }
        users.set(id, after)
        if (isDisabled) endSessionsOf(id)
        return { before, after }
      }),
    removeUser: (id) =>
      Effect.sync(() => {
        if (!users.has(id)) return "nobody"
        if (isLastAdministrator(id)) return "last-administrator"
        users.delete(id)
        endSessionsOf(id)
        keysOf(id).forEach((key) => keys.delete(key.id))
        return "removed"
      })
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<AccountStore> = Layer.effect(AccountStore, make)
