import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, Either, Random, type Scope } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { type Outcomes, outcomesOf, type StorageError } from "../../storage/StorageError.ts"
import type { Take, Taken } from "../../storage/visits/VisitTakes.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import { fromFailure, orUnavailable, Unavailable } from "../Unavailable.ts"
import { batchMax, partitionCount, partitionOf, UrlMapping } from "./UrlMapping.ts"

/** How a node gets visits of links that have only so many. */
export interface VisitTakers {
  /** One visit of a link: `granted` is 1, or 0 when none is left. */
  readonly take: (key: string) => Effect.Effect<Taken, Unavailable>
}

/** Visits that wait for one lane of a partition at most; more are refused at once. */
const queueMax = 10_000

/** How long an owner may take before the node asks the store itself, which knows a take that comes by two ways. */
const ownerMax = Duration.millis(250)

/** The answers to single takes of one key: the first `granted` of them get a visit each. */
const share = ({ granted, left }: Taken) => {
  let rest = granted
  return (): Taken => ({ granted: rest-- > 0 ? 1 : 0, left })
}

/**
 * Takes visits from the owners of the links' partitions. What waits for one lane of a partition goes in one message, and one message of a lane at a time: a database
 * that does not answer holds up no visits of links in another one. While an owner is away or fails the store is asked, which is the arbiter anyway: it knows by their numbers
 * the takes that it has granted, also those of an owner's statement that has failed in part.
 */
export const make: Effect.Effect<VisitTakers, never, Sharding | LinkStore | Scope.Scope> = Effect.gen(
  function* () {
    const store = yield* LinkStore
    const { laneOf, lanes } = yield* LinkPlaces
    const clientOf = yield* UrlMapping.client
    const half = Effect.map(Random.nextIntBetween(0, 2 ** 32), (n) => n.toString(36))
    const node = `${yield* half}${yield* half}`
    let number = 0

    const fromOwner = (partition: number, takes: ReadonlyArray<Take>) =>
      Timeout.within(orUnavailable(clientOf(String(partition)).Visit({ takes })), {
        duration: ownerMax,
        onTimeout: () =>
          new Unavailable({
            reason: `the owner of partition ${partition} did not answer`,
            applied: "unknown"
          })
      })

    const run = (partition: number, taker: string) => (keys: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const counts = new Map<string, number>()
        for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
        const takes = Array.from(counts, ([key, count]): Take => ({ key, count, taker, number: ++number }))
        const outcomes: Outcomes<Taken> = yield* outcomesOf(
          Effect.catchAll(fromOwner(partition, takes), () => store.takeVisits(takes))
        )
        const shares = new Map(takes.map(({ key }, index) => [key, Either.map(outcomes[index]!, share)]))
        return keys.map((key) => Either.map(shares.get(key)!, (next) => next()))
      })

    const makeBatcher = yield* Batcher.maker
    const takers = Array.from({ length: partitionCount }, (_, partition) =>
      Array.from({ length: lanes }, (_, lane) =>
        makeBatcher<string, Either.Either<Taken, StorageError>, StorageError>({
          name: `visit in partition ${partition}`,
          kind: "visit",
          run: run(partition, `${node}.${lane}`),
          batchMax,
          queueMax,
          inFlightMax: 1
        })
      )
    )
    return {
      take: (key) =>
        Effect.mapError(Effect.flatten(takers[partitionOf(key)]![laneOf(key)]!.submit(key)), fromFailure)
    }
  }
)
