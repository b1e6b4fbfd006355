import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Cause, Context, Duration, Effect, Either, Exit, FiberRef, Option, Runtime } from "effect"
import { DirectOr, type Run } from "../../fibers/Direct.ts"
import * as Parallel from "../../fibers/Parallel.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import {
  areMoving,
  isRefused,
  LinkTenure,
  refused,
  type Tenure,
  Tenured
} from "../links/buckets/LinkTenure.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import { answersOf, StorageError } from "../StorageError.ts"
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
   * new one, and what is in a bucket that is being moved waits, for {@link waitMax_ms} at most. So does what is beside one; what is in two databases is not asked. A failure is that of its own questions,
   * and of those that still wait: where others have answers, it is `PartlyFailed`. Where each database can be asked without a fiber (`Tenured`), so can all of them (`Direct`).
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
  /** Asks every database, except those that are known to be away; a bucket's rows are in the answer of its home by the placement of the answers. Fails where none answers. */
  readonly gather: <A>(operation: string, ask: Ask<D, A>) => Effect.Effect<Gathered<A>, StorageError>
  /** Asks one of them once more, by the same placement: fails where that is old. */
  readonly askAgain: <A, B>(
    operation: string,
    answered: Answered<A>,
    ask: Ask<D, B>
  ) => Effect.Effect<B, StorageError>
  /** Asks every database that no bucket is leaving; those that fail are logged. Fails where none answers. */
  readonly sweep: <A>(operation: string, ask: Ask<D, A>) => Effect.Effect<ReadonlyArray<A>, StorageError>
}

const leaveTransaction = Context.omit(SqlClient.TransactionConnection)

/** A context is copied only where it has a transaction: one of a node has a hundred services. */
const withoutTransaction = (context: Context.Context<never>): Context.Context<never> =>
  Option.isNone(Context.getOption(context, SqlClient.TransactionConnection))
    ? context
    : leaveTransaction(context as never)

const places = <Q>(questions: ReadonlyArray<Q>) => questions.map((_, place) => place)

/** Questions, by their places, that one database is asked, by its number. */
type Group = readonly [home: number, places: ReadonlyArray<number>]

/** What is asked at once. */
interface Round {
  readonly known: KnownPlacement
  readonly groups: ReadonlyArray<Group>
  /** Places of what is not asked, because its bucket is being moved, or what is beside it is in another database. */
  readonly waiting: ReadonlyArray<number>
  readonly apart: ReadonlyArray<number>
}

/**
 * Whether a bucket that was being moved has been at home elsewhere since: what was asked at its old home may have missed its rows. Where it has come back by now, the epoch of the database that it
 * was being moved to is another one.
 */
const hasMoved = (bucket: number, before: KnownPlacement, now: KnownPlacement): boolean => {
  const { home, movingTo } = before.places[bucket]!
  if (movingTo === null) return false
  return now.places[bucket]!.home !== home || now.epochs.get(movingTo) !== before.epochs.get(movingTo)
}

/** Whether any has. */
const haveMoved = (before: KnownPlacement, now: KnownPlacement): boolean =>
  before.places.some((_, bucket) => hasMoved(bucket, before, now))

/** What is to be asked again, by its places. */
interface Unsettled {
  readonly known: KnownPlacement
  /** It was refused, or not asked. */
  readonly waiting: ReadonlyArray<number>
  /** It was read in a bucket that was being moved. */
  readonly unsure: ReadonlyArray<number>
}

/** A call that is under way, by the places of its questions. */
interface Call<A> {
  readonly answers: Array<A>
  readonly failures: Map<number, StorageError>
}

/** What became of a call, or how it goes on. */
type Outcome<A> = Effect.Effect<ReadonlyArray<A>, StorageError>

/** What a failure means for an operation. */
const failing = (
  operation: string,
  { applied, reason }: StorageError,
  isApplied: StorageError["applied"] = applied
): StorageError => new StorageError({ operation, applied: isApplied, reason })

/** Calls all at once, and back when all have called back. */
const together = <A, E>(
  runs: ReadonlyArray<Run<A, E>>,
  done: (exits: ReadonlyArray<Exit.Exit<A, E>>) => void
): void => {
  const exits: Array<Exit.Exit<A, E>> = []
  let open = runs.length
  for (const [index, run] of runs.entries()) {
    run((exit) => {
      exits[index] = exit
      if (--open === 0) done(exits)
    })
  }
}

/** The outcome of what has no defect. */
const eitherOf = <A>(exit: Exit.Exit<A, StorageError>): Either.Either<A, StorageError> =>
  Exit.isSuccess(exit)
    ? Either.right(exit.value)
    : Either.left(Option.getOrThrow(Cause.failureOption(exit.cause)))

/**
 * See {@link Router}. A transaction of the caller's is one of another database: nothing that is asked here is part of it. `runtime`: where what nobody's fiber waits for goes on that has to be asked
 * again.
 */
export const make = <D extends LinkDatabase>(
  databases: ReadonlyArray<D>,
  placement: PlacementCache,
  runtime: Runtime.Runtime<never>
): Router<D> => {
  const runFork = Runtime.runFork(runtime)
  const askOne = <A>(operation: string, index: number, { tenures }: KnownPlacement, ask: Ask<D, A>) =>
    Effect.suspend(() => ask(databases[index]!, tenures[index]!, index)).pipe(
      asStorageError(operation),
      Effect.provideService(LinkTenure, tenures[index]),
      Effect.mapInputContext(withoutTransaction),
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
    ): Effect.Effect<ReadonlyArray<A>, StorageError> => {
      if (questions.length === 0) return Effect.succeed([])
      const buckets = questions.map(bucketOf)
      const others = beside && questions.map(beside.bucketsOf)

      /** Divides questions over the databases that have them, under a placement. */
      const divide = (open: ReadonlyArray<number>, known: KnownPlacement): Round => {
        const waiting: Array<number> = []
        const apart: Array<number> = []
        const groups = new Map<number, Array<number>>()
        for (const place of open) {
          const { home, movingTo } = known.places[buckets[place]!]!
          const near = others?.[place]!.map((bucket) => known.places[bucket]!)
          const group = groups.get(home)
          if (isWrite && (movingTo !== null || near?.some((one) => one.movingTo !== null)))
            waiting.push(place)
          else if (near?.some((one) => one.home !== home)) apart.push(place)
          else if (group === undefined) groups.set(home, [place])
          else group.push(place)
        }
        return { known, waiting, apart, groups: Array.from(groups) }
      }

      const askGroup = ([home, some]: Group, { tenures }: KnownPlacement) =>
        ask(some.map((place) => questions[place]!))(databases[home]!, tenures[home]!, home)

      const askAll = ({ groups, known }: Round) =>
        Parallel.forEach(groups, (group) => askOne(operation, group[0], known, () => askGroup(group, known)))

      /** The failure of a call, because of which `open` is not asked any more. */
      const endOf = (call: Call<A>, open: ReadonlyArray<number>, failure: StorageError): StorageError => {
        // A reader needs the answers to all of its questions.
        if (!isWrite) return failing(operation, failure)
        const { answers, failures } = call
        const unasked = failing(operation, failure, "no")
        for (const place of open) failures.set(place, unasked)
        const outcomes = places(questions).map((place) => {
          const failed = failures.get(place)
          return failed === undefined ? Either.right(answers[place]!) : Either.left(failed)
        })
        return Option.getOrThrow(Either.getLeft(answersOf(operation, outcomes)))
      }

      /** Takes the answers of a round; gives what is to be asked again, or why the call fails. */
      const settle = (
        call: Call<A>,
        { apart, groups, known, waiting }: Round,
        results: ReadonlyArray<Either.Either<ReadonlyArray<A>, StorageError>>
      ): Either.Either<Unsettled, StorageError> => {
        let failure: StorageError | undefined
        const refused: Array<number> = []
        const unsure: Array<number> = []
        for (const place of apart) call.answers[place] = beside!.apart
        for (const [index, result] of results.entries()) {
          const some = groups[index]![1]
          if (Either.isRight(result)) {
            some.forEach((place, at) => (call.answers[place] = result.right[at]!))
            if (!isWrite) unsure.push(...some.filter((at) => known.places[buckets[at]!]!.movingTo !== null))
          } else if (isRefused(result.left)) refused.push(...some)
          else {
            failure ??= result.left
            const own = failing(operation, result.left)
            for (const place of some) call.failures.set(place, own)
          }
        }
        const open = [...waiting, ...refused]
        return failure === undefined
          ? Either.right({ known, waiting: open, unsure })
          : Either.left(endOf(call, open, failure))
      }

      /** Asks again, under newer placements, until nothing is left. */
      const finish = Effect.fnUntraced(function* (call: Call<A>, { known, unsure, waiting }: Unsettled) {
        const start = yield* monotonic_ms
        while (waiting.length > 0 || unsure.length > 0) {
          if ((yield* monotonic_ms) - start > waitMax_ms)
            return yield* endOf(call, [...waiting, ...unsure], areMoving(operation))
          if (waiting.length > 0) yield* Effect.sleep(pause)
          const before = known
          const open = [...waiting, ...unsure]
          const now = yield* Effect.mapError(placement.read, (error) => endOf(call, open, error))
          const missed = unsure.filter((place) => hasMoved(buckets[place]!, before, now))
          const round = divide(
            [...waiting, ...missed].toSorted((a, b) => a - b),
            now
          )
          ;({ known, unsure, waiting } = yield* settle(call, round, yield* askAll(round)))
        }
        return call.answers
      })

      const inFiber = Effect.suspend(() => {
        const call: Call<A> = { answers: [], failures: new Map() }
        const round = divide(places(questions), placement.current())
        return Effect.flatMap(askAll(round), (results) =>
          Effect.flatMap(settle(call, round, results), (unsettled) => finish(call, unsettled))
        )
      })

      /** Asks all databases by calls, where nothing waits and each can be asked so; it goes on as `done` is told. */
      const callAll = (
        known: KnownPlacement
      ): ((done: (outcome: Outcome<A>) => void) => void) | undefined => {
        const round = divide(places(questions), known)
        if (round.waiting.length > 0 || round.apart.length > 0) return undefined
        const runs: Array<Run<ReadonlyArray<A>, StorageError>> = []
        for (const group of round.groups) {
          const asked = askGroup(group, known)
          if (!(asked instanceof Tenured)) return undefined
          runs.push((asked as Tenured<ReadonlyArray<A>>).on(known.tenures[group[0]]))
        }
        const outcomeOf = (exits: ReadonlyArray<Exit.Exit<ReadonlyArray<A>, StorageError>>): Outcome<A> => {
          const defect = exits.find((exit) => Exit.isFailure(exit) && !Cause.isFailure(exit.cause))
          if (defect !== undefined) return defect
          const call: Call<A> = { answers: [], failures: new Map() }
          const settled = settle(call, round, exits.map(eitherOf))
          if (Either.isLeft(settled)) return Exit.fail(settled.left)
          const { unsure, waiting } = settled.right
          return waiting.length === 0 && unsure.length === 0
            ? Exit.succeed(call.answers)
            : finish(call, settled.right)
        }
        return (done) => together(runs, (exits) => done(outcomeOf(exits)))
      }

      const known = placement.current()
      const first = callAll(known)
      if (first === undefined) return inFiber
      const run: Run<ReadonlyArray<A>, StorageError> = (done) =>
        first((outcome) =>
          Exit.isExit(outcome)
            ? done(outcome as Exit.Exit<ReadonlyArray<A>, StorageError>)
            : runFork(outcome).addObserver(done)
        )
      if (isWrite) return new DirectOr(run, inFiber)
      // A fiber reads by the same calls, unless its spans are wanted: a fiber for each database takes longer than the statement.
      const read = Effect.withFiberRuntime<ReadonlyArray<A>, StorageError>((fiber) => {
        if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return inFiber
        const now = placement.current()
        const call = now === known ? first : callAll(now)
        return call === undefined ? inFiber : Effect.async((resume) => call(resume))
      })
      return new DirectOr(run, read)
    }

  /**
   * Asks databases by their numbers, and all once more where one refuses an old epoch, or a bucket came to its new home meanwhile: its old home may have answered without its rows. A sweep asks that one alone
   * again, and none that buckets are leaving.
   */
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
        const before = known
        if (open.length > 0 || (!isSweep && before.leaving.size > 0))
          known = yield* Effect.mapError(placement.read, (error) =>
            failing(operation, error, isSweep && answers.length > 0 ? "unknown" : "no")
          )
        if (isSweep || (open.length === 0 && !haveMoved(before, known))) continue
        if (tries === triesMax) return yield* areMoving(operation)
        // What has left one database is in another, whose answer is by the same placement.
        open = indices
        answers = []
        failures = []
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
    askAgain: Effect.fnUntraced(function* (operation, { index, placement: before }, ask) {
      const answer = yield* Effect.flatten(askOne(operation, index, before, ask))
      if (before.leaving.size > 0 && haveMoved(before, yield* placement.read))
        return yield* refused(operation)
      return answer
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
