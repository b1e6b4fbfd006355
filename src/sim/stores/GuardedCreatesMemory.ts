import { defaultDomain, domainKeyOf } from "../../keys/QualifiedKey.ts"
import { Clock, Effect } from "effect"
import { type Link, stateAt } from "../../model/Link.ts"
import {
  type Beginning,
  type Guard,
  GuardedCreates,
  type GuardedLink,
  type GuardedOutcome,
  type GuardState
} from "../../storage/links/GuardedCreates.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"

/** A guard, when it was begun (milliseconds since the Unix epoch), and what it was settled with. */
export interface GuardRow extends Guard {
  readonly begunAt: number
  readonly fingerprint: string
  readonly key: string | null
  readonly answer: string | null
}

/** `GuardedCreates` over a table of links by their keys, the store that inserts into it, and a table of guards by their names. */
export const makeOver = (
  links: Pick<ReadonlyMap<string, Link>, "values">,
  { insertMany }: Pick<typeof LinkStore.Service, "insertMany">,
  rows = new Map<string, GuardRow>()
): typeof GuardedCreates.Service => {
  const holder = ({ name, token }: Guard) => {
    const row = rows.get(name)
    return row?.token === token ? row : undefined
  }

  const open = (guard: Guard) => {
    const row = holder(guard)
    return row?.answer === null ? row : undefined
  }

  const begin = (beginning: Beginning, now: number): GuardState => {
    const { fingerprint, keep_ms, lease_ms, name, replaces, token } = beginning
    const row = rows.get(name)
    const isFree =
      row === undefined ||
      row.begunAt <= now - keep_ms ||
      (replaces !== undefined && row.key === replaces) ||
      (row.answer === null && (row.begunAt <= now - lease_ms || row.begunAt > now + lease_ms))
    if (isFree) {
      rows.set(name, { name, token, begunAt: now, fingerprint, key: null, answer: null })
      return { _tag: "Begun" }
    }
    return row.answer === null
      ? { _tag: "Running", fingerprint: row.fingerprint }
      : { _tag: "Settled", fingerprint: row.fingerprint, key: row.key, answer: row.answer }
  }

  const bind = (guarded: GuardedLink): Effect.Effect<GuardedOutcome, StorageError> =>
    Effect.suspend(() => {
      const { answer, guards, link } = guarded
      const held = guards.map(holder)
      if (held.some((row) => row === undefined || (row.answer !== null && row.answer !== answer))) {
        return Effect.succeed("superseded")
      }
      if (held.every((row) => row!.answer !== null)) return Effect.succeed("bound")
      return Effect.map(insertMany([link]), ([isBound]) => {
        if (isBound !== true) return "taken"
        for (const row of held) rows.set(row!.name, { ...row!, key: link.key, answer })
        return "bound"
      })
    })

  return GuardedCreates.of({
    beginMany: (batch) =>
      Effect.map(Clock.currentTimeMillis, (now) => batch.map((beginning) => begin(beginning, now))),
    bindMany: (batch) => Effect.forEach(batch, bind),
    settleMany: (batch) =>
      Effect.sync(() =>
        batch.map(({ answer, key = null, ...guard }) => {
          const row = open(guard)
          if (row !== undefined) rows.set(row.name, { ...row, key, answer })
          return row !== undefined
        })
      ),
    abandonMany: (batch) =>
      Effect.sync(() =>
        batch.map((guard) => {
          const row = open(guard)
          return row !== undefined && rows.delete(row.name)
        })
      ),
    findByUrl: (owner, url, now) =>
      Effect.sync(() => {
        const found = Array.from(links.values()).filter(
          (link) =>
            link.owner === owner &&
            link.url === url &&
            domainKeyOf(link.key).domain === defaultDomain &&
            link.extras === undefined &&
            stateAt(link, now) === "live"
        )
        const [newest] = found.toSorted(
          (one, other) => other.createdAt - one.createdAt || (one.key < other.key ? -1 : 1)
        )
        if (newest === undefined) return null
        const { createId: _, ...link } = newest
        return link
      }),
    drop: (keep_ms, count) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const old = Array.from(rows.values()).filter(({ begunAt }) => begunAt <= now - keep_ms)
        const dropped = old.toSorted((one, other) => one.begunAt - other.begunAt).slice(0, count)
        dropped.forEach(({ name }) => rows.delete(name))
        return dropped.length
      })
  })
}
