import { request } from "./Client.ts"
import type { ApiKey, MadeApiKey, Me, Session } from "./Types.ts"

/** Who is signed in. */
export const me = () => request<Me>("GET", "/api/v1/me")

/** Begins a session. */
export const signIn = (email: string, password: string) =>
  request("POST", "/api/v1/session", { body: { email, password }, isOutside: true })

/** Ends the session. */
export const signOut = () => request("DELETE", "/api/v1/session")

/** Where one is signed in. */
export const sessions = async (signal: AbortSignal) =>
  (await request<{ readonly data: ReadonlyArray<Session> }>("GET", "/api/v1/sessions", { signal })).data

/** Ends a session. */
export const endSession = (id: string) => request("DELETE", `/api/v1/sessions/${encodeURIComponent(id)}`)

/** Ends all sessions but this one. */
export const endOtherSessions = () => request("DELETE", "/api/v1/sessions")

/** Changes the password; this browser gets another session. */
export const changePassword = (currentPassword: string, password: string, revokeKeys: boolean) =>
  request("PUT", "/api/v1/me/password", { body: { currentPassword, password, revokeKeys } })

/** A new account. */
export interface NewAccount {
  readonly email: string
  readonly password: string
  readonly firstName?: string
}

/** Makes an account. */
export const signUp = (body: NewAccount) => request("POST", "/api/v1/users", { body })

/** What becomes of the links of an account that is deleted. */
export type LinkFate = "keep" | "delete"

/** Deletes one's own account, and the links as well where that is wanted. */
export const deleteMe = (links: LinkFate) => request("DELETE", `/api/v1/me?links=${links}`)

/** One's API keys, the oldest first. */
export const keys = async (signal: AbortSignal) =>
  (await request<{ readonly data: ReadonlyArray<ApiKey> }>("GET", "/api/v1/api-keys", { signal })).data

/** A new API key. */
export interface NewKey {
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly createsPerMinute?: number
  readonly redirectsPerDay?: number
  readonly expiresAt?: string
}

/** Makes an API key. */
export const addKey = (body: NewKey) => request<MadeApiKey>("POST", "/api/v1/api-keys", { body })

/** Revokes an API key. */
export const revokeKey = (id: string) => request("DELETE", `/api/v1/api-keys/${encodeURIComponent(id)}`)
