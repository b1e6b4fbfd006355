import { createHash } from "node:crypto"
import { Context, type Effect } from "effect"
import type { AuditAction, AuditEvent, Doer } from "../../model/Audit.ts"
import type { StorageError } from "../StorageError.ts"

/** Entries of an hour at most: those of one user, of one client of which nobody knows who it is, and of all these clients. */
export const entriesPerHour = { user: 1_000, client: 60, strangers: 600 } as const

/** Characters of an id in an entry at most. */
const idLengthMax = 128

const minute_ms = 60_000
const hour_ms = 3_600_000

/** One or more events that are alike. Times are milliseconds since the Unix epoch. */
export interface AuditEntry extends Omit<AuditEvent, "at"> {
  readonly id: string
  /** When the first of them happened, and when the last. */
  readonly at: number
  readonly lastAt: number
  readonly count: number
}

/** A place in the order of entries. */
export type AuditPosition = Pick<AuditEntry, "at" | "id">

/** Which entries to list, the newest first. */
export interface AuditQuery {
  /** Those of what this user did, and of what was done to what is theirs. */
  readonly user?: string | undefined
  readonly action?: AuditAction | undefined
  /** Those at or after, and those before a moment. */
  readonly from?: number | undefined
  readonly until?: number | undefined
  /** Those behind this place. */
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

/** What there is already of the hour in which an event happened. */
export interface HourSoFar {
  readonly from: number
  readonly until: number
  /** Whose entries are counted: a user's, or all strangers'. */
  readonly userId: string | null
}

/** Where an event may go. The one rule of all backends. */
export const placesOf = (unbounded: AuditEvent) => {
  const event = boundedOf(unbounded)
  const { doer } = event
  const hour = Math.floor(event.at / hour_ms)
  const crowded = (client: string | null): AuditEntry =>
    entryOf({ ...event, doer: { ...doer, client }, target: null, owner: null }, hour_ms)
  return {
    /** The entry that it has, or is added to. */
    first: entryOf(event, minute_ms),
    /** What is to be counted where that entry is not there yet; `null`: it may always be made. */
    hour:
      doer.by === "command"
        ? null
        : { from: hour * hour_ms, until: (hour + 1) * hour_ms, userId: doer.userId },
    /** Where it goes instead by the numbers of entries in the hour: all, and those of its client. */
    given: (all: number, ofClient: number): AuditEntry => {
      const isStranger = doer.userId === null
      if (all >= (isStranger ? entriesPerHour.strangers : entriesPerHour.user)) return crowded(null)
      return isStranger && ofClient >= entriesPerHour.client
        ? crowded(doer.client)
        : entryOf(event, minute_ms)
    }
  }
}

/** How somebody is known, of those whose entries are counted together. */
export const isCountedWith = (hour: HourSoFar, { by, userId }: Doer): boolean =>
  by !== "command" && userId === hour.userId

/**
 * Who did what to whose things, from where and when.
 *
 * Laws:
 * 1. Each event is counted in one entry. Events of a minute that are alike in all but their moment have one together.
 * 2. In an hour a user, a stranger's client and all strangers have at most so many entries (`entriesPerHour`; but for events at the same moment). What comes then is
 *    counted in one entry for each kind of action, which has no target, and of too many strangers no client. The command line has no bound.
 * 3. `recording` leaves no act without its events, and no events without their act, where the act is one of the same database. Elsewhere the act comes first.
 * 4. Whoever follows a list from page to page sees each entry once that was there all the time.
 * 5. Nothing changes an entry but events that are counted in it, and nothing but `forget` removes one.
 */
export class AuditLog extends Context.Tag("linkmint/AuditLog")<
  AuditLog,
  {
    readonly record: (event: AuditEvent) => Effect.Effect<void, StorageError>
    /** Acts, and records what comes of it. */
    readonly recording: <A, E>(
      act: Effect.Effect<A, E>,
      eventsOf: (done: A) => ReadonlyArray<AuditEvent>
    ) => Effect.Effect<A, E | StorageError>
    readonly list: (query: AuditQuery) => Effect.Effect<ReadonlyArray<AuditEntry>, StorageError>
    /** Removes up to `max` entries whose last event was before a moment: gives how many. */
    readonly forget: (before: number, max: number) => Effect.Effect<number, StorageError>
  }
>() {}
