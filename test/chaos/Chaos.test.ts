// Both runs take a machine of two cores for themselves. So they stand in one file, which has one after the other.

import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as Checks from "../../chaos/databases/Checks.ts"
import * as Databases from "../../chaos/databases/Run.ts"
import type { FaultKind } from "../../chaos/FaultKind.ts"
import * as Chaos from "../../chaos/Chaos.ts"
import { told } from "../../chaos/Report.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"
import { hasPrograms } from "../support/services/postgres/PostgresPair.ts"

const seed = 1

/** Few, so that a slow machine is asked less instead of being asked what it cannot answer in time. */
const clients = 3

/**
 * Wider than what is promised, and than `npm run chaos` asks for: other tests have this machine's cores at the same time. What is promised of keys
 * and links is asked for in full.
 */
const limits = {
  recover_ms: 10_000,
  others_ms: 10_000,
  takeover_ms: 16_000,
  late_ms: 1_000,
  visits_ms: 10_000,
  backendsPerNode: 52,
  failover: { hot: 0.99, cold: 0.98 },
  availability: 0.99,
  kills: 1
}

/** Those of one server of PostgreSQL, and one of each family that is long. */
const faults: ReadonlyArray<FaultKind> = [
  "kill",
  "pause",
  "term",
  "redis-restart",
  "redis-empty",
  "failover",
  "freeze-visits",
  "postgres-restart",
  "postgres-kill"
]

describePostgres("a cluster of real processes", () => {
  it.live(
    "keeps its promises through kills, pauses, restarts and failovers, once each",
    () =>
      Effect.gen(function* () {
        const report = yield* Chaos.run({
          minutes: 0,
          seed,
          faults,
          standby: null,
          freeze_s: 6,
          program: null,
          logs: null,
          requestsPerSecond: 90,
          clients,
          limits,
          notify: () => Effect.void
        })
        const { recoveries, takeovers, violations } = report
        expect(violations, told(report)).toEqual([])
        expect(recoveries.map(({ kind }) => kind).toSorted()).toEqual(faults.toSorted())
        expect(takeovers.length).toBe(1)
      }).pipe(Effect.scoped),
    400_000
  )
})

/**
 * Times are wider for the same reason, and clients ask again where a node had not the time that it gives a request. What is asked of
 * links, guards and visits is asked for in full.
 */
const databaseLimits: Checks.Limits = {
  redirects: 0.998,
  others: 0.99,
  unwritten_ms: 15_000,
  back_ms: 60_000
}

if (hasPrograms) {
  describePostgres("links in four databases", () => {
    it.live(
      "are moved, redirect and are made while the mover, nodes and a database are killed",
      () =>
        Effect.gen(function* () {
          const report = yield* Databases.run({
            links: 12_000,
            away_s: 5,
            calm_s: 2,
            logs: null,
            requestsPerSecond: 40,
            clients: 2,
            limits: databaseLimits,
            patience_s: 60,
            notify: () => Effect.void
          })
          expect(report.violations, report.told).toEqual([])
          expect(report.moves.map(({ from, to }) => [from, to])).toEqual([
            [1, 0],
            [1, 2],
            [1, 3],
            [0, 1],
            [2, 1],
            [3, 1]
          ])
          expect(report.moves.filter(({ killed }) => killed !== null).length).toBe(5)
          const found = new Map(report.judgements.map(({ found, what }) => [what, found]))
          expect(found.get("kill -9 of the mover, of a node")).toBe("3, 2")
          expect(found.get("tables of a database whose rows or sums differ from before")).toBe("0 of 12")
        }).pipe(Effect.scoped),
      900_000
    )
  })
}
