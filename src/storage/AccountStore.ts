import { Context, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/** Somebody with an account. Times are milliseconds since the Unix epoch. */
export interface User {
  readonly id: string
  /** As it was given; no two users have the same but for case. */
  readonly email: string
  readonly firstName: string | null
  readonly middleName: string | null
  readonly lastName: string | null
  /** `null`: no password opens the account. */
  readonly passwordHash: string | null
  readonly isAdmin: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
}

/** A session: only the SHA-256 of its token is known here. */
export interface Session {
  readonly tokenHash: string
  readonly userId: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** An API key: only the SHA-256 of its secret is known here. */
export interface ApiKey {
  readonly id: string
  readonly userId: string
  readonly secretHash: string
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly createsPerMinute: number | null
  readonly redirectsPerDay: number | null
  readonly createdAt: number
  readonly expiresAt: number | null
}

/** What is the same of two e-mail addresses that are the same account's. */
export const emailKeyOf = (email: string): string => email.toLowerCase()

/**
 * Users, their sessions and their API keys.
 *
 * Laws:
 * 1. No two users have the same id, or e-mail addresses that differ in case alone: of those who add them, one wins.
 * 2. A user has at most as many sessions and keys as the one who adds the next allows: sessions that are too many are ended, those that have expired
 *    and then the oldest first; a key that is too many is not added.
 * 3. What was ended, removed or overwritten is never found again by whoever asks later, on any node.
 */
export class AccountStore extends Context.Tag("linkmint/AccountStore")<
  AccountStore,
  {
    /** Adds a user; `false` where the id or the e-mail address is taken. */
    readonly addUser: (user: User) => Effect.Effect<boolean, StorageError>
    readonly userById: (id: string) => Effect.Effect<User | null, StorageError>
    readonly userByEmail: (email: string) => Effect.Effect<User | null, StorageError>
    /** Sets a password, and ends the user's sessions; `false` where there is no such user. */
    readonly setPassword: (
      id: string,
      passwordHash: string,
      at: number
    ) => Effect.Effect<boolean, StorageError>
    /** Begins a session, as the user's last login; `false`, and nothing is done, where his password's hash is another one by now. */
    readonly addSession: (
      session: Session,
      passwordHash: string,
      sessionsMax: number
    ) => Effect.Effect<boolean, StorageError>
    /** Whose session this is, unless it has expired at `now`. */
    readonly userOfSession: (tokenHash: string, now: number) => Effect.Effect<User | null, StorageError>
    readonly endSession: (tokenHash: string) => Effect.Effect<void, StorageError>
    /** Adds a key of a user that exists; `false` where he has `keysMax` already. */
    readonly addKey: (key: ApiKey, keysMax: number) => Effect.Effect<boolean, StorageError>
    /** The key with this secret, also where it has expired, and its user. */
    readonly keyBySecret: (
      secretHash: string
    ) => Effect.Effect<{ readonly key: ApiKey; readonly user: User } | null, StorageError>
    /** A user's keys in the order in which they were made. */
    readonly keysOf: (userId: string) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError>
    /** Removes a key, of this user alone or of anybody (`null`); `false` where there is none. */
    readonly removeKey: (id: string, userId: string | null) => Effect.Effect<boolean, StorageError>
  }
>() {}
