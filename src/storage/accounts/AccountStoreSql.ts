import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import {
  AccountStore,
  type ApiKey,
  emailKeyOf,
  type Session,
  type User,
  type UserChange
} from "./AccountStore.ts"
import { forUpdate, numberOrNull } from "../sql/SqlDialect.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"

/** BIGINT comes as a string from `pg` and as a number from libSQL; BOOLEAN as 0 or 1 from SQLite. */
interface UserRow {
  readonly id: string
  readonly email: string
  readonly first_name: string | null
  readonly middle_name: string | null
  readonly last_name: string | null
  readonly password_hash: string | null
  readonly password_temporary: boolean | number
  readonly admin: boolean | number
  readonly created_at: string | number
  readonly updated_at: string | number
  readonly last_login_at: string | number | null
  readonly webhooks_since: string | number
  readonly disabled_at: string | number | null
}

interface SessionRow {
  readonly token_hash: string
  readonly user_id: string
  readonly created_at: string | number
  readonly expires_at: string | number
  readonly last_used_at: string | number
  readonly browser: string
  readonly os: string
}

interface KeyRow {
  readonly id: string
  readonly user_id: string
  readonly secret_hash: string
  readonly name: string
  readonly scopes: string
  readonly creates_per_minute: number | null
  readonly redirects_per_day: string | number | null
  readonly created_at: string | number
  readonly expires_at: string | number | null
}

const userOf = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  firstName: row.first_name,
  middleName: row.middle_name,
  lastName: row.last_name,
  passwordHash: row.password_hash,
  passwordIsTemporary: Boolean(row.password_temporary),
  isAdmin: Boolean(row.admin),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  lastLoginAt: numberOrNull(row.last_login_at),
  webhooksSince: Number(row.webhooks_since),
  disabledAt: numberOrNull(row.disabled_at)
})

const sessionOf = (row: SessionRow): Session => ({
  tokenHash: row.token_hash,
  userId: row.user_id,
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
  lastUsedAt: Number(row.last_used_at),
  browser: row.browser,
  os: row.os
})

const keyOf = (row: KeyRow): ApiKey => ({
  id: row.id,
  userId: row.user_id,
  secretHash: row.secret_hash,
  name: row.name,
  scopes: row.scopes.split(" "),
  createsPerMinute: row.creates_per_minute,
  redirectsPerDay: numberOrNull(row.redirects_per_day),
  createdAt: Number(row.created_at),
  expiresAt: numberOrNull(row.expires_at)
})

/** `AccountStore` on SQLite and PostgreSQL. A user's row is locked before their sessions or keys are counted. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const boolean = (value: boolean) =>
    sql.onDialectOrElse({ orElse: () => sql`${value ? 1 : 0}`, pg: () => sql`${value}` })
  const lockUser = (id: string) => sql<UserRow>`SELECT * FROM users WHERE id = ${id} ${forUpdate(sql)}`

  const firstUser = (rows: ReadonlyArray<UserRow>) => (rows[0] === undefined ? null : userOf(rows[0]))
  // Pages go by the order of ids, which must not depend on the database's language.
  const id = sql.onDialectOrElse({ orElse: () => sql.literal("id"), pg: () => sql.literal(`id COLLATE "C"`) })

  /** Locks the administrators who are not disabled, in one order, so that two of those who end the last of them come one after the other. */
  const isLastAdministrator = (id: string) =>
    Effect.map(
      sql<{ id: string }>`
        SELECT id FROM users WHERE admin = ${boolean(true)} AND disabled_at IS NULL ORDER BY id ${forUpdate(sql)}`,
      (rows) => rows.length === 1 && rows[0]!.id === id
    )

  const change = Effect.fnUntraced(function* (id: string, change: UserChange, at: number) {
    const isEnding = change.isDisabled === true || change.isAdmin === false
    if (isEnding && (yield* isLastAdministrator(id))) return "last-administrator"
    const before = firstUser(yield* lockUser(id))
    if (before === null) return "nobody"
    const { isAdmin = before.isAdmin, isDisabled = before.disabledAt !== null } = change
    const disabledAt = isDisabled ? (before.disabledAt ?? at) : null
    yield* sql`
      UPDATE users SET admin = ${boolean(isAdmin)}, disabled_at = ${disabledAt}, updated_at = ${at} WHERE id = ${id}`
    if (isDisabled) yield* sql`DELETE FROM sessions WHERE user_id = ${id}`
    return { before, after: { ...before, isAdmin, disabledAt, updatedAt: at } }
  })

  const remove = Effect.fnUntraced(function* (id: string) {
    if (yield* isLastAdministrator(id)) return "last-administrator"
    // Sessions and keys go with it.
    const rows = yield* sql`DELETE FROM users WHERE id = ${id} RETURNING id`
    return rows.length > 0 ? "removed" : "nobody"
  })

  return AccountStore.of({
    addUser: Effect.fn("AccountStore.addUser")(function* (user) {
      const rows = yield* sql`
        INSERT INTO users (id, email, email_key, first_name, middle_name, last_name, password_hash,
                           password_temporary, admin, created_at, updated_at, last_login_at, webhooks_since,
                           disabled_at)
        VALUES (${user.id}, ${user.email}, ${emailKeyOf(user.email)}, ${user.firstName}, ${user.middleName},
                ${user.lastName}, ${user.passwordHash}, ${boolean(user.passwordIsTemporary)},
                ${boolean(user.isAdmin)}, ${user.createdAt}, ${user.updatedAt}, ${user.lastLoginAt},
                ${user.webhooksSince}, ${user.disabledAt})
        ON CONFLICT DO NOTHING RETURNING id`
      return rows.length > 0
    }, asStorageError("AccountStore.addUser")),

    userById: Effect.fn("AccountStore.userById")(function* (id) {
      return firstUser(yield* sql<UserRow>`SELECT * FROM users WHERE id = ${id}`)
    }, asStorageError("AccountStore.userById")),

    userByEmail: Effect.fn("AccountStore.userByEmail")(function* (email) {
      return firstUser(yield* sql<UserRow>`SELECT * FROM users WHERE email_key = ${emailKeyOf(email)}`)
    }, asStorageError("AccountStore.userByEmail")),

    setPassword: Effect.fn("AccountStore.setPassword")(function* (id, change) {
      const { at, passwordHash, passwordIsTemporary, revokesKeys } = change
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const rows = yield* sql`
            UPDATE users SET password_hash = ${passwordHash}, password_temporary = ${boolean(passwordIsTemporary)},
              updated_at = ${at}, webhooks_since = ${revokesKeys ? sql`${at}` : sql`webhooks_since`}
            WHERE id = ${id} RETURNING id`
          yield* sql`DELETE FROM sessions WHERE user_id = ${id}`
          if (revokesKeys) yield* sql`DELETE FROM api_keys WHERE user_id = ${id}`
          return rows.length > 0
        })
      )
    }, asStorageError("AccountStore.setPassword")),

    addSession: Effect.fn("AccountStore.addSession")(function* (session, passwordHash, sessionsMax) {
      const { browser, createdAt, expiresAt, lastUsedAt, os, tokenHash, userId } = session
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const users = yield* sql`
            UPDATE users SET last_login_at = ${createdAt}
            WHERE id = ${userId} AND password_hash = ${passwordHash} AND disabled_at IS NULL RETURNING id`
          if (users.length === 0) return false
          yield* sql`
            DELETE FROM sessions WHERE user_id = ${userId} AND token_hash NOT IN (
              SELECT token_hash FROM sessions WHERE user_id = ${userId} AND expires_at > ${createdAt}
              ORDER BY created_at DESC LIMIT ${sessionsMax - 1})`
          yield* sql`
            INSERT INTO sessions (token_hash, user_id, created_at, expires_at, last_used_at, browser, os)
            VALUES (${tokenHash}, ${userId}, ${createdAt}, ${expiresAt}, ${lastUsedAt}, ${browser}, ${os})`
          return true
        })
      )
    }, asStorageError("AccountStore.addSession")),

    sessionByToken: Effect.fn("AccountStore.sessionByToken")(function* (tokenHash) {
      // Of the columns of both, `created_at` alone has one name.
      const [row] = yield* sql<UserRow & SessionRow & { readonly began_at: string | number }>`
        SELECT sessions.*, sessions.created_at AS began_at, users.*
        FROM sessions JOIN users ON users.id = sessions.user_id WHERE token_hash = ${tokenHash}`
      return row === undefined
        ? null
        : { session: sessionOf({ ...row, created_at: row.began_at }), user: userOf(row) }
    }, asStorageError("AccountStore.sessionByToken")),

    sessionsOf: Effect.fn("AccountStore.sessionsOf")(function* (userId) {
      const rows = yield* sql<SessionRow>`
        SELECT * FROM sessions WHERE user_id = ${userId} ORDER BY created_at DESC`
      return rows.map(sessionOf)
    }, asStorageError("AccountStore.sessionsOf")),

    touchSession: Effect.fn("AccountStore.touchSession")(function* (tokenHash, at) {
      yield* sql`UPDATE sessions SET last_used_at = ${at} WHERE token_hash = ${tokenHash} AND last_used_at < ${at}`
    }, asStorageError("AccountStore.touchSession")),

    endSession: Effect.fn("AccountStore.endSession")(function* (tokenHash) {
      const [row] = yield* sql<{ user_id: string }>`
        DELETE FROM sessions WHERE token_hash = ${tokenHash} RETURNING user_id`
      return row?.user_id ?? null
    }, asStorageError("AccountStore.endSession")),

    endSessionsOf: Effect.fn("AccountStore.endSessionsOf")(function* (userId, except) {
      const others = except === null ? sql`` : sql`AND token_hash <> ${except}`
      const rows = yield* sql`DELETE FROM sessions WHERE user_id = ${userId} ${others} RETURNING user_id`
      return rows.length
    }, asStorageError("AccountStore.endSessionsOf")),

    addKey: Effect.fn("AccountStore.addKey")(function* (key, keysMax) {
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const user = firstUser(yield* lockUser(key.userId))
          if (user === null || user.disabledAt !== null) return "nobody"
          const [counted] = yield* sql<{ count: number | string }>`
            SELECT count(*) AS count FROM api_keys WHERE user_id = ${key.userId}`
          if (Number(counted!.count) >= keysMax) return "full"
          yield* sql`
            INSERT INTO api_keys (id, user_id, secret_hash, name, scopes, creates_per_minute, redirects_per_day,
                                  created_at, expires_at)
            VALUES (${key.id}, ${key.userId}, ${key.secretHash}, ${key.name}, ${key.scopes.join(" ")},
                    ${key.createsPerMinute}, ${key.redirectsPerDay}, ${key.createdAt}, ${key.expiresAt})`
          return "added"
        })
      )
    }, asStorageError("AccountStore.addKey")),

    keyBySecret: Effect.fn("AccountStore.keyBySecret")(function* (secretHash) {
      const [key] = yield* sql<KeyRow>`SELECT * FROM api_keys WHERE secret_hash = ${secretHash}`
      if (key === undefined) return null
      const user = firstUser(yield* sql<UserRow>`SELECT * FROM users WHERE id = ${key.user_id}`)
      return user === null || user.disabledAt !== null ? null : { key: keyOf(key), user }
    }, asStorageError("AccountStore.keyBySecret")),

    keysOf: Effect.fn("AccountStore.keysOf")(function* (userId) {
      const rows = yield* sql<KeyRow>`
        SELECT * FROM api_keys WHERE user_id = ${userId} ORDER BY created_at, id`
      return rows.map(keyOf)
    }, asStorageError("AccountStore.keysOf")),

    removeKey: Effect.fn("AccountStore.removeKey")(function* (id, userId) {
      const ofUser = userId === null ? sql`` : sql`AND user_id = ${userId}`
      const [row] = yield* sql<{ user_id: string }>`
        DELETE FROM api_keys WHERE id = ${id} ${ofUser} RETURNING user_id`
      return row?.user_id ?? null
    }, asStorageError("AccountStore.removeKey")),

    listUsers: Effect.fn("AccountStore.listUsers")(function* ({ after, email, limit }) {
      const filters = [
        ...(email === undefined ? [] : [sql`email_key = ${emailKeyOf(email)}`]),
        ...(after === undefined ? [] : [sql`(created_at, ${id}) < (${after.createdAt}, ${after.id})`])
      ]
      const rows = yield* sql<UserRow>`
        SELECT * FROM users ${filters.length === 0 ? sql`` : sql`WHERE ${sql.and(filters)}`}
        ORDER BY created_at DESC, ${id} DESC LIMIT ${limit}`
      return rows.map(userOf)
    }, asStorageError("AccountStore.listUsers")),

    changeUser: Effect.fn("AccountStore.changeUser")(
      (id, changed, at) => inTransaction(sql, change(id, changed, at)),
      asStorageError("AccountStore.changeUser")
    ),

    removeUser: Effect.fn("AccountStore.removeUser")(
      (id) => inTransaction(sql, remove(id)),
      asStorageError("AccountStore.removeUser")
    )
  })
})

/** `AccountStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient> = Layer.effect(AccountStore, make)
