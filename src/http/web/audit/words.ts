import type { AuditEntry } from "../api/Types.ts"

/** What an entry says that was done. */
export const actions: Readonly<Record<AuditEntry["action"], string>> = {
  "session.begun": "Signed in",
  "session.refused": "Failed to sign in",
  "session.ended": "Signed out",
  "user.added": "Made an account",
  "user.refused": "Sign-up refused",
  "user.disabled": "Disabled an account",
  "user.enabled": "Enabled an account",
  "user.deleted": "Deleted an account",
  "admin.granted": "Made an administrator",
  "admin.withdrawn": "Unmade an administrator",
  "password.changed": "Changed a password",
  "password.refused": "Gave a wrong password",
  "key.added": "Made an API key",
  "key.revoked": "Revoked an API key",
  "webhook.added": "Made a webhook",
  "webhook.removed": "Removed a webhook",
  "domain.added": "Added a domain",
  "domain.changed": "Changed a domain",
  "domain.verified": "Verified a domain",
  "domain.removed": "Removed a domain",
  "link.changed": "Changed a link of somebody else’s",
  "link.deleted": "Deleted a link of somebody else’s",
  "links.deleted": "Deleted all links with an account",
  "keys.skipped": "Skipped keys after a restore"
}

/** How those who did it showed who they are. */
export const ways: Readonly<Record<AuditEntry["by"], string>> = {
  session: "in a session",
  "api-key": "by an API key",
  "admin-key": "by ADMIN_API_KEY",
  command: "on the command line",
  nothing: "Somebody unknown"
}
