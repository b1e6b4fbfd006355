import { Effect, type Scope } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import { StorageError } from "../StorageError.ts"

/** Calls of each kind that wait at most. */
const queueMax = 4_096

/** Merges calls that come while `inFlightMax` are under way into one call, `callsMax` together at most, and hands each its part of the answer. */
export const make = <A, B>(
  name: string,
  call: (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, StorageError>,
  { callsMax, inFlightMax }: { readonly callsMax: number; readonly inFlightMax: number }
): Effect.Effect<
  (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, StorageError>,
  never,
  Scope.Scope
> =>
  Effect.map(
    Batcher.make<ReadonlyArray<A>, ReadonlyArray<B>, StorageError>({
      name,
      kind: name,
      run: (calls) =>
        Effect.map(call(calls.flat()), (answers) => {
          let from = 0
          return calls.map(({ length }) => answers.slice(from, (from += length)))
        }),
      batchMax: callsMax,
      queueMax,
      inFlightMax,
      quietTurns: 4
    }),
    (batcher) => (questions) =>
      Effect.catchTag(
        batcher.submit(questions),
        "QueueFull",
        () => new StorageError({ operation: name, applied: "no", reason: "too many calls are waiting" })
      )
  )
