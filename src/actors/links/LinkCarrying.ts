import { Singleton } from "@effect/cluster"
import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, type Layer } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import { LinkCarrier } from "../../storage/homes/LinkDatabaseList.ts"

/** How often the databases of links are asked for messages, free keys, and links whose visits are to be forgotten elsewhere. */
const pause = Duration.seconds(1)

/** Batches of one turn at most; what is left waits for the next one. */
const batchesMax = 100

/** Carries what is in databases of links to where it belongs (`LinkCarrier`), on one node of the cluster at a time. Two that do so at once do no harm. */
export const layer: Layer.Layer<never, never, Sharding> = Singleton.make(
  "LinkCarrying",
  Effect.flatMap(LinkCarrier, ({ carry }) =>
    Effect.repeat(carry, { while: (more) => more, times: batchesMax - 1 })
  ).pipe((turn) => Pulse.fromNow(turn, pause))
)
