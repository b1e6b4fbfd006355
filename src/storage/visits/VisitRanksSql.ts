import type { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { isLinkSubject, linkOfSubject, type VisitCount } from "../../model/Visit.ts"
import type { LinkRank } from "../links/LinkStore.ts"
import type { StorageError } from "../StorageError.ts"
import * as RankStep from "./RankStep.ts"
import { type Grain, grains } from "./VisitPeriods.ts"

/** The last period that was handed on. */
interface Ranked {
  readonly grain: number
  readonly hour: number
  readonly subject: string
}

interface Row {
  readonly hour: number
  readonly subject: string
}

const numberOf = (grain: Grain) => grains.indexOf(grain)

/** What comes before all periods: those of months come first. Most are there once, when a database is of a former version. */
export const beginning: Ranked = { grain: numberOf("month"), hour: 0, subject: "" }

/**
 * `VisitStore.rank` on SQLite and PostgreSQL. Each step says by itself how often its links were visited, in all: two nodes at once hand on the same, and one of them notes how far it
 * came.
 */
export const make = (
  sql: SqlClient.SqlClient,
  totals: (subjects: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<VisitCount>, StorageError>
) => {
  const ranked = Effect.map(
    sql<Ranked>`SELECT grain, hour, subject FROM visit_ranked WHERE id = 0`,
    ([row]) => row ?? beginning
  )

  /** Notes how far it is, unless another node has meanwhile. */
  const note = (before: Ranked, after: Ranked) => sql`
    INSERT INTO visit_ranked (id, grain, hour, subject) VALUES (0, ${after.grain}, ${after.hour}, ${after.subject})
    ON CONFLICT (id) DO UPDATE SET grain = excluded.grain, hour = excluded.hour, subject = excluded.subject
    WHERE visit_ranked.grain = ${before.grain} AND visit_ranked.hour = ${before.hour} AND visit_ranked.subject = ${before.subject}`

  /** The next periods of a grain; of hours those before `until`, since months and days were made of hours that are over. */
  const rowsAfter = ({ grain, hour, subject }: Ranked, until: number, max: number) =>
    sql<Row>`SELECT hour, subject FROM visit_periods
      WHERE grain = ${grain} AND (hour, subject) > (${hour}, ${subject})
        ${grain === numberOf("hour") ? sql`AND hour < ${until}` : sql``}
      ORDER BY hour, subject LIMIT ${max}`

  const next = (until: number, max: number) =>
    Effect.gen(function* () {
      const before = yield* ranked
      const rows = yield* rowsAfter(before, until, max)
      const last = rows.at(-1)
      if (last === undefined)
        return before.grain === numberOf("hour")
          ? undefined
          : { before, after: { grain: before.grain - 1, hour: 0, subject: "" }, ranks: [] }
      const hours = new Map<string, number>()
      for (const { hour, subject } of rows) if (isLinkSubject(subject)) hours.set(subject, hour)
      const subjects = [...hours.keys()]
      const counts = subjects.length === 0 ? [] : yield* totals(subjects)
      const ranks = subjects.map((subject, index) => {
        const { bots, nonBots } = counts[index]!
        return { ...linkOfSubject(subject), visits: nonBots + bots, lastVisit: hours.get(subject)! }
      })
      return { before, after: { grain: before.grain, hour: last.hour, subject: last.subject }, ranks }
    })

  return (
    until: number,
    max: number,
    handOn: (ranks: ReadonlyArray<LinkRank>) => Effect.Effect<void, StorageError>
  ) => RankStep.take(next(until, max), handOn, ({ after, before }) => note(before, after))
}
