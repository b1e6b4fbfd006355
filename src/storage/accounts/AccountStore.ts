import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/** A user account. Times are milliseconds since the Unix epoch. */
export interface User {
  readonly id: string
  /** As it was given. Unique, ignoring case. */
  readonly email: string
  readonly firstName: string | null
  readonly middleName: string | null
  readonly lastName: string | null
  /** `null`: no password opens the account. */
  readonly passwordHash: string | null
  /** Whether somebody else knows the password, so that the user must choose another one first. */
  readonly passwordIsTemporary: boolean
  readonly isAdmin: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
  /** Webhooks that were made in a session before this have ended. */
  readonly webhooksSince: number
  /** Since when the account is disabled; `null`: it is not. */
  readonly disabledAt: number | null
}

/** A user as of a moment: without a name, a password or rights, unless `user` has them. */
export const newUser = (user: Pick<User, "id" | "email"> & Partial<User>, at: number): User => ({
  firstName: null,
  middleName: null,
  lastName: null,
  passwordHash: null,
  passwordIsTemporary: false,
  isAdmin: false,
  createdAt: at,
  updatedAt: at,
  lastLoginAt: null,
  webhooksSince: 0,
  disabledAt: null,
  ...user
})

/** A session: only the SHA-256 of its token is known here. */
export interface Session {
  readonly tokenHash: string
  readonly userId: string
  /** When it began, with the password. */
  readonly createdAt: number
  readonly expiresAt: number
  /** Up to some minutes old. */
  readonly lastUsedAt: number
  /** What it was begun with, in the names of `bowser`. */
  readonly browser: string
  readonly os: string
}

/** How a password is set. */
export interface PasswordChange {
  readonly passwordHash: string
  readonly passwordIsTemporary: boolean
  /** Whether the user's API keys and webhooks, also those made in sessions, end with the old password. */
  readonly revokesKeys: boolean
  readonly at: number
  /** The hash that was verified, where one was: the change is made only as long as that is still the user's. */
  readonly replaces?: string
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
  /** The one with this e-mail address, ignoring case. */
  readonly email?: string | undefined
  /** Those after this place. */
  readonly after?: UserPosition | undefined
  readonly limit: number
}

/** What may be changed of an account. */
export interface UserChange {
  readonly isDisabled?: boolean | undefined
  readonly isAdmin?: boolean | undefined
}

/** Why an account was not changed or removed: it does not exist, or it is the last administrator's that is not disabled. */
export type UserKept = "nobody" | "last-administrator"

/** The form of an e-mail address that is unique among accounts. */
export const emailKeyOf = (email: string): string => email.toLowerCase()

/**
 * Users, their sessions and their API keys.
 *
 * Laws:
 * 1. Ids are unique, and so are e-mail addresses, ignoring case: of concurrent `addUser`s with the same one, one wins.
 * 2. A user has at most as many sessions and keys as the call that adds the next allows: surplus sessions are ended, the expired ones
 *    and then the oldest first; a surplus key is not added.
 * 3. What was ended, removed or overwritten is not found by any later read, on any node.
 * 4. A disabled or removed user has no sessions, none can begin, and no key is found or added, also by concurrent calls. The keys of a user who is enabled
 *    again are found again.
 * 5. An administrator who is not disabled always remains: of concurrent calls that disable, demote or remove the last ones, one is refused.
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
    /** Begins a session, as the user's last login; `false`, and nothing is done, where the password's hash has changed. */
    readonly addSession: (
      session: Session,
      passwordHash: string,
      sessionsMax: number
    ) => Effect.Effect<boolean, StorageError>
    /** The session with this token, also an expired one, and its user. */
    readonly sessionByToken: (
      tokenHash: string
    ) => Effect.Effect<{ readonly session: Session; readonly user: User } | null, StorageError>
    /** A user's sessions, also expired ones, the newest first, those of one moment by their hashes. */
    readonly sessionsOf: (userId: string) => Effect.Effect<ReadonlyArray<Session>, StorageError>
    /** Records when a session was used, unless a later use is recorded. */
    readonly touchSession: (tokenHash: string, at: number) => Effect.Effect<void, StorageError>
    /** Ends a session: gives its user's id, `null` where there is none. */
    readonly endSession: (tokenHash: string) => Effect.Effect<string | null, StorageError>
    /** Ends a user's sessions, except one: gives how many. */
    readonly endSessionsOf: (
      userId: string,
      exceptTokenHash: string | null
    ) => Effect.Effect<number, StorageError>
    /** Adds a key, unless its user has `keysMax` already (`full`), or is disabled or does not exist (`nobody`). */
    readonly addKey: (
      key: ApiKey,
      keysMax: number
    ) => Effect.Effect<"added" | "full" | "nobody", StorageError>
    /** The key with this secret, also an expired one, and its user, unless they are disabled. */
    readonly keyBySecret: (
      secretHash: string
    ) => Effect.Effect<{ readonly key: ApiKey; readonly user: User } | null, StorageError>
    /** A user's keys, the oldest first. */
    readonly keysOf: (userId: string) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError>
    /** Removes a key, of this user only or of any user (`null`): gives its user's id, `null` where there is none. */
    readonly removeKey: (id: string, userId: string | null) => Effect.Effect<string | null, StorageError>
    readonly listUsers: (query: UserQuery) => Effect.Effect<ReadonlyArray<User>, StorageError>
    /** Changes an account: gives it as it was and as it is afterwards. Disabling a user ends all their sessions. */
    readonly changeUser: (
      id: string,
      change: UserChange,
      at: number
    ) => Effect.Effect<{ readonly before: User; readonly after: User } | UserKept, StorageError>
    /** Removes a user, with the sessions and keys. */
    readonly removeUser: (id: string) => Effect.Effect<"removed" | UserKept, StorageError>
  }
>() {}
