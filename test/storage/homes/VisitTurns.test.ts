import { expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Context, Deferred, Effect } from "effect"
import { bucketOfSubject } from "../../../src/keys/Buckets.ts"
import * as LinkPorts from "../../../src/storage/homes/LinkPorts.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { Unwritten, type VisitBatch, type VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import { moveBuckets, severalDatabases } from "../../support/SeveralDatabases.ts"

const subjectIn = (database: number) =>
  Array.from({ length: 100 }, (_, number) => `usr_${number}`).find(
    (subject) => bucketOfSubject(subject) % 2 === database
  )!

/** Another subject in the same database, in another bucket. */
const besides = (one: string) =>
  Array.from({ length: 100 }, (_, number) => `usr_${number}`).find((subject) => {
    const [bucket, other] = [bucketOfSubject(one), bucketOfSubject(subject)]
    return other !== bucket && other % 2 === bucket % 2
  })!

const hourOf = (subject: string) => ({ subject, hour: 1, nonBots: 1, bots: 0, values: [] })

const batchOf = (writer: string, subject: string) => ({
  writer,
  sequence: 1,
  at: 0,
  hours: [hourOf(subject)]
})

/** Copies visits from one database to the other, as a move does. */
const copyPeriods = (from: LinkPorts.OneDatabase, to: LinkPorts.OneDatabase) =>
  Effect.gen(function* () {
    const rows = yield* from.sql<{ row: string }>`SELECT to_jsonb(t)::text AS row FROM visit_periods t`
    for (const { row } of rows) {
      yield* to.sql`INSERT INTO visit_periods
        SELECT * FROM jsonb_populate_record(NULL::visit_periods, ${row}::jsonb)`
    }
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

  for (const isTaken of [true, false]) {
    it.scopedLive(
      `are counted once where the answer was lost, ${isTaken ? "the database had taken them" : "it had not taken them"}, and they have moved since`,
      () =>
        Effect.gen(function* () {
          const node = yield* Effect.flatten(open)
          const [first, second] = [node.databases[0]!, node.databases[1]!]
          const subject = subjectIn(0)
          const lost = new StorageError({
            operation: "write",
            applied: "unknown",
            reason: "the answer was lost"
          })
          // In a transaction of its own, which is committed.
          const write: (typeof VisitStore.Service)["write"] = (batch) =>
            Effect.mapInputContext(
              isTaken ? Effect.zipRight(first.visits.write(batch), lost) : lost,
              (context: Context.Context<never>) =>
                Context.omit(SqlClient.TransactionConnection)(context as never)
            )
          const { visits } = yield* LinkPorts.routed(
            [{ ...first, visits: { ...first.visits, write } }, second],
            node.placement
          )
          const batch = batchOf("a", subject)
          expect(yield* Effect.flip(visits.write(batch))).toMatchObject({ applied: "unknown" })
          yield* moveBuckets(
            node,
            { from: 0, to: 1, buckets: [bucketOfSubject(subject)] },
            copyPeriods(first, second)
          )
          yield* node.placement.read
          yield* Effect.retry(visits.write(batch), { times: 3 })
          expect(yield* visits.totals([subject])).toEqual([{ nonBots: 1, bots: 0 }])
        })
    )
  }

  it.scopedLive(
    "are counted once where their commit takes longer than the answer, and the database refuses them meanwhile",
    () =>
      Effect.gen(function* () {
        const node = yield* Effect.flatten(open)
        const [first, second] = [node.databases[0]!, node.databases[1]!]
        const subject = subjectIn(0)
        const committing: Array<VisitBatch> = []
        const lost = new StorageError({
          operation: "write",
          applied: "unknown",
          reason: "the answer was lost"
        })
        const write: (typeof VisitStore.Service)["write"] = (batch) =>
          Effect.suspend(() => (committing.push(batch), lost))
        let known = node.placement.current()
        const read = Effect.tap(node.placement.read, (placement) => Effect.sync(() => (known = placement)))
        const { visits } = yield* LinkPorts.routed(
          [{ ...first, visits: { ...first.visits, write } }, second],
          { ...node.placement, current: () => known, read }
        )
        const batch = batchOf("a", subject)
        expect(yield* Effect.flip(visits.write(batch))).toMatchObject({ applied: "unknown" })
        const move = { from: 0, to: 1, buckets: [bucketOfSubject(subject)] }
        yield* moveBuckets(
          node,
          move,
          Effect.gen(function* () {
            expect(known.tenures[0]!.isLeaving).toBe(false)
            yield* Effect.flip(visits.write(batch))
            expect(known.tenures[0]!.isLeaving).toBe(true)
            expect(committing).toHaveLength(1)
            yield* first.visits.write(committing[0]!)
            yield* copyPeriods(first, second)
          })
        )
        yield* read
        yield* Effect.retry(visits.write(batch), { times: 3 })
        expect(yield* visits.totals([subject])).toEqual([{ nonBots: 1, bots: 0 }])
      })
  )

  it.scopedLive(
    "are written one part after the other where further ones have come to a database that failed",
    () =>
      Effect.gen(function* () {
        const node = yield* Effect.flatten(open)
        const [first, second] = [node.databases[0]!, node.databases[1]!]
        const [here, coming] = [subjectIn(0), subjectIn(1)]
        const written: Array<ReadonlyArray<string>> = []
        let underWay = 0
        let isAway = true
        const away = new StorageError({ operation: "write", applied: "no", reason: "away" })
        const write: (typeof VisitStore.Service)["write"] = (batch) =>
          Effect.suspend(() => {
            if (isAway) return away
            // The numbers of a writer must rise, which those of two writes at once need not.
            expect(++underWay).toBe(1)
            written.push(batch.hours.map(({ subject }) => subject))
            return Effect.ensuring(
              Effect.zipRight(Effect.yieldNow(), first.visits.write(batch)),
              Effect.sync(() => underWay--)
            )
          })
        const real = node.placement.current()
        const moved = bucketOfSubject(coming)
        let place = { home: 1, movingTo: 0 as number | null }
        const known = () => ({
          ...real,
          places: real.places.map((other, bucket) => (bucket === moved ? { ...other, ...place } : other))
        })
        const { visits } = yield* LinkPorts.routed(
          [{ ...first, visits: { ...first.visits, write } }, second],
          { ...node.placement, current: known, read: Effect.sync(known) }
        )
        const batch = { writer: "a", sequence: 1, at: 0, hours: [hourOf(here), hourOf(coming)] }
        yield* Effect.flip(visits.write(batch))
        isAway = false
        place = { home: 0, movingTo: null }
        yield* Effect.retry(visits.write(batch), { times: 3 })
        expect(written).toEqual([[here], [coming]])
        const once = { nonBots: 1, bots: 0 }
        expect(yield* first.visits.totals([here, coming])).toEqual([once, once])
      })
  )
})

describePostgres("a batch of visits of which some are in a bucket that is being moved", () => {
  const open = severalDatabases(2)
  const moving = subjectIn(0)
  const staying = besides(moving)
  const batch = { ...batchOf("a", moving), hours: [moving, staying].map(hourOf) }
  const move = { from: 0, to: 1, buckets: [bucketOfSubject(moving)] }
  const once = { nonBots: 1, bots: 0 }

  it.scopedLive("is written but for these, which it names, and wholly when the move has ended", () =>
    Effect.gen(function* () {
      const { databases, placement, store } = yield* Effect.flatten(open)
      const first = databases[0]!
      let isAway = true
      const write: (typeof VisitStore.Service)["write"] = (batch) =>
        isAway
          ? new StorageError({ operation: "write", applied: "no", reason: "it is away" })
          : first.visits.write(batch)
      const { visits } = yield* LinkPorts.routed(
        [{ ...first, visits: { ...first.visits, write } }, databases[1]!],
        placement
      )
      const left = Effect.map(Effect.flip(visits.write(batch)), (error) => ({
        applied: error.applied,
        subjects: error instanceof Unwritten ? error.open.map(({ subject }) => subject).toSorted() : undefined
      }))
      expect(yield* left).toEqual({ applied: "no", subjects: [moving, staying].toSorted() })
      isAway = false
      yield* moveBuckets(
        { databases, store },
        move,
        Effect.gen(function* () {
          yield* placement.read
          // It was divided before the bucket moved, and has to be divided again.
          yield* Effect.flip(visits.write(batch))
          for (const _ of ["once", "again"])
            expect(yield* left).toEqual({ applied: "no", subjects: [moving] })
          expect(yield* visits.totals([staying])).toEqual([once])
        })
      )
      yield* placement.read
      yield* visits.write(batch)
      expect(yield* visits.totals([moving, staying])).toEqual([once, once])
    })
  )

  it.scopedLive("waits for the end of the move where it may have been written before", () =>
    Effect.gen(function* () {
      const { databases, placement, store } = yield* Effect.flatten(open)
      const first = databases[0]!
      const asked: Array<number> = []
      const write: (typeof VisitStore.Service)["write"] = ({ hours }) => {
        asked.push(hours.length)
        return new StorageError({ operation: "write", applied: "unknown", reason: "the answer was lost" })
      }
      const { visits } = yield* LinkPorts.routed(
        [{ ...first, visits: { ...first.visits, write } }, databases[1]!],
        placement
      )
      expect(yield* Effect.flip(visits.write(batch))).toMatchObject({ applied: "unknown", open: batch.hours })
      yield* store.begin(move)
      yield* placement.read
      expect(yield* Effect.flip(visits.write(batch))).toMatchObject({ applied: "unknown", open: batch.hours })
      expect(asked).toEqual([2])
    })
  )
})
