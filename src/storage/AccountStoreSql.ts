import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { AccountStore, type ApiKey, emailKeyOf, type User } from "./AccountStore.ts"
import { forUpdate, numberOrNull } from "./SqlDialect.ts"
import { asStorageError, inTransaction } from "./SqlTransaction.ts"

/** BIGINT comes as a string from `pg` and as a number from libSQL; BOOLEAN as 0 or 1 from SQLite. */
interface UserRow {
  readonly id: string
  readonly email: string
  readonly first_name: string | null
  readonly middle_name: string | null
  readonly last_name: string | null
  readonly password_hash: string | null
  readonly admin: boolean | number
  readonly created_at: string | number
  readonly updated_at: string | number
  readonly last_login_at: string | number | null
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
  isAdmin: Boolean(row.admin),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  lastLoginAt: numberOrNull(row.last_login_at)
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

/** `AccountStore` on SQLite and PostgreSQL. A user's row is locked before his sessions or keys are counted. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const boolean = (value: boolean) =>
    sql.onDialectOrElse({ orElse: () => sql`${value ? 1 : 0}`, pg: () => sql`${value}` })
  const lockUser = (id: string) => sql`SELECT id FROM users WHERE id = ${id} ${forUpdate(sql)}`

  const firstUser = (rows: ReadonlyArray<UserRow>) => (rows[0] === undefined ? null : userOf(rows[0]))

  return AccountStore.of({
    addUser: Effect.fn("AccountStore.addUser")(function* (user) {
      const rows = yield* sql`
        INSERT INTO users (id, email, email_key, first_name, middle_name, last_name, password_hash, admin,
                           created_at, updated_at, last_login_at)
        VALUES (${user.id}, ${user.email}, ${emailKeyOf(user.email)}, ${user.firstName}, ${user.middleName},
                ${user.lastName}, ${user.passwordHash}, ${boolean(user.isAdmin)},
                ${user.createdAt}, ${user.updatedAt}, ${user.lastLoginAt})
        ON CONFLICT DO NOTHING RETURNING id`
      return rows.length > 0
    }, asStorageError("AccountStore.addUser")),

    userById: Effect.fn("AccountStore.userById")(function* (id) {
      return firstUser(yield* sql<UserRow>`SELECT * FROM users WHERE id = ${id}`)
    }, asStorageError("AccountStore.userById")),

    userByEmail: Effect.fn("AccountStore.userByEmail")(function* (email) {
      return firstUser(yield* sql<UserRow>`SELECT * FROM users WHERE email_key = ${emailKeyOf(email)}`)
    }, asStorageError("AccountStore.userByEmail")),

    setPassword: Effect.fn("AccountStore.setPassword")(function* (id, passwordHash, at) {
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const rows = yield* sql`
            UPDATE users SET password_hash = ${passwordHash}, updated_at = ${at} WHERE id = ${id} RETURNING id`
          yield* sql`DELETE FROM sessions WHERE user_id = ${id}`
          return rows.length > 0
        })
      )
    }, asStorageError("AccountStore.setPassword")),

    addSession: Effect.fn("AccountStore.addSession")(function* (session, passwordHash, sessionsMax) {
      const { createdAt, expiresAt, tokenHash, userId } = session
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const users = yield* sql`
            UPDATE users SET last_login_at = ${createdAt}
            WHERE id = ${userId} AND password_hash = ${passwordHash} RETURNING id`
          if (users.length === 0) return false
          yield* sql`
            DELETE FROM sessions WHERE user_id = ${userId} AND token_hash NOT IN (
              SELECT token_hash FROM sessions WHERE user_id = ${userId} AND expires_at > ${createdAt}
              ORDER BY created_at DESC LIMIT ${sessionsMax - 1})`
          yield* sql`
            INSERT INTO sessions (token_hash, user_id, created_at, expires_at)
            VALUES (${tokenHash}, ${userId}, ${createdAt}, ${expiresAt})`
          return true
        })
      )
    }, asStorageError("AccountStore.addSession")),

    userOfSession: Effect.fn("AccountStore.userOfSession")(function* (tokenHash, now) {
      return firstUser(
        yield* sql<UserRow>`
          SELECT users.* FROM sessions JOIN users ON users.id = sessions.user_id
          WHERE token_hash = ${tokenHash} AND expires_at > ${now}`
      )
    }, asStorageError("AccountStore.userOfSession")),

    endSession: Effect.fn("AccountStore.endSession")(function* (tokenHash) {
      yield* sql`DELETE FROM sessions WHERE token_hash = ${tokenHash}`
    }, asStorageError("AccountStore.endSession")),

    addKey: Effect.fn("AccountStore.addKey")(function* (key, keysMax) {
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          yield* lockUser(key.userId)
          const [counted] = yield* sql<{ count: number | string }>`
            SELECT count(*) AS count FROM api_keys WHERE user_id = ${key.userId}`
          if (Number(counted!.count) >= keysMax) return false
          yield* sql`
            INSERT INTO api_keys (id, user_id, secret_hash, name, scopes, creates_per_minute, redirects_per_day,
                                  created_at, expires_at)
            VALUES (${key.id}, ${key.userId}, ${key.secretHash}, ${key.name}, ${key.scopes.join(" ")},
                    ${key.createsPerMinute}, ${key.redirectsPerDay}, ${key.createdAt}, ${key.expiresAt})`
          return true
        })
      )
    }, asStorageError("AccountStore.addKey")),

    keyBySecret: Effect.fn("AccountStore.keyBySecret")(function* (secretHash) {
      const [key] = yield* sql<KeyRow>`SELECT * FROM api_keys WHERE secret_hash = ${secretHash}`
      if (key === undefined) return null
      const user = firstUser(yield* sql<UserRow>`SELECT * FROM users WHERE id = ${key.user_id}`)
      return user === null ? null : { key: keyOf(key), user }
    }, asStorageError("AccountStore.keyBySecret")),

    keysOf: Effect.fn("AccountStore.keysOf")(function* (userId) {
      const rows = yield* sql<KeyRow>`
        SELECT * FROM api_keys WHERE user_id = ${userId} ORDER BY created_at, id`
      return rows.map(keyOf)
    }, asStorageError("AccountStore.keysOf")),

    removeKey: Effect.fn("AccountStore.removeKey")(function* (id, userId) {
      const ofUser = userId === null ? sql`` : sql`AND user_id = ${userId}`
      const rows = yield* sql`DELETE FROM api_keys WHERE id = ${id} ${ofUser} RETURNING id`
      return rows.length > 0
    }, asStorageError("AccountStore.removeKey"))
  })
})

/** `AccountStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient> = Layer.effect(AccountStore, make)
