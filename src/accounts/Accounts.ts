import { Context, Effect, Layer, Redacted } from "effect"
import { AdminKey } from "../Deployment.ts"
import * as Secret from "../Secret.ts"
import type { StorageError } from "../storage/StorageError.ts"

/** What a caller may be allowed to do. `admin` implies all others, and the links of everybody. */
export const scopes = ["links:read", "links:write", "stats:read", "admin"] as const
/** See {@link scopes}. */
export type Scope = (typeof scopes)[number]

/** The user id of the deployment's administrator, whom `ADMIN_API_KEY` stands for. */
export const adminId = "admin"

/** Bounds on what a caller's API key may be used for; `null`: none but the owner's own. */
export interface Limits {
  readonly createsPerMinute: number | null
  readonly redirectsPerDay: number | null
}

/** A caller who has shown who he is. */
export interface KnownCaller {
  readonly userId: string
  /** Whether he may see and change what belongs to others. */
  readonly isAdmin: boolean
  readonly scopes: ReadonlySet<Scope>
  /** The API key that he showed; `null` for a session, and for `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly limits: Limits
}

/** Whoever presents the administrator's key. */
const administrator: KnownCaller = {
  userId: adminId,
  isAdmin: true,
  scopes: new Set(scopes),
  keyId: null,
  limits: { createsPerMinute: null, redirectsPerDay: null }
}

/** Users and their credentials, as the HTTP routes need them. */
export class Accounts extends Context.Tag("linkmint/Accounts")<
  Accounts,
  {
    /** Whose API key this is; `null` where it is nobody's. The administrator's is known without asking a store. */
    readonly ofKey: (key: Redacted.Redacted) => Effect.Effect<KnownCaller | null, StorageError>
  }
>() {}

/** See {@link Accounts}. */
export const layer: Layer.Layer<Accounts, never, AdminKey> = Layer.effect(
  Accounts,
  Effect.map(AdminKey, ({ digest }) =>
    Accounts.of({
      ofKey: (key) => Effect.succeed(Secret.matches(key, digest) ? administrator : null)
    })
  )
)
