import { Effect, Either } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { bucketOfSubject } from "../../keys/Buckets.ts"
import type { VisitCount } from "../../model/Visit.ts"
import { StorageError } from "../StorageError.ts"
import type { VisitStore } from "../visits/VisitStore.ts"

/** One of the databases that have visits, and no links. */
export interface VisitDatabase {
  readonly visits: typeof VisitStore.Service
  /** Whether it is known not to answer. */
  readonly isAway: () => boolean
}

/**
 * The place, from 0 on, of the database of visits that has a subject's: its bucket modulo their number. It is fixed: with another number, or in another order, visits would be looked for in other
 * databases.
 */
export const placeOf = (subject: string, databases: number): number => bucketOfSubject(subject) % databases

/** Items by the places of their subjects. */
const grouped = <A>(items: ReadonlyArray<A>, subjectOf: (item: A) => string, databases: number) => {
  const groups = new Map<number, Array<A>>()
  for (const item of items) {
    const place = placeOf(subjectOf(item), databases)
    const group = groups.get(place)
    if (group === undefined) groups.set(place, [item])
    else group.push(item)
  }
  return [...groups]
}

const notKnown: VisitCount = { nonBots: 0, bots: 0, isUnknown: true }

/**
 * `VisitStore` over databases that have visits alone. Each knows the writers that wrote to it, and a batch is divided in the same way however often it is written: so each part is added once.
 *
 * The totals of subjects whose database does not answer are unknown; upkeep leaves such a database out.
 */
export const make = (databases: ReadonlyArray<VisitDatabase>): typeof VisitStore.Service => {
  const count = databases.length
  const of = (subject: string) => databases[placeOf(subject, count)]!.visits

  /** Asks every database that is not known to be away; those that fail are logged. Fails where none answers. */
  const upkeep = <A>(
    operation: string,
    ask: (visits: typeof VisitStore.Service) => Effect.Effect<A, StorageError>
  ) =>
    Effect.gen(function* () {
      const here = databases.filter(({ isAway }) => !isAway())
      const results = yield* Parallel.forEach(here, ({ visits }) => Effect.either(ask(visits)))
      const failures = results.filter(Either.isLeft).map(({ left }) => left)
      const answers = results.filter(Either.isRight).map(({ right }) => right)
      if (answers.length === 0) {
        const none = { operation, applied: "no", reason: "no database of visits answers" } as const
        return yield* failures[0] ?? new StorageError(none)
      }
      yield* Effect.forEach(
        failures,
        ({ message }) => Effect.logWarning(`A database of visits was left out: ${message}`),
        { discard: true }
      )
      return answers
    })

  return {
    write: (batch) =>
      Effect.asVoid(
        Parallel.forEach(
          grouped(batch.hours, ({ subject }) => subject, count),
          ([place, hours]) => databases[place]!.visits.write({ ...batch, hours })
        )
      ),
    totals: (subjects) => {
      const groups = grouped(
        subjects.map((subject, at) => ({ subject, at })),
        ({ subject }) => subject,
        count
      )
      const counts: Array<VisitCount> = subjects.map(() => notKnown)
      return Effect.as(
        Parallel.forEach(groups, ([place, some]) => {
          const { isAway, visits } = databases[place]!
          if (isAway()) return Effect.void
          return visits.totals(some.map(({ subject }) => subject)).pipe(
            Effect.map((found) => some.forEach(({ at }, index) => (counts[at] = found[index]!))),
            Effect.catchAll(({ message }) => Effect.logWarning(`Totals of visits are not shown: ${message}`))
          )
        }),
        counts
      )
    },
    series: (range, interval) => of(range.subject).series(range, interval),
    visitors: (range, interval) => of(range.subject).visitors(range, interval),
    top: (range, max) => of(range.subject).top(range, max),
    rollUp: (until, max) =>
      Effect.map(
        upkeep("VisitStore.rollUp", (visits) => visits.rollUp(until, max)),
        (more) => more.some(Boolean)
      ),
    rank: (until, max, handOn) =>
      Effect.map(
        upkeep("VisitStore.rank", (visits) => visits.rank(until, max, handOn)),
        (more) => more.some(Boolean)
      ),
    drop: (before, max) =>
      Effect.map(
        upkeep("VisitStore.drop", (visits) => visits.drop(before, max)),
        (more) => more.some(Boolean)
      ),
    dropWriters: (before) =>
      Effect.asVoid(upkeep("VisitStore.dropWriters", (visits) => visits.dropWriters(before))),
    forget: (subjects) =>
      Effect.asVoid(
        Parallel.forEach(
          grouped(subjects, (subject) => subject, count),
          ([place, some]) => databases[place]!.visits.forget(some)
        )
      )
  }
}
