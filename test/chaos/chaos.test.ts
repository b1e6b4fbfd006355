import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultKinds } from "../../chaos/FaultKind.ts"
import * as Chaos from "../../chaos/Chaos.ts"
import { told } from "../../chaos/Report.ts"
import { availabilityMin } from "../../chaos/Directed.ts"
import { describePostgres } from "../services/Postgres.ts"

const seed = 1

describePostgres("a cluster of real processes", () => {
  it.live(
    "keeps its promises through every kind of fault, once each",
    () =>
      Effect.gen(function* () {
        const report = yield* Chaos.run({
          minutes: 0,
          seed,
          faults: faultKinds,
          program: null,
          logs: null,
          requestsPerSecond: 90,
          notify: () => Effect.void
        })
        const { recoveries, redirectsThroughKill, takeovers, violations } = report
        expect(violations, told(report)).toEqual([])
        expect(recoveries.map(({ kind }) => kind).toSorted()).toEqual(faultKinds.toSorted())
        expect(takeovers.length).toBe(1)
        expect(redirectsThroughKill.answered / redirectsThroughKill.sent).toBeGreaterThanOrEqual(
          availabilityMin
        )
      }).pipe(Effect.scoped),
    180_000
  )
})
