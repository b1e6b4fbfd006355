import { Effect, Layer } from "effect"
import { AccountStore, type ApiKey, emailKeyOf, type Session, type User } from "./AccountStore.ts"

/** `AccountStore` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const users = new Map<string, User>()
  const sessions = new Map<string, Session>()
  const keys = new Map<string, ApiKey>()

  const byEmail = (email: string) =>
    [...users.values()].find((user) => emailKeyOf(user.email) === emailKeyOf(email))
  const sessionsOf = (userId: string) => [...sessions.values()].filter((session) => session.userId === userId)
  const keysOf = (userId: string) => [...keys.values()].filter((key) => key.userId === userId)

  const byAge = (one: ApiKey, other: ApiKey) =>
    one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)

  return AccountStore.of({
    addUser: (user) =>
      Effect.sync(() => {
        if (users.has(user.id) || byEmail(user.email) !== undefined) return false
        users.set(user.id, user)
        return true
      }),
    userById: (id) => Effect.sync(() => users.get(id) ?? null),
    userByEmail: (email) => Effect.sync(() => byEmail(email) ?? null),
    setPassword: (id, passwordHash, at) =>
      Effect.sync(() => {
        const user = users.get(id)
        if (user === undefined) return false
        users.set(id, { ...user, passwordHash, updatedAt: at })
        sessionsOf(id).forEach(({ tokenHash }) => sessions.delete(tokenHash))
        return true
      }),
    addSession: (session, passwordHash, sessionsMax) =>
      Effect.sync(() => {
        const { createdAt, userId } = session
        const user = users.get(userId)
        if (user?.passwordHash !== passwordHash) return false
        users.set(userId, { ...user, lastLoginAt: createdAt })
        const live = sessionsOf(userId).filter(({ expiresAt }) => expiresAt > createdAt)
        const kept = new Set(
          live.toSorted((one, other) => other.createdAt - one.createdAt).slice(0, sessionsMax - 1)
        )
        sessionsOf(userId).forEach((one) => kept.has(one) || sessions.delete(one.tokenHash))
        sessions.set(session.tokenHash, session)
        return true
      }),
    userOfSession: (tokenHash, now) =>
      Effect.sync(() => {
        const session = sessions.get(tokenHash)
        return session !== undefined && session.expiresAt > now ? users.get(session.userId)! : null
      }),
    endSession: (tokenHash) => Effect.sync(() => void sessions.delete(tokenHash)),
    addKey: (key, keysMax) =>
      Effect.sync(() => {
        if (keysOf(key.userId).length >= keysMax) return false
        keys.set(key.id, key)
        return true
      }),
    keyBySecret: (secretHash) =>
      Effect.sync(() => {
        const key = [...keys.values()].find((one) => one.secretHash === secretHash)
        return key === undefined ? null : { key, user: users.get(key.userId)! }
      }),
    keysOf: (userId) => Effect.sync(() => keysOf(userId).toSorted(byAge)),
    removeKey: (id, userId) =>
      Effect.sync(() => (userId === null || keys.get(id)?.userId === userId) && keys.delete(id))
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<AccountStore> = Layer.effect(AccountStore, make)
