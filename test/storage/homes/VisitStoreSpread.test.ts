import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { bucketOf } from "../../../src/keys/Buckets.ts"
import { subjectOfLink } from "../../../src/model/Visit.ts"
import * as VisitStoreSpread from "../../../src/storage/homes/VisitStoreSpread.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as LinkLifetimeSql from "../../../src/storage/links/LinkLifetimeSql.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import * as VisitRemovals from "../../../src/storage/visits/VisitRemovals.ts"
import type { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "../../../src/sim/stores/VisitStoreMemory.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { severalDatabases } from "../../support/SeveralDatabases.ts"
import { SqlClient } from "@effect/sql"
import { describe } from "vitest"

const subjects = ["a@1", "b@1", "c@1", "usr_1"]

const batch = {
  writer: "w",
  sequence: 1,
  at: 0,
  hours: subjects.map((subject) => ({ subject, hour: 1, nonBots: 2, bots: 1, values: [] }))
}

/** The same store, of which every call fails. */
const broken = (store: typeof VisitStore.Service): typeof VisitStore.Service => {
  const fails = () => Effect.fail(new StorageError({ operation: "any", applied: "no", reason: "away" }))
  return Object.fromEntries(Object.keys(store).map((name) => [name, fails])) as never
}

describe("visits in databases of their own", () => {
  it.effect("are shown as unknown where their database does not answer, and the others as they are", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* VisitStoreMemory.make, yield* VisitStoreMemory.make]
      const isAway = () => false
      yield* VisitStoreSpread.make([
        { visits: one, isAway },
        { visits: other, isAway }
      ]).write(batch)
      const known = { nonBots: 2, bots: 1 }
      const wanted = subjects.map((subject) =>
        VisitStoreSpread.placeOf(subject, 2) === 0 ? known : { nonBots: 0, bots: 0, isUnknown: true }
      )
      expect(new Set(wanted.map((count) => "isUnknown" in count))).toEqual(new Set([true, false]))
      const failing = VisitStoreSpread.make([
        { visits: one, isAway },
        { visits: broken(other), isAway }
      ])
      expect(yield* failing.totals(subjects)).toEqual(wanted)
      const silent = VisitStoreSpread.make([
        { visits: one, isAway },
        { visits: { ...other, totals: () => Effect.never }, isAway: () => true }
      ])
      expect(yield* silent.totals(subjects)).toEqual(wanted)
      // Upkeep goes on with the others, and what is to be written is refused.
      yield* failing.dropWriters(0)
      expect((yield* Effect.flip(failing.write({ ...batch, sequence: 2 }))).reason).toBe("away")
      expect(
        (yield* Effect.flip(VisitStoreSpread.make([{ visits: one, isAway: () => true }]).rollUp(1, 1))).reason
      ).toContain("no database of visits answers")
    })
  )

  it.effect("are added once by a batch of which a part failed at first", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* VisitStoreMemory.make, yield* VisitStoreMemory.make]
      const isAway = () => false
      const withOther = (visits: typeof VisitStore.Service) =>
        VisitStoreSpread.make([
          { visits: one, isAway },
          { visits, isAway }
        ])
      yield* Effect.flip(withOther(broken(other)).write(batch))
      yield* withOther(other).write(batch)
      expect(yield* withOther(other).totals(subjects)).toEqual(subjects.map(() => ({ nonBots: 2, bots: 1 })))
    })
  )
})

describePostgres("links that are freed while their visits are in other databases", () => {
  const open = severalDatabases(1)

  it.scopedLive("are remembered until their visits are forgotten, those of each database by itself", () =>
    Effect.gen(function* () {
      const { databases, stock } = yield* Effect.flatten(open)
      const { links, sql } = databases[0]!
      const lifetime = yield* LinkLifetimeSql.make.pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.provideService(KeyStock, stock),
        Effect.provideService(VisitRemovals.VisitsApart, true)
      )
      const rows = Array.from({ length: 20 }, (_, index) => linkOf(`k${index}`))
      yield* links.insertMany(rows)
      yield* links.deleteMany(rows.map(({ key }) => ({ key, at: 1 })))
      const freed = yield* lifetime.recycle({ quarantine_ms: 0, count: 100 })
      expect(freed.length).toBe(20)

      const subjectsIn = (place: number) =>
        freed.filter(({ key }) => bucketOf(key) % 2 === place).map(subjectOfLink)
      const buckets = [0, 1].map((place) => Array.from({ length: 128 }, (_, index) => 2 * index + place))
      const forgotten: Array<string> = []
      const away = new StorageError({ operation: "VisitStore.forget", applied: "no", reason: "away" })
      yield* Effect.flip(VisitRemovals.forgetSome(sql, buckets[0]!, () => away))
      const forget = (some: ReadonlyArray<string>) => Effect.sync(() => void forgotten.push(...some))
      expect(yield* VisitRemovals.forgetSome(sql, buckets[1]!, forget)).toBe(false)
      expect(forgotten.toSorted()).toEqual(subjectsIn(1).toSorted())
      expect(yield* VisitRemovals.forgetSome(sql, buckets[0]!, forget)).toBe(false)
      expect(forgotten.toSorted()).toEqual(freed.map(subjectOfLink).toSorted())
      yield* VisitRemovals.forgetSome(sql, [...buckets[0]!, ...buckets[1]!], () => Effect.dieMessage("again"))
    })
  )
})
