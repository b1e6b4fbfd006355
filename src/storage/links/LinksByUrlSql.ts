import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Duration, Effect, Schedule, Scope } from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import type { Link } from "../../model/Link.ts"
import { linkColumns, linkOf, type LinkRow, urlHash } from "./LinkColumns.ts"
import { andAtHome, areMoving, LinkTenure, under } from "./buckets/LinkTenure.ts"
import { writersGone } from "./buckets/LinkWriters.ts"
import { forUpdate, isOneOf } from "../sql/SqlDialect.ts"
import { type Columns, rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { StorageError } from "../StorageError.ts"

/** Links whose hashes are filled in by one transaction: it holds their rows, and SQLite's writer, for some milliseconds. */
const filledAtOnce = 200

/** Owners whose links a node fills in at once. */
const fillsMax = 2

/** How long a caller waits for the links of an owner to be filled in, which goes on after that. */
const fillWaitMax = Duration.seconds(3)

const operation = "GuardedCreates.findByUrl"

/** How often is looked whether another node is done. */
const lookAgain = Duration.millis(20)

/**
 * How links get their `url_hash` in an `INSERT` that selects from rows named `inserted`: null unless their owner looks for links by URL. PostgreSQL computes it, for those owners alone; SQLite cannot, and
 * is given it with the rows.
 */
export const hashIfIndexed = (sql: SqlClient.SqlClient) => {
  const of = (hash: string) =>
    sql.literal(`(SELECT ${hash} FROM url_indexed_owners AS indexed WHERE indexed.owner = inserted.owner)`)
  return sql.onDialectOrElse({
    orElse: () => ({
      value: of("inserted.url_hash"),
      rows: (links: ReadonlyArray<Link>): Columns => ({
        url_hash: ["text", links.map(({ owner, url }) => urlHash(owner, url))]
      })
    }),
    pg: () => ({
      value: of(
        String.raw`left(encode(sha256(convert_to(inserted.owner || E'\n' || inserted.url, 'UTF8')), 'hex'), 16)`
      ),
      rows: (): Columns => ({})
    })
  })
}

interface Progress {
  readonly filled: boolean | number
  readonly seen_at: number | null
  readonly seen_key: string | null
}

/**
 * Finds links by owner and URL, on SQLite and PostgreSQL.
 *
 * An index of all links by URL would cost each create a write at a random place, for owners who never ask. So links have a `url_hash` only where their owner has asked once: the
 * first question puts the owner into `url_indexed_owners`, from then on new links get their hash with the row, and it fills in the hashes of those that are there. A hash in a row is
 * right for any owner.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(linkColumns.map(({ column }) => column).join(", "))
  const scope = yield* Effect.scope
  const fills = new Map<string, SingleFlight.SingleFlight<void, SqlError | StorageError>>()
  const permits = FairSemaphore.make(fillsMax)

  const enter = (owner: string) =>
    sql`INSERT INTO url_indexed_owners (owner, filled) VALUES (${owner}, ${false}) ON CONFLICT DO NOTHING`

  const unlessLocked = sql.onDialectOrElse({ orElse: () => sql``, pg: () => sql`FOR UPDATE SKIP LOCKED` })

  /** In a transaction, which is refused under an old epoch where there are several databases. */
  const writing = <A, E, R>(run: Effect.Effect<A, E, R>) =>
    Effect.flatMap(LinkTenure, (tenure) =>
      tenure === undefined ? inTransaction(sql, run) : under(sql, operation, tenure, run)
    )

  /** Fills in the hashes of an owner's next links. Another node that is at it has locked the owner's entry. */
  const fillSome = (owner: string) =>
    writing(
      Effect.gen(function* () {
        const [progress] = yield* sql<Progress>`
          SELECT filled, seen_at, seen_key FROM url_indexed_owners WHERE owner = ${owner} ${unlessLocked}`
        if (progress === undefined) return "busy"
        if (progress.filled) return "done"
        const { seen_at, seen_key } = progress
        const behind = seen_at === null ? sql`` : sql`AND (created_at, key) > (${seen_at}, ${seen_key})`
        const next = yield* sql<Pick<LinkRow, "created_at" | "key">>`
          SELECT created_at, key FROM links WHERE owner = ${owner} AND deleted_at IS NULL ${behind}
          ORDER BY created_at, key LIMIT ${filledAtOnce}`
        const keys = next.map(({ key }) => key)
        // In the order of their keys, as everybody locks them.
        const open = yield* sql<Pick<LinkRow, "key" | "url">>`
          SELECT key, url FROM links WHERE ${isOneOf(sql, "key", keys)} AND deleted_at IS NULL AND url_hash IS NULL
          ORDER BY key ${forUpdate(sql)}`
        if (open.length > 0) {
          const hashes = rowsOf(sql, {
            key: ["text", open.map(({ key }) => key)],
            url_hash: ["text", open.map(({ url }) => urlHash(owner, url))]
          })
          yield* sql`UPDATE links SET url_hash = hashes.url_hash FROM ${hashes} AS hashes WHERE links.key = hashes.key`
        }
        const isLast = next.length < filledAtOnce
        const last = next.at(-1)
        yield* sql`UPDATE url_indexed_owners
          SET filled = ${isLast}, seen_at = ${last?.created_at ?? seen_at}, seen_key = ${last?.key ?? seen_key}
          WHERE owner = ${owner}`
        return isLast ? "done" : "more"
      })
    )

  /** Enters an owner, and fills in the hashes of all their links. It goes on where another call left off. */
  const fill = (owner: string) =>
    Effect.gen(function* () {
      yield* enter(owner)
      yield* writersGone(sql)
      return yield* Effect.repeat(fillSome(owner), { while: (state) => state === "more" })
    }).pipe(
      Effect.repeat({ schedule: Schedule.spaced(lookAgain), while: (state) => state === "busy" }),
      Effect.asVoid,
      permits
    )

  const forget = (owner: string) => Effect.sync(() => void fills.delete(owner))

  /** Fills in the hashes of an owner's links if that has not been done. */
  const filled = Effect.fnUntraced(function* (owner: string) {
    const [entry] = yield* sql<Pick<Progress, "filled">>`
      SELECT filled FROM url_indexed_owners WHERE owner = ${owner}`
    if (entry !== undefined && Boolean(entry.filled)) return
    const tenure = yield* LinkTenure
    if (tenure?.isLeaving === true) return yield* areMoving(operation)
    const filling = Effect.provideService(fill(owner), LinkTenure, tenure)
    const own = yield* Scope.extend(SingleFlight.make(Effect.ensuring(filling, forget(owner))), scope)
    const running = fills.get(owner) ?? own
    fills.set(owner, running)
    yield* Effect.timeoutFail(running.join, {
      duration: fillWaitMax,
      onTimeout: () =>
        new StorageError({
          operation,
          applied: "no",
          reason: "the owner's links are being made ready to be found by their URLs"
        })
    })
  })

  /** The newest link of an owner in the default domain with this target, and without extras, that is live at `at` (milliseconds since the Unix epoch). */
  return Effect.fnUntraced(function* (owner: string, url: string, at: number) {
    yield* filled(owner)
    const [row] = yield* sql<LinkRow>`
      SELECT ${columns} FROM links
      WHERE url_hash = ${urlHash(owner, url)} AND deleted_at IS NULL AND owner = ${owner} AND url = ${url}
        AND key NOT LIKE '%~%' AND extras IS NULL
        AND (valid_since IS NULL OR valid_since <= ${at}) AND (expires_at IS NULL OR expires_at > ${at})
        AND (visits_left IS NULL OR visits_left > 0)
        ${andAtHome(sql, yield* LinkTenure)}
      ORDER BY created_at DESC, key LIMIT 1`
    return row === undefined ? null : linkOf(row)
  })
})
