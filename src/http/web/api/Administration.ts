import { request } from "./Client.ts"
import type { LinkFate } from "./Accounts.ts"
import type { AuditPage, User, Users } from "./Types.ts"

const queryOf = (parameters: Readonly<Record<string, string | null>>) =>
  new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) =>
      value === null || value === "" ? [] : [[name, value]]
    )
  ).toString()

const rowsPerPage = "25"

/** A page of the users, the newest first. */
export const users = (cursor: string | null, signal: AbortSignal) =>
  request<Users>("GET", `/api/v1/users?${queryOf({ limit: rowsPerPage, cursor })}`, { signal })

/** The user with an e-mail address, in whatever case; `undefined` where there is none. */
export const userOf = async (email: string): Promise<User | undefined> =>
  (await request<Users>("GET", `/api/v1/users?${queryOf({ email })}`)).data[0]

/** Users that can be named at most; more are shown by their ids. */
const namedMax = "500"

/** The newest users, to name them. */
export const newestUsers = async (signal: AbortSignal): Promise<Users["data"]> =>
  (await request<Users>("GET", `/api/v1/users?${queryOf({ limit: namedMax })}`, { signal })).data

const pathOf = (id: string) => `/api/v1/users/${encodeURIComponent(id)}`

/** Disables or enables a user, or makes one an administrator or none. */
export const changeUser = (id: string, body: { readonly disabled?: boolean; readonly admin?: boolean }) =>
  request<User>("PATCH", pathOf(id), { body })

/** Deletes a user, and the links as well where that is wanted. */
export const deleteUser = (id: string, links: LinkFate) => request("DELETE", `${pathOf(id)}?links=${links}`)

/** A page of the audit log, the newest first: all of it, of one user, of one kind of action. */
export const audit = (
  { action, user }: { readonly action: string; readonly user: string },
  cursor: string | null,
  signal: AbortSignal
) =>
  request<AuditPage>("GET", `/api/v1/audit?${queryOf({ limit: rowsPerPage, action, user, cursor })}`, {
    signal
  })
