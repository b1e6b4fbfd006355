import { type Context, Effect, Either, Layer, type Scope } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import { answersOf, type Outcomes, PartlyFailed, StorageError } from "../StorageError.ts"

/** How much is merged. */
export interface GroupCommitOptions {
  /** Calls that are merged into one at most. */
  readonly callsMax: number
  /** Calls of one operation that are under way at the store at most, of each lane. */
  readonly inFlightMax: number
  /** What is not merged: calls of different lanes, which also do not wait for each other. One lane by default. */
  readonly lanes?: { readonly count: number; readonly of: (questions: ReadonlyArray<unknown>) => number }
}

/** An operation that answers a batch of questions in their order. */
type BatchOperation = (
  questions: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<unknown>, StorageError>

/** What became of one of the calls that were merged. */
type Handed = Either.Either<ReadonlyArray<unknown>, StorageError>

/** Hands each call its part of what became of all questions. */
const handOut = <A>(
  calls: ReadonlyArray<ReadonlyArray<unknown>>,
  all: ReadonlyArray<A>,
  handed: (part: ReadonlyArray<A>) => Handed
): ReadonlyArray<Handed> => {
  let from = 0
  return calls.map(({ length }) => handed(all.slice(from, (from += length))))
}

/** Calls of each operation that wait at most. */
const queueMax = 4_096

const merging = (
  name: string,
  operation: BatchOperation,
  { callsMax, inFlightMax, lanes = { count: 1, of: () => 0 } }: GroupCommitOptions
): Effect.Effect<BatchOperation, never, Scope.Scope> =>
  Effect.map(
    Effect.replicateEffect(
      Batcher.make<ReadonlyArray<unknown>, Handed, StorageError>({
        name,
        kind: name,
        run: (calls) =>
          Effect.matchEffect(operation(calls.flat()), {
            onSuccess: (answers) => Effect.succeed(handOut(calls, answers, Either.right)),
            onFailure: (error) =>
              error instanceof PartlyFailed
                ? Effect.succeed(
                    handOut(calls, error.outcomes, (part: Outcomes<unknown>) => answersOf(name, part))
                  )
                : error
          }),
        batchMax: callsMax,
        queueMax,
        inFlightMax,
        quietTurns: 1
      }),
      lanes.count
    ),
    (batchers) => (questions) =>
      Effect.catchTag(
        Effect.flatten(batchers[lanes.of(questions)]!.submit(questions)),
        "QueueFull",
        () => new StorageError({ operation: name, applied: "no", reason: "too many calls are waiting" })
      )
  )

/**
 * Group commit in front of a port: calls of an operation that come while `inFlightMax` are under way are merged into one, and each is handed its part of the answer, also of
 * one that has failed in part (`PartlyFailed`). Other operations than `merged` stay as they are.
 */
export const layer = <I, S extends object, Name extends string & keyof S>(
  tag: Context.Tag<I, S>,
  name: string,
  merged: ReadonlyArray<Name>,
  options: GroupCommitOptions
): Layer.Layer<I, never, I> =>
  Layer.scoped(
    tag,
    Effect.gen(function* () {
      const port = yield* tag
      const operations = yield* Effect.forEach(merged, (operation) =>
        Effect.map(
          merging(`${name}.${operation}`, port[operation] as BatchOperation, options),
          (merging) => [operation, merging] as const
        )
      )
      return { ...port, ...Object.fromEntries(operations) }
    })
  )
