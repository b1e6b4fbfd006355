import { Effect, Layer } from "effect"
import type { AuditEvent } from "../../model/Audit.ts"
import { type AuditEntry, AuditLog, type AuditQuery, placesOf } from "../../storage/accounts/AuditLog.ts"

const newestFirst = (one: AuditEntry, other: AuditEntry) => other.at - one.at || (one.id < other.id ? 1 : -1)

const isWanted = (entry: AuditEntry, { action, after, from, until, user }: AuditQuery) =>
  (user === undefined || entry.doer.userId === user || entry.owner === user) &&
  (action === undefined || entry.action === action) &&
  (from === undefined || entry.at >= from) &&
  (until === undefined || entry.at < until) &&
  (after === undefined || entry.at < after.at || (entry.at === after.at && entry.id < after.id))

/** `AuditLog` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const entries = new Map<string, AuditEntry>()

  const placeOf = (event: AuditEvent): AuditEntry => {
    const { first, given, hour } = placesOf(event)
    if (hour === null || entries.has(first.id)) return first
    const own = [...entries.values()].filter(
      ({ at, doer: { by, userId } }) =>
        at >= hour.from && at < hour.until && by !== "command" && userId === hour.userId
    )
    return given(own.length, own.filter(({ doer }) => doer.client === first.doer.client).length)
  }

  const record = (event: AuditEvent) =>
    Effect.sync(() => {
      const entry = placeOf(event)
      const known = entries.get(entry.id)
      entries.set(
        entry.id,
        known === undefined
          ? entry
          : { ...known, lastAt: Math.max(known.lastAt, entry.at), count: known.count + 1 }
      )
    })

  return AuditLog.of({
    record,
    recording: (act, eventsOf) =>
      Effect.tap(act, (done) => Effect.forEach(eventsOf(done), record, { discard: true })),
    list: (query) =>
      Effect.sync(() =>
        [...entries.values()]
          .filter((entry) => isWanted(entry, query))
          .toSorted(newestFirst)
          .slice(0, query.limit)
      ),
    forget: (before, max) =>
      Effect.sync(() => {
        const old = [...entries.values()]
          .filter(({ lastAt }) => lastAt < before)
          .toSorted((one, other) => one.at - other.at)
          .slice(0, max)
        old.forEach(({ id }) => entries.delete(id))
        return old.length
      })
  })
})

/** A log of its own for each build of the layer. */
export const layer: Layer.Layer<AuditLog> = Layer.effect(AuditLog, make)
