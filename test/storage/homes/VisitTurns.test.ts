import { expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { bucketOfSubject } from "../../../src/keys/Buckets.ts"
import * as LinkPorts from "../../../src/storage/homes/LinkPorts.ts"
import { describePostgres } from "../../support/services/Postgres.ts"
import { severalDatabases } from "../../support/SeveralDatabases.ts"

const subjectIn = (database: number) =>
  Array.from({ length: 100 }, (_, number) => `usr_${number}`).find(
    (subject) => bucketOfSubject(subject) % 2 === database
  )!

const batchOf = (writer: string, subject: string) => ({
  writer,
  sequence: 1,
  at: 0,
  hours: [{ subject, hour: 1, nonBots: 1, bots: 0, values: [] }]
})

describePostgres("visits for a database that does not answer", () => {
  const open = severalDatabases(2)

  it.scopedLive("do not hold up those that another writer has for another database", () =>
    Effect.gen(function* () {
      const { databases, placement } = yield* Effect.flatten(open)
      const isAsked = yield* Deferred.make<void>()
      const [first, second] = [databases[0]!, databases[1]!]
      const write = () => Effect.zipRight(Deferred.succeed(isAsked, undefined), Effect.never)
      const silent = { ...second, visits: { ...second.visits, write } }
      const { visits } = yield* LinkPorts.routed([first, silent], placement)
      yield* Effect.forkScoped(visits.write(batchOf("a", subjectIn(1))))
      yield* Deferred.await(isAsked)
      yield* visits.write(batchOf("b", subjectIn(0)))
      expect(yield* visits.totals([subjectIn(0)])).toEqual([{ nonBots: 1, bots: 0 }])
    })
  )
})
