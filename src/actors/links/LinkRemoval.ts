import { Singleton } from "@effect/cluster"
import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, type Layer, Schedule } from "effect"
import { LinkRemovals, removedAtOnce } from "../../storage/links/LinkRemovals.ts"

/** Steps of one turn at most; what is left waits for the next one. */
const stepsMax = 100

const pause = Duration.seconds(10)

/** One turn: deletes links of owners who are gone, where that was asked for. */
export const turn = Effect.flatMap(LinkRemovals, ({ remove }) =>
  Effect.repeat(remove(removedAtOnce), { while: (keys) => keys.length > 0, times: stepsMax - 1 })
)

/** Has a turn every ten seconds, on one node of the cluster at a time. Two that do so at once do no harm. */
export const layer: Layer.Layer<never, never, Sharding | LinkRemovals> = Singleton.make(
  "LinkRemoval",
  turn.pipe(
    Effect.catchTag("StorageError", (error) =>
      Effect.logWarning(`Links of owners who are gone are deleted later: ${error.operation}: ${error.reason}`)
    ),
    Effect.repeat(Schedule.spaced(pause)),
    Effect.asVoid
  )
)
