import { Context, Effect, Exit, Layer, type Scope } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import type { Link } from "../../model/Link.ts"
import { lanePace, LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import type { GetThen } from "./LinkCache.ts"
import { fromFailure, Unavailable } from "../Unavailable.ts"

/** Keys of one statement at most. */
const keysMax = 1_000

/** Keys that wait at most; more are refused at once. */
const waitingMax = 10_000

/**
 * Reads single links from the store without an effect for each, together with what else this node reads at the time. Callers that wait when its scope
 * closes are interrupted.
 */
export class LinkReader extends Context.Tag("linkmint/LinkReader")<
  LinkReader,
  {
    /** Reads the row of a key, tombstones included, as the store has it no earlier than now. */
    readonly readThen: GetThen<Unavailable>
  }
>() {}

const tooMany = Exit.fail(new Unavailable({ reason: "too many reads wait for the store", applied: "no" }))

/** Reads by `findMany`, in `inFlightMax` statements at a time, which the databases share; see {@link LinkReader}. */
export const over = (
  findMany: (typeof LinkStore.Service)["findMany"],
  inFlightMax: number
): Effect.Effect<typeof LinkReader.Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    const places = yield* LinkPlaces
    const { laneOf, lanes } = places
    const pace = yield* lanePace(places, inFlightMax)
    const batcher = Batcher.make<string, Link | null, StorageError>({
      name: "LinkStore.findMany",
      kind: "LinkStore.findMany",
      run: findMany,
      batchMax: keysMax,
      queueMax: waitingMax,
      ...pace,
      quietTurns: 1
    })
    const batchers = yield* Effect.replicateEffect(batcher, lanes)
    return {
      readThen: (key, answer, span) => {
        const isAsked = batchers[laneOf(key)]!.submitThen(
          key,
          (row) => answer(Exit.mapError(row, fromFailure)),
          span
        )
        if (!isAsked) answer(tooMany)
      }
    }
  })

/** See {@link LinkReader}. `inFlightMax`: statements that are under way at most. */
export const layer = (inFlightMax: number): Layer.Layer<LinkReader, never, LinkStore> =>
  Layer.scoped(
    LinkReader,
    Effect.flatMap(LinkStore, ({ findMany }) => over(findMany, inFlightMax))
  )
