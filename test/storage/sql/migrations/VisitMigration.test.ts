import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { describe } from "vitest"
import * as Migrations from "../../../../src/storage/sql/Migrations.ts"
import { VisitStore } from "../../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../../src/storage/visits/VisitStoreSql.ts"
import { dimensions, valuesMax } from "../../../../src/model/Visit.ts"
import { emptyDatabases } from "../../../support/Stores.ts"

const [link, other, gone] = ["aZ3k9Qx@m1", "usr_1", "gone@m1"]
const day = 20_000 * 24
const range = { subject: link, from: 0, to: day + 100 }

/** The schema as it was when each value had a row of its own. */
const migrateToRows = Migrations.migrateTo(10)

/** A day that is rolled up with its hours, totals that have more than periods, an hour with all values that it can have, and one without any. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO visit_totals (subject, non_bots, bots) VALUES (${link}, 90, 10), (${other}, 5, 1), (${gone}, 7, 0)`
  yield* sql`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots) VALUES
    (${link}, 1, ${day}, 30, 5), (${link}, 0, ${day}, 10, 5),
    (${link}, 0, ${day + 3}, 20, 0),
    (${link}, 0, ${day + 24}, 59, 4), (${link}, 0, ${day + 25}, 1, 1), (${other}, 0, ${day + 24}, 2, 0)`
  const values = [
    [link, 1, day, 0, 'a"b\\', 20],
    [link, 1, day, 2, "Firefox", 30],
    [link, 0, day + 3, 0, 'a"b\\', 20],
    [link, 0, day, 2, "Firefox", 10],
    [link, 0, day + 3, 2, "Firefox", 20],
    [link, 0, day + 24, 2, "Firefox", 2 ** 40],
    ...Array.from({ length: valuesMax }, (_, n) => [link, 0, day + 24, 0, `host${n}`, 100 - n] as const),
    [other, 0, day + 24, 0, "direct", 2]
  ] as const
  for (const [subject, grain, hour, dimension, value, visits] of values) {
    yield* sql`INSERT INTO visit_values (subject, grain, hour, dimension, value, visits)
      VALUES (${subject}, ${grain}, ${hour}, ${dimension}, ${value}, ${visits})`
  }
  yield* sql`INSERT INTO visit_rolled VALUES (1, ${day + 24}, ${day + 24}, '')`
})

const hosts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({
    dimension: "referrers",
    value: `host${from + n}`,
    visits: 100 - from - n
  }))

emptyDatabases((client) => {
  describe("migrating visits whose values have a row each", () => {
    it.scopedLive("keeps all statistics, and counts on", () =>
      Effect.gen(function* () {
        yield* migrateToRows
        yield* fill
        yield* Migrations.migrate

        const { series, top, totals, write } = yield* VisitStore
        expect(yield* totals([link, other, gone])).toEqual([
          { nonBots: 90, bots: 10 },
          { nonBots: 5, bots: 1 },
          { nonBots: 7, bots: 0 }
        ])
        expect(yield* series(range, "hour")).toEqual([
          { hour: day, nonBots: 10, bots: 5 },
          { hour: day + 3, nonBots: 20, bots: 0 },
          { hour: day + 24, nonBots: 59, bots: 4 },
          { hour: day + 25, nonBots: 1, bots: 1 }
        ])
        expect(yield* series(range, "day")).toEqual([
          { hour: day, nonBots: 30, bots: 5 },
          { hour: day + 24, nonBots: 60, bots: 5 }
        ])
        const firefox = { dimension: "browsers", value: "Firefox", visits: 2 ** 40 + 30 }
        const quoted = { dimension: "referrers", value: 'a"b\\', visits: 20 }
        expect(yield* top(range, 100)).toEqual([...hosts(0, valuesMax), quoted, firefox])
        expect(yield* top({ ...range, to: day + 24 }, 100)).toEqual([quoted, { ...firefox, visits: 30 }])
        expect(yield* top({ ...range, to: day + 1 }, 100)).toEqual([{ ...firefox, visits: 10 }])
        expect(yield* top({ ...range, from: day + 25 }, 100)).toEqual([])
        expect(yield* top({ ...range, subject: other }, 100)).toEqual([
          { dimension: "referrers", value: "direct", visits: 2 }
        ])

        const values = ["host0", "new"].map((value) => ({ dimension: dimensions[0], value, visits: 1 }))
        const hours = [{ subject: link, hour: day + 24, nonBots: 2, bots: 0, values }]
        yield* write({ writer: "w", sequence: 1, at: 0, hours })
        expect(yield* top({ ...range, from: day + 24 }, 100)).toEqual([
          { ...hosts(0, 1)[0], visits: 101 },
          ...hosts(1, valuesMax),
          { ...firefox, visits: 2 ** 40 }
        ])
      }).pipe(Effect.provide(Layer.provideMerge(VisitStoreSql.layer, client)))
    )
  })
})
