import { createHash } from "node:crypto"
import { Context, type Effect } from "effect"
import type { AuditAction, AuditEvent } from "../../model/Audit.ts"
import type { StorageError } from "../StorageError.ts"

/** Entries of an hour at most: of one user, of one client that has not shown who it is, and of all such clients. */
export const entriesPerHour = { user: 1_000, client: 60, strangers: 600 } as const

/** Characters of an id in an entry at most. */
const idLengthMax = 128

const minute_ms = 60_000
const hour_ms = 3_600_000

/** One or more events that are alike. Times are milliseconds since the Unix epoch. */
export interface AuditEntry extends Omit<AuditEvent, "at"> {
  readonly id: string
  /** When the first and the last of them happened. */
  readonly at: number
  readonly lastAt: number
  readonly count: number
}

/** A place in the order of entries. */
export type AuditPosition = Pick<AuditEntry, "at" | "id">

/** Which entries to list, the newest first. */
export interface AuditQuery {
  /** What this user did, and what was done to their things. */
  readonly user?: string | undefined
  readonly action?: AuditAction | undefined
  /** Entries at or after `from`, and before `until`. */
  readonly from?: number | undefined
  readonly until?: number | undefined
  /** Those after this place. */
  readonly after?: AuditPosition | undefined
  readonly limit: number
}

const cut = (id: string | null) => id?.slice(0, idLengthMax) ?? null

const boundedOf = ({ action, at, doer, owner, target }: AuditEvent): AuditEvent => ({
  doer: { by: doer.by, userId: cut(doer.userId), keyId: cut(doer.keyId), client: cut(doer.client) },
  action,
  target: cut(target),
  owner: cut(owner),
  at
})

/** The entry of a single event: events that are alike within `period_ms` have the same one. */
const entryOf = (event: AuditEvent, period_ms: number): AuditEntry => {
  const { action, at, doer, owner, target } = event
  const period = Math.floor(at / period_ms)
  const alike = [period_ms, period, doer.by, doer.userId, doer.keyId, doer.client, action, target, owner]
  const id = createHash("sha256").update(JSON.stringify(alike)).digest("base64url").slice(0, 24)
  return { ...event, id: `aud_${id}`, lastAt: at, count: 1 }
}

/** Which entry counts an event. All backends share this rule. */
export const placesOf = (unbounded: AuditEvent) => {
  const event = boundedOf(unbounded)
  const { doer } = event
  const hour = Math.floor(event.at / hour_ms)
  const crowded = (client: string | null): AuditEntry =>
    entryOf({ ...event, doer: { ...doer, client }, target: null, owner: null }, hour_ms)
  return {
    /** The entry of the event, or of events like it. */
    first: entryOf(event, minute_ms),
    /** The hour whose entries are counted where that entry is not there yet, and whose: a user's, or all strangers'; `null`: it may always be made. */
    hour:
      doer.by === "command"
        ? null
        : { from: hour * hour_ms, until: (hour + 1) * hour_ms, userId: doer.userId },
    /** The entry that counts it instead, by the numbers of entries in the hour: all, and those of its client. */
    given: (all: number, ofClient: number): AuditEntry => {
      const isStranger = doer.userId === null
      if (all >= (isStranger ? entriesPerHour.strangers : entriesPerHour.user)) return crowded(null)
      return isStranger && ofClient >= entriesPerHour.client
        ? crowded(doer.client)
        : entryOf(event, minute_ms)
    }
  }
}

/**
 * Who did what to whose things, from where and when.
 *
 * Laws:
 * 1. Each event is counted in one entry. Events of a minute that differ only in their moment share one.
 * 2. In an hour a user, a stranger's client and all strangers together have a limited number of entries (`entriesPerHour`; concurrent events can exceed it). Further events are
 *    counted in one entry for each kind of action, without a target, and beyond the limit of all strangers without a client. The command line is not limited.
 * 3. `recording` commits an act and its events together, or neither, where the act is in the same database. Otherwise the act comes first.
 * 4. A list that is read page by page has each entry that existed all the time once.
 * 5. Only events that are counted in an entry change it, and only `forget` removes one.
 */
export class AuditLog extends Context.Tag("linkmint/AuditLog")<
  AuditLog,
  {
    readonly record: (event: AuditEvent) => Effect.Effect<void, StorageError>
    /** Acts, and records the events of its result. */
    readonly recording: <A, E>(
      act: Effect.Effect<A, E>,
      eventsOf: (done: A) => ReadonlyArray<AuditEvent>
    ) => Effect.Effect<A, E | StorageError>
    readonly list: (query: AuditQuery) => Effect.Effect<ReadonlyArray<AuditEntry>, StorageError>
    /** Removes up to `max` entries whose last event was before a moment: gives how many. */
    readonly forget: (before: number, max: number) => Effect.Effect<number, StorageError>
  }
>() {}
