import { expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, LogLevel, Schedule, Scope } from "effect"
import * as Visits from "../../src/visits/Visits.ts"
import { VisitStore } from "../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../src/storage/visits/VisitStoreSql.ts"
import { subjectOfLink, subjectOfOwner } from "../../src/model/Visit.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { makeCuttingProxy } from "../support/CuttingProxy.ts"
import { migratedDatabase, postgresAt } from "../support/Stores.ts"
import { link, visitOf } from "../support/samples/SomeVisits.ts"

const statements = [
  "INSERT INTO visit_writers",
  "SELECT hour, seen_subject FROM visit_rolled",
  "INSERT INTO visit_periods",
  "COMMIT"
]
const visitsAtOnce = 10

const options = { ownHost: "sho.rt", writer: "w1", batchCountsMax: Visits.batchCountsMax.postgres }

describePostgres("visits that are written over a network that fails", () => {
  for (const when of ["before", "after"] as const) {
    for (const text of statements) {
      it.scopedLive(`are counted once when the connection is lost ${when} the ${text}`, () =>
        Effect.gen(function* () {
          const url = yield* migratedDatabase
          const proxy = yield* makeCuttingProxy(url)
          const build = (at: string) =>
            Layer.build(
              Layer.provideMerge(VisitStoreSql.layer, Layer.fresh(postgresAt(at, { maxConnections: 2 })))
            )
          const near = yield* Effect.provide(VisitStore, yield* build(url))
          const far = yield* Effect.provide(VisitStore, yield* build(proxy.url))
          let failed = 0
          const write: typeof far.write = (batch) =>
            Effect.tapError(far.write(batch), () => Effect.sync(() => failed++))
          const scope = yield* Scope.make()
          const { record } = yield* Visits.make(options).pipe(
            Effect.provideService(VisitStore, { ...far, write }),
            Scope.extend(scope)
          )

          proxy.cutAt({ when, text })
          for (let n = 0; n < visitsAtOnce; n++) record(visitOf())
          yield* Effect.repeat(Effect.void, {
            until: () => failed > 0,
            schedule: Schedule.spaced("20 millis")
          })
          for (let n = 0; n < visitsAtOnce; n++) record(visitOf())
          proxy.cutAt(null)
          yield* Scope.close(scope, Exit.void)

          const all = { nonBots: 2 * visitsAtOnce, bots: 0 }
          const subjects = [subjectOfLink(link), subjectOfOwner("usr_1")]
          expect(yield* near.totals(subjects)).toEqual([all, all])
          for (const subject of subjects) {
            const range = { subject, from: 0, to: 10 }
            expect(yield* near.series(range, "hour")).toEqual([{ hour: 0, ...all }])
            expect((yield* near.top(range, 5)).map(({ visits }) => visits)).toEqual(
              Array.from({ length: 5 }, () => 2 * visitsAtOnce)
            )
          }
        }).pipe(Effect.provide(Logger.minimumLogLevel(LogLevel.None)))
      )
    }
  }
})
