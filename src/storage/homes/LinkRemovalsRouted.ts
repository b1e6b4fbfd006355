import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { type LinkRemovals, lookedFor_ms } from "../links/LinkRemovals.ts"
import { confirmed, isAtHome, LinkTenure, type Tenure, under } from "../links/buckets/LinkTenure.ts"
import type * as LinkTombstonesSql from "../links/LinkTombstonesSql.ts"
import { databaseNow, isOneOf } from "../sql/SqlDialect.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"
import type { LinkDatabase, Router } from "./Router.ts"

/** The links of owners in one database. Which of them are at home there its caller knows. */
export interface OwnersLinks {
  /** Which of some owners have links that are not deleted. */
  readonly having: (
    owners: ReadonlyArray<string>,
    tenure: Tenure
  ) => Effect.Effect<ReadonlyArray<string>, StorageError | SqlError>
  /** Makes tombstones of up to `count` links of an owner: gives their keys. */
  readonly end: (
    owner: string,
    count: number,
    tenure: Tenure
  ) => Effect.Effect<ReadonlyArray<string>, StorageError | SqlError>
  /** Has no URLs of owners found any more. */
  readonly unindex: (owners: ReadonlyArray<string>) => Effect.Effect<unknown, StorageError | SqlError>
}

/** Owners whose links are to be deleted, as the control database remembers them. */
export interface OwnersGone {
  /** Those who were asked for first, `count` at most. `isOver`: whether new links of theirs need not be looked for any more. */
  readonly first: (
    count: number
  ) => Effect.Effect<
    ReadonlyArray<{ readonly owner: string; readonly isOver: boolean }>,
    StorageError | SqlError
  >
  readonly forget: (owners: ReadonlyArray<string>) => Effect.Effect<unknown, StorageError | SqlError>
}

/** A database, and the links of owners in it. */
export interface HasOwners extends LinkDatabase {
  readonly owned: OwnersLinks
}

/** {@link OwnersLinks} of a database of PostgreSQL. */
export const ofDatabase = (
  sql: SqlClient.SqlClient,
  { end }: Effect.Effect.Success<typeof LinkTombstonesSql.make>
): OwnersLinks => ({
  having: (owners, tenure) =>
    Effect.map(
      sql<{ owner: string }>`
        SELECT asked.owner FROM unnest(${owners}::text[]) AS asked (owner)
        WHERE (SELECT l.key FROM links l WHERE l.owner = asked.owner AND l.deleted_at IS NULL
               AND ${isAtHome(sql, tenure)} ORDER BY l.created_at, l.key LIMIT 1) IS NOT NULL`,
      (rows) => rows.map(({ owner }) => owner)
    ),
  end: (owner, count, tenure) =>
    end(
      sql`deleted_at IS NULL`,
      sql`
        SELECT key FROM links WHERE owner = ${owner} AND deleted_at IS NULL AND ${isAtHome(sql, tenure)}
        ORDER BY created_at, key LIMIT ${count}`
    ),
  unindex: (owners) => sql`DELETE FROM url_indexed_owners WHERE ${isOneOf(sql, "owner", owners)}`
})

/** {@link OwnersGone} in a database of PostgreSQL. */
export const ofControl = (sql: SqlClient.SqlClient): OwnersGone => ({
  first: (count) => sql`
    SELECT owner, asked_at <= ${databaseNow(sql)} - ${lookedFor_ms} AS "isOver" FROM link_removals
    ORDER BY asked_at, owner LIMIT ${count}`,
  forget: (owners) => sql`DELETE FROM link_removals WHERE ${isOneOf(sql, "owner", owners)}`
})

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
 * `LinkRemovals` over several databases. The control database remembers what is asked for, in the transaction of the caller's; an owner is forgotten when no database has links of theirs, and all have answered.
 */
export const make = (
  router: Router<HasOwners>,
  gone: OwnersGone,
  { ask }: Pick<typeof LinkRemovals.Service, "ask">
): typeof LinkRemovals.Service => {
  /** All by the same placement: what one of them does not have any more is looked for in the others. */
  const leftIn = (owners: ReadonlyArray<string>) =>
    Effect.map(
      router.gather(operation, ({ owned, sql }, tenure, index) =>
        Effect.map(confirmed(sql, operation, tenure, owned.having(owners, tenure)), (some): Left => ({
          index,
          owners: new Set(some)
        }))
      ),
      ({ answers }) => answers.map(({ answer }) => answer)
    )

  /** Makes tombstones of up to `count` links of an owner in one database. */
  const removeFrom = (wanted: number, owner: string, count: number) =>
    Effect.map(
      router.sweep(operation, ({ owned, sql }, tenure, index) =>
        index === wanted
          ? under(sql, operation, tenure, owned.end(owner, count, tenure))
          : Effect.succeed<ReadonlyArray<string>>([])
      ),
      (keys) => keys.flat()
    )

  const remove = Effect.fnUntraced(function* (count: number) {
    const asked = yield* gone.first(ownersMax)
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
    yield* router.sweep(operation, ({ owned }) => owned.unindex(owners))
    const over = asked.filter(
      ({ isOver, owner }) =>
        isOver && left.length === router.databases.length && !left.some((one) => one.owners.has(owner))
    )
    if (over.length > 0) yield* gone.forget(over.map(({ owner }) => owner))
    return keys
  })

  return {
    ask,
    remove: (count) =>
      remove(count).pipe(asStorageError(operation), Effect.provideService(LinkTenure, undefined))
  }
}
