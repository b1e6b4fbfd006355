import { dayHours, isLinkSubject, linkOfSubject, shortestKept_days } from "../../../model/Visit.ts"
import {
  bucketOfGuardRow,
  bucketOfRankRow,
  bucketOfRow,
  bucketOfSubjectRow
} from "../buckets/LinkBucketsSql.ts"

/** A table whose rows move with their bucket. */
export interface MovedTable {
  readonly name: string
  /** The columns of its primary key, in its order, with their types. */
  readonly key: ReadonlyArray<readonly [column: string, type: string]>
  /** The bucket of a row, as an expression over the primary key: the publisher of a row has no more than that where it is changed or deleted. */
  readonly bucket: string
  /** Whether a row `t` may have been deleted since by nodes, or be any moment. They delete no others. */
  readonly mayEnd: string
  /** The key of the link that a row goes with, by the row's primary key; without it rows go with none. */
  readonly linkOf?: (id: ReadonlyArray<string | number>) => string | undefined
  /**
   * Whether a change to `NEW` (and `OLD`, where `TG_OP` is `UPDATE`) is upkeep, as an expression of PL/pgSQL: it comes from a node that looks at all rows, and that may do without. Others answer
   * somebody.
   */
  readonly isUpkeep: string
}

const now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

/** All tables with rows that move, in the order in which they are locked. docs/decisions.md has the other ones, and why they stay. */
export const movedTables: ReadonlyArray<MovedTable> = [
  {
    name: "create_guards",
    key: [["name", "text"]],
    bucket: bucketOfGuardRow,
    // Those that are not settled can be given up, and settled ones are dropped after a day.
    mayEnd: `(t.answer IS NULL OR t.begun_at < ${now} - 82800000)`,
    isUpkeep: "false"
  },
  {
    name: "links",
    key: [["key", "text"]],
    bucket: bucketOfRow,
    // A tombstone whose quarantine is over is removed.
    mayEnd: "(t.ended_at IS NOT NULL)",
    linkOf: ([key]) => String(key),
    // A link that has expired becomes a tombstone, or a URL is hashed.
    isUpkeep: `(TG_OP = 'UPDATE' AND (OLD.expires_at <= ${now} AND NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL
      OR NEW.url_hash IS DISTINCT FROM OLD.url_hash AND NEW.updated_at = OLD.updated_at))`
  },
  {
    name: "link_ranks",
    key: [["link_key", "text"]],
    bucket: bucketOfRankRow,
    // They go with the tombstone of their link.
    mayEnd: "NOT EXISTS (SELECT 1 FROM links l WHERE l.key = t.link_key AND l.ended_at IS NULL)",
    linkOf: ([key]) => String(key),
    // What is refused is ranked again.
    isUpkeep: "false"
  },
  {
    name: "visit_periods",
    key: [
      ["subject", "text"],
      ["grain", "smallint"],
      ["hour", "integer"]
    ],
    bucket: bucketOfSubjectRow,
    // Hours and days are dropped when they are as old as is set, and all with the tombstone of their link. A day less, since a day goes whole.
    mayEnd: `(t.grain = 0 AND t.hour < ${now} / 3600000 - ${(shortestKept_days.hours - 1) * dayHours}
      OR t.grain = 1 AND t.hour < ${now} / 3600000 - ${(shortestKept_days.days - 1) * dayHours}
      OR strpos(t.subject, '@') > 0 AND NOT EXISTS (
        SELECT 1 FROM links l WHERE l.key = split_part(t.subject, '@', 1) AND l.ended_at IS NULL))`,
    linkOf: ([subject]) => (isLinkSubject(String(subject)) ? linkOfSubject(String(subject)).key : undefined),
    // A roll-up inserts days and months.
    isUpkeep: "(NEW.grain IN (1, 2) AND TG_OP = 'INSERT')"
  }
]

/** The condition that a row is in one of `buckets`. */
export const isIn = ({ bucket }: MovedTable, buckets: ReadonlyArray<number>): string =>
  `(${bucket} IN (${buckets.join(", ")}))`

/** The same of a row of a trigger, by its name there. */
export const isInOf = (table: MovedTable, buckets: ReadonlyArray<number>, row: "NEW" | "OLD"): string =>
  table.key.reduce(
    (condition, [column]) => condition.replaceAll(new RegExp(`\\b${column}\\b`, "g"), `${row}.${column}`),
    isIn(table, buckets)
  )

/** Tables that a transaction which moves none of these rows may have begun with, and that go with them. */
export const writersTables = [
  ...movedTables.map(({ name }) => name),
  "visit_writers",
  "visit_rolled",
  "visit_ranked"
]
