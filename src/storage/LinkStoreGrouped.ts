import { Effect, Layer, type Scope } from "effect"
import * as Batcher from "../Batcher.ts"
import { LinkStore } from "./LinkStore.ts"
import { StorageError } from "./StorageError.ts"

/** Calls that are merged into one at most: 32, of at most 1,000 rows each. */
const callsMax = 32

/** Calls of each kind that wait at most. */
const queueMax = 4_096

/** Merges calls that come while `inFlightMax` are under way into one call, and hands each its part of the answer. */
const grouped = <A, B>(
  name: string,
  call: (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, StorageError>,
  inFlightMax: number
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

/**
 * Group commit for a node: all its partitions share the statements to the store. One commit at a time is right for SQLite, which has one
 * writer; PostgreSQL commits several side by side.
 */
export const layer = (options: { readonly inFlightMax: number }): Layer.Layer<LinkStore, never, LinkStore> =>
  Layer.scoped(
    LinkStore,
    Effect.gen(function* () {
      const store = yield* LinkStore
      return {
        insertMany: yield* grouped("LinkStore.insertMany", store.insertMany, options.inFlightMax),
        findMany: yield* grouped("LinkStore.findMany", store.findMany, options.inFlightMax),
        deleteMany: yield* grouped("LinkStore.deleteMany", store.deleteMany, options.inFlightMax),
        updateMany: yield* grouped("LinkStore.updateMany", store.updateMany, options.inFlightMax),
        list: store.list,
        crawlable: store.crawlable,
        takeVisits: yield* grouped("LinkStore.takeVisits", store.takeVisits, options.inFlightMax),
        takenAmong: store.takenAmong
      }
    })
  )
