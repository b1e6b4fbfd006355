import { Effect, Layer } from "effect"
import * as GroupCommit from "../sql/GroupCommit.ts"
import { LinkStore } from "./LinkStore.ts"

/** Calls that are merged into one at most: 32, of at most 1,000 rows each. */
const callsMax = 32

/**
 * Group commit for a node: all its partitions share the statements to the store. One commit at a time is right for SQLite, which has one
 * writer; PostgreSQL commits several side by side.
 */
export const layer = (options: { readonly inFlightMax: number }): Layer.Layer<LinkStore, never, LinkStore> =>
  Layer.scoped(
    LinkStore,
    Effect.gen(function* () {
      const { inFlightMax } = options
      const store = yield* LinkStore
      return {
        insertMany: yield* GroupCommit.make("LinkStore.insertMany", store.insertMany, {
          callsMax,
          inFlightMax
        }),
        findMany: store.findMany,
        deleteMany: yield* GroupCommit.make("LinkStore.deleteMany", store.deleteMany, {
          callsMax,
          inFlightMax
        }),
        updateMany: yield* GroupCommit.make("LinkStore.updateMany", store.updateMany, {
          callsMax,
          inFlightMax
        }),
        list: store.list,
        crawlable: store.crawlable,
        takeVisits: yield* GroupCommit.make("LinkStore.takeVisits", store.takeVisits, {
          callsMax,
          inFlightMax
        }),
        takenAmong: store.takenAmong
      }
    })
  )
