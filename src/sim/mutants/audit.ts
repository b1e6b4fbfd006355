import { Effect } from "effect"
import type { AuditEvent } from "../../model/Audit.ts"
import type { AuditLog } from "../../storage/accounts/AuditLog.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

type Log = typeof AuditLog.Service

/** Users who sign in and make API keys and webhooks, and an administrator who reads what they did, in runs in which nothing fails. */
const audited: Mutant["options"] = (options) => ({
  ...withFaults(
    {},
    {
      clients: 6,
      think_ms: 1_200,
      withAccount: 0.4,
      deleted: 0.1,
      signedIn: 0.5,
      withWebhooks: 0.2,
      audited: 0.15
    }
  )(options),
  databases: 1,
  compared: false,
  faulty_s: 20,
  calm_s: 8
})

/** What a process does with the log. */
const recording =
  (mutate: (log: Log) => Partial<Log>): Mutant["make"] =>
  () => ({ audit: (log) => ({ ...log, ...mutate(log) }) })

/** Has other events be recorded with an act. */
const otherwise = (mutate: (events: ReadonlyArray<AuditEvent>) => ReadonlyArray<AuditEvent>) =>
  recording((log) => ({ recording: (act, eventsOf) => log.recording(act, (done) => mutate(eventsOf(done))) }))

/** What can be broken about the audit log. */
export const audit: ReadonlyArray<Mutant> = [
  {
    name: "act-not-recorded",
    text: "The revocation of an API key is not recorded.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: otherwise((events) => events.filter(({ action }) => action !== "key.revoked"))
  },
  {
    name: "act-recorded-twice",
    text: "Each act is recorded twice.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: otherwise((events) => [...events, ...events])
  },
  {
    name: "act-recorded-of-the-owner",
    text: "An act is recorded as done in a session, though an API key was shown.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: otherwise((events) =>
      events.map((event) => ({ ...event, doer: { ...event.doer, by: "session", keyId: null } }))
    )
  },
  {
    name: "act-of-an-administrator-not-recorded",
    text: "What an administrator does to links of others is not recorded.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: recording(() => ({ record: () => Effect.void }))
  },
  {
    name: "audit-pages-overlap",
    text: "A page of the audit log begins with the last entry of the page before.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: recording((log) => ({
      list: (query) =>
        log.list(
          query.after === undefined
            ? query
            : { ...query, after: { ...query.after, id: `${query.after.id}~` } }
        )
    }))
  },
  {
    name: "audit-pages-leave-out",
    text: "A page of the audit log begins behind all entries of the last one's moment.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: recording((log) => ({
      list: (query) =>
        log.list(query.after === undefined ? query : { ...query, after: { ...query.after, id: "" } })
    }))
  },
  {
    name: "audit-log-for-everybody",
    text: "A user who signs in is taken for an administrator.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: () => ({
      sessions: (sessions) => ({
        ...sessions,
        of: (token) =>
          Effect.map(sessions.of(token), (caller) =>
            caller === null
              ? null
              : { ...caller, isAdmin: true, scopes: new Set([...caller.scopes, "admin" as const]) }
          )
      })
    })
  },
  {
    name: "audit-swept-early",
    text: "Entries of the audit log go when they are a month younger than they should be.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: recording((log) => ({
      forget: (before, max) => log.forget(before + 30 * 24 * 3_600_000, max)
    }))
  },
  {
    name: "audit-swept-late",
    text: "Entries of the audit log are kept for a month longer than they should be.",
    promise: "accounts",
    checker: "audit log",
    options: audited,
    make: recording((log) => ({
      forget: (before, max) => log.forget(before - 30 * 24 * 3_600_000, max)
    }))
  }
]
