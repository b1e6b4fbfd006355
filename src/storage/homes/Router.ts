import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Duration, Effect, Either } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import { areMoving, isRefused, LinkTenure, type Tenure } from "../links/LinkTenure.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import { StorageError } from "../StorageError.ts"
import type { KnownPlacement, PlacementCache } from "./PlacementCache.ts"

/** How long a call waits for a bucket that is being moved, and for a placement under which it is not refused, in milliseconds. */
export const waitMax_ms = 1_500

/** The pause before the placement is read again. */
const pause = Duration.millis(20)

/** One of the databases that have links. */
export interface LinkDatabase {
  readonly sql: SqlClient.SqlClient
  /** Whether it is known not to answer. Then lists do without it, and no keys are chosen that would be bound there. */
  readonly isAway: () => boolean
}

/** What a call asks of one database. */
export type Ask<D, A> = (
  database: D,
  tenure: Tenure,
  index: number
) => Effect.Effect<A, StorageError | SqlError>

/** What a database answered. */
export interface Answered<A> {
  readonly index: number
  readonly answer: A
  /** The placement by which it was asked. */
  readonly placement: KnownPlacement
}

/** The answers of the databases that gave one, in their order, and why others did not. */
export interface Gathered<A> {
  readonly answers: ReadonlyArray<Answered<A>>
  readonly failures: ReadonlyArray<StorageError>
}

/** How often a database is asked that refuses an old epoch, when all are asked. */
const triesMax = 4

/** What must be in the same database as a question's bucket. */
export interface Beside<Q, A> {
  readonly bucketsOf: (question: Q) => ReadonlyArray<number>
  /** The answer where it is in another one. */
  readonly apart: A
}

/** Asks the databases that have what the questions are about. */
export interface Router<D> {
  readonly databases: ReadonlyArray<D>
  readonly placement: PlacementCache
  /**
   * Has questions answered, each by the database that has its bucket; those of one database at once, in their order. What is refused because of an old placement is asked again under the
   * new one, and what is in a bucket that is being moved waits, for {@link waitMax_ms} at most. So does what is beside one; what is in two databases is not asked.
   */
  readonly write: <Q, A>(
    operation: string,
    questions: ReadonlyArray<Q>,
    bucketOf: (question: Q) => number,
    ask: (some: ReadonlyArray<Q>) => Ask<D, ReadonlyArray<A>>,
    beside?: Beside<Q, A>
  ) => Effect.Effect<ReadonlyArray<A>, StorageError>
  /** The same for what does not write: a bucket that is being moved is read where it is at home, as long as it is. */
  readonly read: Router<D>["write"]
  /** Asks every database, except those that are known to be away. Fails where none answers. */
  readonly gather: <A>(operation: string, ask: Ask<D, A>) => Effect.Effect<Gathered<A>, StorageError>
  /** Asks every database that no bucket is leaving; those that fail are logged. Fails where none answers. */
  readonly sweep: <A>(operation: string, ask: Ask<D, A>) => Effect.Effect<ReadonlyArray<A>, StorageError>
}

const withoutTransaction = Context.omit(SqlClient.TransactionConnection)

const places = <Q>(questions: ReadonlyArray<Q>) => questions.map((_, place) => place)

/** See {@link Router}. A transaction of the caller's is one of another database: nothing that is asked here is part of it. */
export const make = <D extends LinkDatabase>(
  databases: ReadonlyArray<D>,
  placement: PlacementCache
): Router<D> => {
  const askOne = <A>(operation: string, index: number, { tenures }: KnownPlacement, ask: Ask<D, A>) =>
    Effect.suspend(() => ask(databases[index]!, tenures[index]!, index)).pipe(
      asStorageError(operation),
      Effect.provideService(LinkTenure, tenures[index]),
      Effect.mapInputContext((context: Context.Context<never>) => withoutTransaction(context as never)),
      Effect.either
    )

  const asking =
    (isWrite: boolean): Router<D>["write"] =>
    <Q, A>(
      operation: string,
      questions: ReadonlyArray<Q>,
      bucketOf: (question: Q) => number,
      ask: (some: ReadonlyArray<Q>) => Ask<D, ReadonlyArray<A>>,
      beside?: Beside<Q, A>
    ) =>
      Effect.gen(function* () {
        if (questions.length === 0) return []
        const buckets = questions.map(bucketOf)
        const others = beside && questions.map(beside.bucketsOf)
        const answers: Array<A> = []
        let open = places(questions)
        let isPartDone = false
        const start = yield* monotonic_ms
        let known = placement.current()
        while (true) {
          const waiting: Array<number> = []
          const groups = new Map<number, Array<number>>()
          for (const place of open) {
            const { home, movingTo } = known.places[buckets[place]!]!
            const near = others?.[place]!.map((bucket) => known.places[bucket]!)
            if (isWrite && (movingTo !== null || near?.some((one) => one.movingTo !== null)))
              waiting.push(place)
            else if (near?.some((one) => one.home !== home)) answers[place] = beside!.apart
            else groups.set(home, [...(groups.get(home) ?? []), place])
          }
          const asked = Array.from(groups)
          const results = yield* Parallel.forEach(asked, ([home, some]) =>
            askOne(operation, home, known, ask(some.map((place) => questions[place]!)))
          )
          const failures: Array<StorageError> = []
          /** Places that were read in a bucket that was being moved. */
          const unsure: Array<number> = []
          for (const [index, result] of results.entries()) {
            const some = asked[index]![1]
            if (Either.isRight(result)) {
              isPartDone = true
              some.forEach((place, at) => (answers[place] = result.right[at]!))
              if (!isWrite) unsure.push(...some.filter((at) => known.places[buckets[at]!]!.movingTo !== null))
            } else if (isRefused(result.left)) waiting.push(...some)
            else failures.push(result.left)
          }
          const unknown = failures.find(({ applied }) => applied === "unknown")
          const [failure = unknown] = failures
          if (failure !== undefined) {
            const applied = unknown !== undefined || (isWrite && isPartDone) ? "unknown" : "no"
            return yield* new StorageError({ operation, applied, reason: failure.reason })
          }
          if (waiting.length === 0 && unsure.length === 0) return answers
          if ((yield* monotonic_ms) - start > waitMax_ms) {
            const applied = isWrite && isPartDone ? "unknown" : "no"
            return yield* new StorageError({ operation, applied, reason: areMoving(operation).reason })
          }
          const before = known
          if (waiting.length > 0) yield* Effect.sleep(pause)
          known = yield* placement.read
          const hasMoved = (place: number) =>
            known.places[buckets[place]!]!.home !== before.places[buckets[place]!]!.home
          open = [...waiting, ...unsure.filter(hasMoved)].toSorted((a, b) => a - b)
          if (open.length === 0) return answers
        }
      })

  /** Asks databases by their numbers, and all once more where one refuses an old epoch; where `isSweep`, that one alone, and none that buckets are leaving. */
  const everywhere = <A>(
    operation: string,
    indices: ReadonlyArray<number>,
    ask: Ask<D, A>,
    isSweep: boolean
  ) =>
    Effect.gen(function* () {
      let answers: Array<Answered<A>> = []
      let failures: Array<StorageError> = []
      let known = placement.current()
      let open = indices
      for (let tries = 1; open.length > 0; tries++) {
        const asked = isSweep ? open.filter((index) => !known.leaving.has(index)) : open
        const results = yield* Parallel.forEach(asked, (index) => askOne(operation, index, known, ask))
        open = []
        for (const [at, result] of results.entries()) {
          if (Either.isRight(result)) {
            answers.push({ index: asked[at]!, answer: result.right, placement: known })
          } else if (isRefused(result.left) && tries < triesMax) open = [...open, asked[at]!]
          else failures.push(result.left)
        }
        if (open.length > 0) {
          known = yield* placement.read
          // What has left one database is in another, whose answer is by the same placement.
          if (!isSweep) {
            open = indices
            answers = []
            failures = []
          }
        }
      }
      return { answers: answers.toSorted((one, other) => one.index - other.index), failures }
    })

  const noAnswer = (operation: string) =>
    new StorageError({ operation, applied: "no", reason: "the database of links does not answer" })

  return {
    databases,
    placement,
    write: asking(true),
    read: asking(false),
    gather: Effect.fnUntraced(function* (operation, ask) {
      const asked = places(databases).filter((index) => !databases[index]!.isAway())
      const { answers, failures } = yield* everywhere(operation, asked, ask, false)
      const awayCount = databases.length - asked.length
      const away = Array.from({ length: awayCount }, () => noAnswer(operation))
      if (answers.length === 0) return yield* failures[0] ?? noAnswer(operation)
      return { answers, failures: [...failures, ...away] }
    }),
    sweep: Effect.fnUntraced(function* (operation, ask) {
      const { answers, failures } = yield* everywhere(operation, places(databases), ask, true)
      if (answers.length === 0 && failures.length > 0) return yield* failures[0]!
      yield* Effect.forEach(
        failures,
        ({ message }) => Effect.logWarning(`A database of links was left out: ${message}`),
        { discard: true }
      )
      return answers.map(({ answer }) => answer)
    })
  }
}
