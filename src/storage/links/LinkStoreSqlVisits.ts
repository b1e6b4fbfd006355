import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { channel } from "./LinkInvalidationsPostgres.ts"
import { forUpdate, isOneOf } from "../sql/SqlDialect.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { type LastTake, noneTaken, type Take, take, type VisitsState } from "../visits/VisitTakes.ts"

/** JSON comes as text from SQLite. */
interface VisitsRow {
  readonly key: string
  readonly visits_left: number | null
  readonly visit_takes: ReadonlyArray<LastTake> | string
}

/** What is left of a link's visits after some takes, and whether they took the last one. */
interface Written extends VisitsState {
  readonly key: string
  readonly usedUp: boolean
}

const stateOf = ({ visit_takes, visits_left }: VisitsRow): VisitsState => ({
  visitsLeft: visits_left,
  takes: typeof visit_takes === "string" ? (JSON.parse(visit_takes) as ReadonlyArray<LastTake>) : visit_takes
})

/**
 * `LinkStore.takeVisits` on SQLite and PostgreSQL: in one transaction the rows are locked, in the order of their keys, and what was granted is
 * taken off. A link whose last visit was taken is announced, so that caches know that it is used up: hardly any take is refused, so it costs little to remember those.
 */
export const makeTakeVisits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const lock = (keys: ReadonlyArray<string>) =>
    sql<VisitsRow>`
      SELECT key, visits_left, visit_takes FROM links
      WHERE ${isOneOf(sql, "key", keys)} AND deleted_at IS NULL ORDER BY key ${forUpdate(sql)}`

  const write = (written: ReadonlyArray<Written>) => {
    const json = JSON.stringify(written)
    return sql.onDialectOrElse({
      orElse: () => sql`
        UPDATE links SET visits_left = w.value ->> 'visitsLeft', visit_takes = w.value -> 'takes'
        FROM json_each(${json}) AS w WHERE links.key = w.value ->> 'key'`,
      pg: () => sql`
        WITH written AS (
          UPDATE links SET visits_left = (w.value ->> 'visitsLeft')::bigint, visit_takes = w.value -> 'takes'
          FROM jsonb_array_elements(${json}::jsonb) AS w WHERE links.key = w.value ->> 'key'
          RETURNING links.key, w.value -> 'usedUp' = 'true' AS used_up
        )
        SELECT pg_notify(${channel}, key) FROM written WHERE used_up`
    })
  }

  return Effect.fnUntraced(function* (takes: ReadonlyArray<Take>) {
    if (takes.length === 0) return []
    const grant = Effect.gen(function* () {
      const rows = yield* lock([...new Set(takes.map(({ key }) => key))])
      const before = new Map(rows.map((row) => [row.key, stateOf(row)]))
      const states = new Map(before)
      const answers = takes.map((question) => {
        const known = states.get(question.key)
        if (known === undefined) return noneTaken
        const { state, taken } = take(known, question)
        states.set(question.key, state)
        return taken
      })
      const written = Array.from(states).flatMap(([key, state]): ReadonlyArray<Written> => {
        const former = before.get(key)!
        const usedUp = state.visitsLeft === 0 && former.visitsLeft !== 0
        return state === former ? [] : [{ key, ...state, usedUp }]
      })
      if (written.length > 0) yield* write(written)
      return answers
    })
    return yield* inTransaction(sql, grant)
  })
})
