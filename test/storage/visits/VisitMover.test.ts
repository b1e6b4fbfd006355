import { expect, it } from "@effect/vitest"
import { Data, Effect } from "effect"
import { placeOf } from "../../../src/storage/homes/VisitStoreSpread.ts"
import * as VisitStoreSpread from "../../../src/storage/homes/VisitStoreSpread.ts"
import * as VisitMover from "../../../src/storage/visits/VisitMover.ts"
import type { HourCount, VisitBatch, VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "../../../src/sim/stores/VisitStoreMemory.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { type SeveralDatabases, severalDatabases } from "../../support/SeveralDatabases.ts"

type Store = typeof VisitStore.Service

const day = 20_000 * 24
const subjects = ["a@1", "b@1", "c@1", "usr_1", "orphans:1"]

/** Hours of all subjects on some days, with one value each. */
const batchOf = (writer: string, sequence: number, days: ReadonlyArray<number>): VisitBatch => ({
  writer,
  sequence,
  at: (day + 24 * Math.max(...days)) * 3_600_000,
  hours: days.flatMap((number) =>
    subjects.map((subject, index): HourCount => ({
      subject,
      hour: day + 24 * number + index,
      nonBots: 1 + number + index,
      bots: index,
      values: [{ dimension: "referrers", value: `${writer}.example`, visits: 1 + index }]
    }))
  )
})

const told = (store: Store) =>
  Effect.all({
    totals: store.totals(subjects),
    rest: Effect.forEach(subjects, (subject) => {
      const range = { subject, from: 0, to: 1_000_000 }
      return Effect.all([store.series(range, "hour"), store.series(range, "day"), store.top(range, 100)])
    })
  })

/** The mover was killed. */
class Killed extends Data.TaggedError("Killed")<{}> {}

/** Moves, and ends at a step: the first is number 0. */
const moveUntil = ({ databases: [from, ...targets] }: SeveralDatabases, steps: number) => {
  let left = steps
  return VisitMover.move<Killed>(
    {
      sources: [{ number: 0, sql: from!.sql }],
      targets: targets.map(({ sql }) => sql),
      placeOf: (subject) => placeOf(subject, targets.length),
      chunkMax: 7
    },
    {
      at: () => Effect.suspend(() => (left-- === 0 ? Effect.fail(new Killed()) : Effect.void)),
      progress: () => Effect.void
    }
  ).pipe(Effect.scoped)
}

describePostgres("moving visits from a database of links to two of visits", () => {
  const open = severalDatabases(3, () => 0)

  it.scopedLive(
    "counts each once, wherever the mover ends, with those that were written in both meanwhile",
    () =>
      Effect.gen(function* () {
        const node = yield* Effect.flatten(open)
        const [from, ...targets] = node.databases
        const apart = VisitStoreSpread.make(targets)
        const memory = yield* VisitStoreMemory.make
        const write = (store: Store, batch: VisitBatch) =>
          Effect.zipRight(store.write(batch), memory.write(batch))
        const rollUp = (store: Store, until: number) =>
          Effect.repeat(store.rollUp(day + 24 * until, 50), { until: (more) => !more })

        // Days and months that are rolled up, one that is late, and hours that are not.
        yield* write(from!.visits, batchOf("old", 1, [0, 1, 2, 40, 41, 80]))
        yield* rollUp(from!.visits, 60)
        yield* write(from!.visits, batchOf("old", 2, [81]))
        yield* write(apart, batchOf("new", 1, [81, 82]))
        yield* rollUp(apart, 82)

        let sequence = 2
        let isMoved = false
        for (let steps = 0; !isMoved; steps++) {
          const moved = yield* Effect.either(moveUntil(node, steps))
          isMoved = moved._tag === "Right"
          if (moved._tag === "Left") expect(moved.left._tag).toBe("Killed")
          // A node that does not have the setting yet, and one that does.
          if (steps === 2) yield* write(from!.visits, batchOf("old", 3, [83]))
          if (steps % 4 === 0) yield* write(apart, batchOf("new", sequence++, [83]))
          // A day ends, for nodes that roll up.
          if (steps === 5) yield* rollUp(apart, 83)
        }
        expect(yield* moveUntil(node, 1_000)).toBe(0)
        expect(yield* told(apart)).toEqual(yield* told(memory))
        yield* rollUp(apart, 120)
        expect((yield* told(apart)).totals).toEqual((yield* told(memory)).totals)
        for (const table of ["visit_periods", "visits_leaving"]) {
          expect(yield* from!.sql`SELECT * FROM ${from!.sql(table)}`).toEqual([])
        }
        for (const [place, { sql }] of targets.entries()) {
          const rows = yield* sql<{ subject: string }>`SELECT DISTINCT subject FROM visit_periods`
          expect(rows.length).toBeGreaterThan(0)
          expect(rows.every(({ subject }) => placeOf(subject, 2) === place)).toBe(true)
        }
      }),
    60_000
  )

  it.scopedLive(
    "has links ranked by all of their visits, wherever the mover ends",
    () =>
      Effect.gen(function* () {
        const node = yield* Effect.flatten(open)
        const [from, ...targets] = node.databases
        const apart = VisitStoreSpread.make(targets)
        const ranks = new Map<string, number>()
        const rank = (store: Store) =>
          Effect.repeat(
            store.rank(day + 24 * 9, 7, (some) =>
              Effect.sync(() => {
                for (const { key, visits } of some) ranks.set(key, Math.max(visits, ranks.get(key) ?? 0))
              })
            ),
            { while: (more) => more }
          )
        // Hours that are ranked where they were, hours that are not, and later ones that are ranked where they go.
        yield* from!.visits.write(batchOf("old", 1, [0, 1]))
        yield* rank(from!.visits)
        yield* from!.visits.write(batchOf("old", 2, [2]))
        yield* apart.write(batchOf("new", 1, [3]))
        yield* rank(apart)
        for (let steps = 0; (yield* Effect.either(moveUntil(node, steps)))._tag === "Left"; steps++) {
          yield* rank(apart)
        }
        yield* rank(apart)
        const totals = yield* apart.totals(subjects)
        const links = subjects.flatMap((subject, at) =>
          subject.endsWith("@1")
            ? [[subject.slice(0, 1), totals[at]!.nonBots + totals[at]!.bots] as const]
            : []
        )
        expect([...ranks].toSorted()).toEqual(links)
      }),
    60_000
  )

  it.scopedLive("can bring nothing more once another process has gone on with it", () =>
    Effect.gen(function* () {
      const node = yield* Effect.flatten(open)
      const [from, ...targets] = node.databases
      const batch = batchOf("old", 1, [0, 1, 2, 40])
      yield* from!.visits.write(batch)
      let isFirst = true
      const frozen = yield* Effect.flip(
        VisitMover.move(
          {
            sources: [{ number: 0, sql: from!.sql }],
            targets: targets.map(({ sql }) => sql),
            placeOf: (subject) => placeOf(subject, 2),
            chunkMax: 7
          },
          {
            // The other one runs while this one has taken its first chunk.
            at: () =>
              Effect.suspend(() => {
                if (!isFirst) return Effect.void
                isFirst = false
                const unlocked = targets.map(({ sql }) => sql).concat(from!.sql)
                return Effect.zipRight(unlock(unlocked), Effect.orDie(moveUntil(node, 1_000)))
              }),
            progress: () => Effect.void
          }
        ).pipe(Effect.scoped)
      )
      expect(frozen._tag).toBe("TakenOver")
      const apart = VisitStoreSpread.make(targets)
      const memory = yield* VisitStoreMemory.make
      yield* memory.write(batch)
      expect(yield* told(apart)).toEqual(yield* told(memory))
    })
  )
})

/** Ends the sessions that keep nodes from rolling up, as a server does with those of a host that vanished. */
const unlock = (databases: ReadonlyArray<SeveralDatabases["databases"][number]["sql"]>) =>
  Effect.forEach(
    databases,
    (sql) => sql`
      SELECT pg_terminate_backend(pid) FROM pg_locks
      WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    { discard: true }
  ).pipe(Effect.orDie)
