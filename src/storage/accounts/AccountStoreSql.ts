import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Layer } from "effect"
import { AccountStore, type ApiKey, emailKeyOf, type Session, type User } from "./AccountStore.ts"
import { camelRows, sqlPort } from "../sql/SqlPort.ts"
import { forUpdate } from "../sql/SqlDialect.ts"
import { transactional } from "../sql/SqlTransaction.ts"

/** SQLite has 0 and 1 for booleans. */
type UserRow = Omit<User, "isAdmin" | "passwordIsTemporary"> & {
  readonly admin: boolean | number
  readonly emailKey: string
  readonly passwordTemporary: boolean | number
}

type KeyRow = Omit<ApiKey, "scopes"> & { readonly scopes: string }

const userOf = (row: UserRow): User => {
  const { admin, emailKey: _, passwordTemporary, ...user } = row
  return { ...user, isAdmin: Boolean(admin), passwordIsTemporary: Boolean(passwordTemporary) }
}

const keyOf = (row: KeyRow): ApiKey => ({ ...row, scopes: row.scopes.split(" ") })

/** `AccountStore` on SQLite and PostgreSQL. A user's row is locked before their sessions or keys are counted. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inOneTransaction = transactional(sql)

  const boolean = (value: boolean) => sql.literal(String(value))

  const users = (which: Statement.Fragment) =>
    Effect.map(camelRows(sql<UserRow>`SELECT * FROM users ${which}`), (rows) => rows.map(userOf))
  const user = (which: Statement.Fragment) => Effect.map(users(which), ([found = null]) => found)
  const userById = (id: string) => user(sql`WHERE id = ${id}`)
  const lockUser = (id: string) => user(sql`WHERE id = ${id} ${forUpdate(sql)}`)
  const keys = (which: Statement.Fragment) =>
    Effect.map(camelRows(sql<KeyRow>`SELECT * FROM api_keys ${which}`), (rows) => rows.map(keyOf))

  // Pages go by the order of ids, which must not depend on the database's language.
  const id = sql.onDialectOrElse({ orElse: () => sql.literal("id"), pg: () => sql.literal(`id COLLATE "C"`) })

  /** Locks the administrators who are not disabled, in one order, so that concurrent changes to the last of them wait for each other. */
  const isLastAdministrator = (id: string) =>
    Effect.map(
      sql<{ id: string }>`
        SELECT id FROM users WHERE admin = ${boolean(true)} AND disabled_at IS NULL ORDER BY id ${forUpdate(sql)}`,
      (rows) => rows.length === 1 && rows[0]!.id === id
    )

  return sqlPort(AccountStore, {
    addUser: Effect.fnUntraced(function* (user) {
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
    }),

    userById,

    userByEmail: (email) => user(sql`WHERE email_key = ${emailKeyOf(email)}`),

    setPassword: Effect.fnUntraced(function* (id, change) {
      const { at, passwordHash, passwordIsTemporary, replaces, revokesKeys } = change
      const rows = yield* sql`
        UPDATE users SET password_hash = ${passwordHash}, password_temporary = ${boolean(passwordIsTemporary)},
          updated_at = ${at}, webhooks_since = ${revokesKeys ? sql`${at}` : sql`webhooks_since`}
        WHERE id = ${id} AND ${replaces === undefined ? sql`true` : sql`password_hash = ${replaces}`} RETURNING id`
      if (rows.length === 0) return false
      yield* sql`DELETE FROM sessions WHERE user_id = ${id}`
      if (revokesKeys) yield* sql`DELETE FROM api_keys WHERE user_id = ${id}`
      return true
    }, inOneTransaction),

    addSession: Effect.fnUntraced(function* (session, passwordHash, sessionsMax) {
      const { browser, createdAt, expiresAt, lastUsedAt, os, tokenHash, userId } = session
      const users = yield* sql`
        UPDATE users SET last_login_at = ${createdAt}
        WHERE id = ${userId} AND password_hash = ${passwordHash} AND disabled_at IS NULL RETURNING id`
      if (users.length === 0) return false
      yield* sql`
        DELETE FROM sessions WHERE user_id = ${userId} AND token_hash NOT IN (
          SELECT token_hash FROM sessions WHERE user_id = ${userId} AND expires_at > ${createdAt}
          ORDER BY created_at DESC, token_hash LIMIT ${sessionsMax - 1})`
      yield* sql`
        INSERT INTO sessions (token_hash, user_id, created_at, expires_at, last_used_at, browser, os)
        VALUES (${tokenHash}, ${userId}, ${createdAt}, ${expiresAt}, ${lastUsedAt}, ${browser}, ${os})`
      return true
    }, inOneTransaction),

    sessionByToken: Effect.fnUntraced(function* (tokenHash) {
      // `created_at` is the only name that both tables have.
      const [row] = yield* camelRows(sql<UserRow & Session & { readonly begunAt: number }>`
        SELECT sessions.*, sessions.created_at AS begun_at, users.*
        FROM sessions JOIN users ON users.id = sessions.user_id WHERE token_hash = ${tokenHash}`)
      if (row === undefined) return null
      const { begunAt, browser, expiresAt, lastUsedAt, os, tokenHash: _, userId, ...user } = row
      const session = { tokenHash, userId, createdAt: begunAt, expiresAt, lastUsedAt, browser, os }
      return { session, user: userOf(user) }
    }),

    sessionsOf: (userId) =>
      camelRows(
        sql<Session>`SELECT * FROM sessions WHERE user_id = ${userId} ORDER BY created_at DESC, token_hash`
      ),

    touchSession: (tokenHash, at) =>
      Effect.asVoid(
        sql`UPDATE sessions SET last_used_at = ${at} WHERE token_hash = ${tokenHash} AND last_used_at < ${at}`
      ),

    endSession: Effect.fnUntraced(function* (tokenHash) {
      const [row] = yield* sql<{ user_id: string }>`
        DELETE FROM sessions WHERE token_hash = ${tokenHash} RETURNING user_id`
      return row?.user_id ?? null
    }),

    endSessionsOf: Effect.fnUntraced(function* (userId, except) {
      const others = except === null ? sql`` : sql`AND token_hash <> ${except}`
      const rows = yield* sql`DELETE FROM sessions WHERE user_id = ${userId} ${others} RETURNING user_id`
      return rows.length
    }),

    addKey: Effect.fnUntraced(function* (key, keysMax) {
      const user = yield* lockUser(key.userId)
      if (user === null || user.disabledAt !== null) return "nobody"
      const present = yield* sql`SELECT 1 FROM api_keys WHERE user_id = ${key.userId} LIMIT ${keysMax}`
      if (present.length >= keysMax) return "full"
      yield* sql`
        INSERT INTO api_keys (id, user_id, secret_hash, name, scopes, creates_per_minute, redirects_per_day,
                              created_at, expires_at)
        VALUES (${key.id}, ${key.userId}, ${key.secretHash}, ${key.name}, ${key.scopes.join(" ")},
                ${key.createsPerMinute}, ${key.redirectsPerDay}, ${key.createdAt}, ${key.expiresAt})`
      return "added"
    }, inOneTransaction),

    keyBySecret: Effect.fnUntraced(function* (secretHash) {
      const [key] = yield* keys(sql`WHERE secret_hash = ${secretHash}`)
      const user = key === undefined ? null : yield* userById(key.userId)
      return key === undefined || user === null || user.disabledAt !== null ? null : { key, user }
    }),

    keysOf: (userId) => keys(sql`WHERE user_id = ${userId} ORDER BY created_at, id`),

    removeKey: Effect.fnUntraced(function* (id, userId) {
      const ofUser = userId === null ? sql`` : sql`AND user_id = ${userId}`
      const [row] = yield* sql<{ user_id: string }>`
        DELETE FROM api_keys WHERE id = ${id} ${ofUser} RETURNING user_id`
      return row?.user_id ?? null
    }),

    listUsers: ({ after, email, limit }) => {
      const filters = [
        ...(email === undefined ? [] : [sql`email_key = ${emailKeyOf(email)}`]),
        ...(after === undefined ? [] : [sql`(created_at, ${id}) < (${after.createdAt}, ${after.id})`])
      ]
      const where = filters.length === 0 ? sql`` : sql`WHERE ${sql.and(filters)}`
      return users(sql`${where} ORDER BY created_at DESC, ${id} DESC LIMIT ${limit}`)
    },

    changeUser: Effect.fnUntraced(function* (id, change, at) {
      const isEnding = change.isDisabled === true || change.isAdmin === false
      if (isEnding && (yield* isLastAdministrator(id))) return "last-administrator"
      const before = yield* lockUser(id)
      if (before === null) return "nobody"
      const { isAdmin = before.isAdmin, isDisabled = before.disabledAt !== null } = change
      const disabledAt = isDisabled ? (before.disabledAt ?? at) : null
      yield* sql`
        UPDATE users SET admin = ${boolean(isAdmin)}, disabled_at = ${disabledAt}, updated_at = ${at} WHERE id = ${id}`
      if (isDisabled) yield* sql`DELETE FROM sessions WHERE user_id = ${id}`
      return { before, after: { ...before, isAdmin, disabledAt, updatedAt: at } }
    }, inOneTransaction),

    removeUser: Effect.fnUntraced(function* (id) {
      if (yield* isLastAdministrator(id)) return "last-administrator"
      // The sessions and keys are deleted with it.
      const rows = yield* sql`DELETE FROM users WHERE id = ${id} RETURNING id`
      return rows.length > 0 ? "removed" : "nobody"
    }, inOneTransaction)
  })
})

/** `AccountStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient> = Layer.effect(AccountStore, make)
