/** The actions that the audit log records. */
export const auditActions = [
  "session.begun",
  "session.refused",
  "session.ended",
  "user.added",
  "user.refused",
  "user.disabled",
  "user.enabled",
  "user.deleted",
  "admin.granted",
  "admin.withdrawn",
  "password.changed",
  "password.refused",
  "key.added",
  "key.revoked",
  "webhook.added",
  "webhook.removed",
  "domain.added",
  "domain.changed",
  "domain.verified",
  "domain.removed",
  "link.changed",
  "link.deleted",
  "links.deleted",
  "keys.skipped"
] as const
/** See {@link auditActions}. */
export type AuditAction = (typeof auditActions)[number]

/** How somebody showed who they are: `admin-key` is `ADMIN_API_KEY`, `command` the administrator's command line, `nothing` that they did not. */
export const doerKinds = ["session", "api-key", "admin-key", "command", "nothing"] as const

/** Who did something. */
export interface Doer {
  readonly by: (typeof doerKinds)[number]
  readonly userId: string | null
  /** The API key that they showed. */
  readonly keyId: string | null
  /** The client, as a keyed hash of the address that limits count for; `null`: on this machine, or not known. */
  readonly client: string | null
}

/** The administrator's command line. */
export const command: Doer = { by: "command", userId: null, keyId: null, client: null }

/** Somebody who has not shown who they are. */
export const stranger = (client: string | null): Doer => ({
  by: "nothing",
  userId: null,
  keyId: null,
  client
})

/** Something that was done, or refused. */
export interface AuditEvent {
  readonly doer: Doer
  readonly action: AuditAction
  /** What it was done to: the id of a user, an API key or a webhook, or a link's key, or a domain's host; `null` where there is none. */
  readonly target: string | null
  /** The owner of the target: the id of a user; `null` where it has none. */
  readonly owner: string | null
  /** When, in milliseconds since the Unix epoch. */
  readonly at: number
}
