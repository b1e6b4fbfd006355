/** What a caller may be allowed to do. `admin` implies all others, and the links of everybody. */
export const scopes = ["links:read", "links:write", "stats:read", "admin"] as const
/** See {@link scopes}. */
export type Scope = (typeof scopes)[number]

/** The user id of the deployment's administrator, to whom `ADMIN_API_KEY` belongs. */
export const adminId = "admin"

/** Bounds on what a caller's API key may be used for; `null`: none but the owner's own. */
export interface Limits {
  readonly createsPerMinute: number | null
  readonly redirectsPerDay: number | null
}

/** The session of a caller. */
export interface CallerSession {
  readonly id: string
  /** When the caller showed the password: milliseconds since the Unix epoch. */
  readonly begunAt: number
  /** Whether the caller must choose another password first. */
  readonly hasTemporaryPassword: boolean
}

/** A caller who has shown who they are. */
export interface KnownCaller {
  readonly userId: string
  /** Whether they may see and change what belongs to others; they have the scope `admin` then. */
  readonly isAdmin: boolean
  readonly scopes: ReadonlySet<Scope>
  /** The API key that they showed; `null` for a session, and for `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly limits: Limits
  /** For callers that are known by a session. */
  readonly session?: CallerSession
}

/** A user who has shown a password, or the administrator's key: with all scopes that they may have, and no limits. */
const withAllScopes = (userId: string, isAdmin: boolean): KnownCaller => ({
  userId,
  isAdmin,
  scopes: new Set(scopes.filter((scope) => isAdmin || scope !== "admin")),
  keyId: null,
  limits: { createsPerMinute: null, redirectsPerDay: null }
})

/** A user who has signed in. */
export const signedIn = (userId: string, isAdmin: boolean, session: CallerSession): KnownCaller => ({
  ...withAllScopes(userId, isAdmin),
  session
})

/** A caller with the administrator's key. */
export const administrator: KnownCaller = withAllScopes(adminId, true)
