import type { Exchange } from "../History.ts"

/** A link that a client was told of, and what clients did to it. Times are microseconds since the world's beginning. */
export interface CreatedLink {
  readonly create: Exchange
  /** When the first delete of it was sent, and when the first one was acknowledged. */
  readonly deleteSent_us: number
  readonly deleted_us: number
  /** How many deletes of it were sent. */
  readonly deletes: number
}

/** The links that were created, by their keys. */
export const createdLinks = (exchanges: ReadonlyArray<Exchange>): ReadonlyMap<string, CreatedLink> => {
  const sent = new Map<string, number>()
  const deletes = new Map<string, number>()
  const done = new Map<string, number>()
  for (const { answered_us, key, kind, sent_us, status } of exchanges) {
    if (kind !== "delete" || key === undefined) continue
    deletes.set(key, (deletes.get(key) ?? 0) + 1)
    sent.set(key, Math.min(sent_us, sent.get(key) ?? Number.POSITIVE_INFINITY))
    if (status === 204) done.set(key, Math.min(answered_us!, done.get(key) ?? Number.POSITIVE_INFINITY))
  }
  const created = new Map<string, CreatedLink>()
  for (const create of exchanges) {
    if (create.kind !== "create" || create.status !== 201 || create.key === undefined) continue
    // A repeat may have been answered before.
    const before = created.get(create.key)?.create
    if (before !== undefined && before.answered_us! < create.answered_us!) continue
    created.set(create.key, {
      create,
      deleteSent_us: sent.get(create.key) ?? Number.POSITIVE_INFINITY,
      deleted_us: done.get(create.key) ?? Number.POSITIVE_INFINITY,
      deletes: deletes.get(create.key) ?? 0
    })
  }
  return created
}
