import { type Context, Effect, Layer, type Scope } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import { StorageError } from "../StorageError.ts"

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

/** Calls of each operation that wait at most. */
const queueMax = 4_096

const merging = (
  name: string,
  operation: BatchOperation,
  { callsMax, inFlightMax, lanes = { count: 1, of: () => 0 } }: GroupCommitOptions
): Effect.Effect<BatchOperation, never, Scope.Scope> =>
  Effect.map(
    Effect.replicateEffect(
      Batcher.make<ReadonlyArray<unknown>, ReadonlyArray<unknown>, StorageError>({
        name,
        kind: name,
        run: (calls) =>
          Effect.map(operation(calls.flat()), (answers) => {
            let from = 0
            return calls.map(({ length }) => answers.slice(from, (from += length)))
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
        batchers[lanes.of(questions)]!.submit(questions),
        "QueueFull",
        () => new StorageError({ operation: name, applied: "no", reason: "too many calls are waiting" })
      )
  )

/**
 * Group commit in front of a port: calls of an operation that come while `inFlightMax` are under way are merged into one, and each is handed its part of the answer. Other
 * operations than `merged` stay as they are.
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
