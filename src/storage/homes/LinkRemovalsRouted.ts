import type { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { type LinkRemovals, lookedFor_ms } from "../links/LinkRemovals.ts"
import { confirmed, LinkTenure, isAtHome, under } from "../links/buckets/LinkTenure.ts"
import * as LinkTombstonesSql from "../links/LinkTombstonesSql.ts"
import { databaseNow, isOneOf } from "../sql/SqlDialect.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import type { LinkDatabase, Router } from "./Router.ts"

/** A database, and how its rows become tombstones. */
export interface HasTombstones extends LinkDatabase {
  readonly tombstones: Effect.Effect.Success<typeof LinkTombstonesSql.make>
}

/** Owners whose links are looked for in one step at most. */
const ownersMax = 100

const operation = "LinkRemovals.remove"

/** What one database has left of owners' links. */
interface Left {
  readonly index: number
  /** Those of the owners who have links there. */
  readonly owners: ReadonlySet<string>
}

/**
 * `LinkRemovals` over several databases. `control` remembers what is asked for, in the transaction of the caller's; an owner is forgotten when no database has links of theirs, and all have answered.
 */
export const make = (
  router: Router<HasTombstones>,
  control: SqlClient.SqlClient,
  { ask }: Pick<typeof LinkRemovals.Service, "ask">
): typeof LinkRemovals.Service => {
  /** All by the same placement: what one of them does not have any more is looked for in the others. */
  const leftIn = (owners: ReadonlyArray<string>) =>
    Effect.map(
      router.gather(operation, ({ sql }, tenure, index) =>
        Effect.map(
          confirmed(
            sql,
            operation,
            tenure,
            sql<{ owner: string }>`
              SELECT asked.owner FROM unnest(${owners}::text[]) AS asked (owner)
              WHERE (SELECT l.key FROM links l WHERE l.owner = asked.owner AND l.deleted_at IS NULL
                     AND ${isAtHome(sql, tenure)} ORDER BY l.created_at, l.key LIMIT 1) IS NOT NULL`
          ),
          (rows): Left => ({ index, owners: new Set(rows.map(({ owner }) => owner)) })
        )
      ),
      ({ answers }) => answers.map(({ answer }) => answer)
    )

  /** Makes tombstones of up to `count` links of an owner in one database. */
  const removeFrom = (wanted: number, owner: string, count: number) =>
    Effect.map(
      router.sweep(operation, ({ sql, tombstones }, tenure, index) => {
        if (index !== wanted) return Effect.succeed<ReadonlyArray<string>>([])
        const some = sql`
          SELECT key FROM links WHERE owner = ${owner} AND deleted_at IS NULL AND ${isAtHome(sql, tenure)}
          ORDER BY created_at, key LIMIT ${count}`
        return under(sql, operation, tenure, tombstones.end(sql`deleted_at IS NULL`, some))
      }),
      (keys) => keys.flat()
    )

  const remove = Effect.fnUntraced(function* (count: number) {
    const asked = yield* control<{ owner: string; is_over: boolean }>`
      SELECT owner, asked_at <= ${databaseNow(control)} - ${lookedFor_ms} AS is_over FROM link_removals
      ORDER BY asked_at, owner LIMIT ${ownersMax}`
    if (asked.length === 0) return []
    const owners = asked.map(({ owner }) => owner)
    const left = yield* leftIn(owners)
    const keys: Array<string> = []
    // Where links are being moved from they are removed later.
    const { leaving } = router.placement.current()
    const removable = left.filter(({ index }) => !leaving.has(index))
    const next = owners.find((owner) => removable.some((one) => one.owners.has(owner)))
    for (const one of removable) {
      if (next === undefined || !one.owners.has(next) || keys.length >= count) continue
      keys.push(...(yield* removeFrom(one.index, next, count - keys.length)))
    }
    yield* router.sweep(
      operation,
      ({ sql }) => sql`DELETE FROM url_indexed_owners WHERE ${isOneOf(sql, "owner", owners)}`
    )
    const gone = asked.filter(
      ({ is_over, owner }) =>
        is_over && left.length === router.databases.length && !left.some((one) => one.owners.has(owner))
    )
    if (gone.length > 0) {
      yield* control`DELETE FROM link_removals WHERE ${isOneOf(
        control,
        "owner",
        gone.map(({ owner }) => owner)
      )}`
    }
    return keys
  })

  return {
    ask,
    remove: (count) =>
      remove(count).pipe(asStorageError(operation), Effect.provideService(LinkTenure, undefined))
  }
}
