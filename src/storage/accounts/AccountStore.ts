import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

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
  /** Whether somebody else knows the password, so that the user must choose another one before all else. */
  readonly passwordIsTemporary: boolean
  readonly isAdmin: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
  /** Webhooks that were made in a session stand where they were made after this. */
  readonly webhooksSince: number
  /** Since when nothing works that this account opens; `null`: it works. */
  readonly disabledAt: number | null
}

/** A session: only the SHA-256 of its token is known here. */
export interface Session {
  readonly tokenHash: string
  readonly userId: string
  /** When it began, with the password. */
  readonly createdAt: number
  readonly expiresAt: number
  /** Some minutes old at most. */
  readonly lastUsedAt: number
  /** What it was begun with, in the names of `bowser`. */
  readonly browser: string
  readonly os: string
}

/** How a password is set. */
export interface PasswordChange {
  readonly passwordHash: string
  readonly passwordIsTemporary: boolean
  /** Whether the user's API keys end with the old password, and so do the webhooks, those that were made in sessions too. */
  readonly revokesKeys: boolean
  readonly at: number
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

/** A place in the list of users. */
export type UserPosition = Pick<User, "createdAt" | "id">

/** Which users to list, the newest first. */
export interface UserQuery {
  /** The one with this e-mail address, in whatever case. */
  readonly email?: string | undefined
  /** Those behind this place. */
  readonly after?: UserPosition | undefined
  readonly limit: number
}

/** What may be changed of an account. */
export interface UserChange {
  readonly isDisabled?: boolean | undefined
  readonly isAdmin?: boolean | undefined
}

/** Why an account was not changed or removed: there is none, or it is the last administrator's that works. */
export type UserKept = "nobody" | "last-administrator"

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
 * 4. Of a user who is disabled or removed no session is left, begins or is found, and no key is found or added, however close to that they were begun. Keys of one who is enabled
 *    again are found again.
 * 5. Where there is an administrator who is not disabled there is always one: of those who disable, demote or remove the last ones, one is refused.
 */
export class AccountStore extends Context.Tag("linkmint/AccountStore")<
  AccountStore,
  {
    /** Adds a user; `false` where the id or the e-mail address is taken. */
    readonly addUser: (user: User) => Effect.Effect<boolean, StorageError>
    readonly userById: (id: string) => Effect.Effect<User | null, StorageError>
    readonly userByEmail: (email: string) => Effect.Effect<User | null, StorageError>
    /** Sets a password, and ends the user's sessions; `false` where there is no such user. */
    readonly setPassword: (id: string, change: PasswordChange) => Effect.Effect<boolean, StorageError>
    /** Begins a session, as the user's last login; `false`, and nothing is done, where the password's hash is another one by now. */
    readonly addSession: (
      session: Session,
      passwordHash: string,
      sessionsMax: number
    ) => Effect.Effect<boolean, StorageError>
    /** The session with this token, also where it has expired, and its user. */
    readonly sessionByToken: (
      tokenHash: string
    ) => Effect.Effect<{ readonly session: Session; readonly user: User } | null, StorageError>
    /** A user's sessions, also those that have expired, the one that was begun last first. */
    readonly sessionsOf: (userId: string) => Effect.Effect<ReadonlyArray<Session>, StorageError>
    /** Says when a session was used, unless it was used later. */
    readonly touchSession: (tokenHash: string, at: number) => Effect.Effect<void, StorageError>
    /** Ends a session: gives whose it was, `null` where there is none. */
    readonly endSession: (tokenHash: string) => Effect.Effect<string | null, StorageError>
    /** Ends a user's sessions, all but one of them: gives how many. */
    readonly endSessionsOf: (
      userId: string,
      exceptTokenHash: string | null
    ) => Effect.Effect<number, StorageError>
    /** Adds a key, unless its user has `keysMax` already (`full`), or is disabled or not there (`nobody`). */
    readonly addKey: (
      key: ApiKey,
      keysMax: number
    ) => Effect.Effect<"added" | "full" | "nobody", StorageError>
    /** The key with this secret, also where it has expired, and its user, unless that is disabled. */
    readonly keyBySecret: (
      secretHash: string
    ) => Effect.Effect<{ readonly key: ApiKey; readonly user: User } | null, StorageError>
    /** A user's keys in the order in which they were made. */
    readonly keysOf: (userId: string) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError>
    /** Removes a key, of this user alone or of anybody (`null`): gives whose it was, `null` where there is none. */
    readonly removeKey: (id: string, userId: string | null) => Effect.Effect<string | null, StorageError>
    readonly listUsers: (query: UserQuery) => Effect.Effect<ReadonlyArray<User>, StorageError>
    /** Changes an account at a moment: gives it as it was and as it is then. Who is disabled loses all sessions. */
    readonly changeUser: (
      id: string,
      change: UserChange,
      at: number
    ) => Effect.Effect<{ readonly before: User; readonly after: User } | UserKept, StorageError>
    /** Removes a user, with the sessions and keys. */
    readonly removeUser: (id: string) => Effect.Effect<"removed" | UserKept, StorageError>
  }
>() {}
