import type { Checker } from "../../Evidence.ts"
import { bounds } from "../../stores/database/Backend.ts"
import { ms_us } from "../../world/Time.ts"

/** What rounding adds to milliseconds. */
const slack = 0.1

/**
 * What a node leaves at the database when it freezes or is gone ends by itself: no statement is carried out later than its bound, no transaction holds its locks for longer while it waits for its next statement, and
 * a node has as many sessions as its pool, and as many more that it has given up. And it takes no connection to a primary after another one has proved to be promoted later, nor goes on with one to Redis that did not answer in time.
 */
export const Sessions: Checker = {
  name: "sessions",
  check: ({ end_us, journal, options, sessions }) => {
    const { idleMost_us, leftBehind, sessionsMost, statementMost_us } = sessions
    const tooMuch = (value: number, bound: number, what: string, unit: string) =>
      value > bound + slack
        ? [
            {
              checker: Sessions.name,
              at_us: end_us,
              text: `${what} ${Math.round(value)} ${unit}, and ${bound} is the most`,
              keys: []
            }
          ]
        : []
    return [
      ...leftBehind.map(({ at_us, by }) => ({
        checker: Sessions.name,
        at_us,
        text: `${by} went on with a connection to a primary, and knew a newer one`,
        keys: []
      })),
      ...journal.flatMap((entry) =>
        entry.tag === "sent behind"
          ? [
              {
                checker: Sessions.name,
                at_us: entry.at_us,
                text: `${entry.by} sent ${entry.operation} behind a command that Redis had not answered in time`,
                keys: []
              }
            ]
          : []
      ),
      ...tooMuch(statementMost_us / ms_us, bounds.statement_ms, "a statement took", "ms"),
      ...tooMuch(
        idleMost_us / ms_us,
        bounds.idleInTransaction_ms,
        "a transaction waited for its next statement for",
        "ms"
      ),
      ...tooMuch(sessionsMost, 2 * options.connectionsMax, "a node had", "sessions")
    ]
  }
}
