import { Entity } from "@effect/cluster"
import { Cause, Duration, Effect, Either, Exit, Option } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import * as Traced from "../../telemetry/Traced.ts"
import * as ActorMetrics from "../ActorMetrics.ts"
import type { Link } from "../../model/Link.ts"
import type { GuardedLink } from "../../storage/links/GuardedCreates.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { answersOf, outcomesOf } from "../../storage/StorageError.ts"
import type { Take } from "../../storage/visits/VisitTakes.ts"
import * as LinkCache from "./LinkCache.ts"
import { LinkReader } from "./LinkReader.ts"
import { bind, type BindOutcome, LocalOwners } from "./LocalOwners.ts"
import { disableFatalDefects, fromFailure, Unavailable } from "../Unavailable.ts"
import { type CreateOutcome, partitionCount, UrlMapping } from "./UrlMapping.ts"

/** Rows that an owner remembers of its partition. */
const ownerCacheMax = 4_096

/** Bytes of them, by `LinkWeight`: of all partitions together 128 MiB, on a node that owns all of them. */
const ownerCacheBytesMax = (128 * 1024 * 1024) / partitionCount

/**
 * The outcomes of a message's links, in their order. One link that failed fails the message. It is known to have left nothing behind only where all of its links
 * are, because they can have been in several statements.
 */
const createdOf = (
  outcomes: ReadonlyArray<BindOutcome>
): Effect.Effect<ReadonlyArray<CreateOutcome>, Unavailable> => {
  const failures = outcomes.filter(Exit.isFailure)
  if (failures.length === 0) return Effect.all(outcomes)
  const isUnknown = ({ cause }: (typeof failures)[number]) =>
    Option.exists(Cause.failureOption(cause), ({ applied }) => applied === "unknown")
  const { cause } = failures.find(isUnknown) ?? failures[0]!
  if (failures.length === outcomes.length) return Effect.failCause(cause)
  return Effect.mapError(
    Effect.failCause(cause),
    ({ away, reason }) => new Unavailable({ reason, away, applied: "unknown" })
  )
}

/**
 * The behaviour of `UrlMapping`: the store decides, the cache remembers.
 */
export const UrlMappingLive = (cacheMax = ownerCacheMax) =>
  UrlMapping.toLayer(
    Effect.gen(function* () {
      const store = yield* LinkStore
      const { readThen } = yield* LinkReader
      const { entityId } = yield* Entity.CurrentAddress
      const cache = yield* LinkCache.make<Unavailable>({
        level: "l2",
        max: cacheMax,
        maxBytes: ownerCacheBytesMax,
        readAge_ms: 0,
        staleMax_ms: 0,
        read: readThen
      })
      const local = yield* LocalOwners
      yield* local.add(Number(entityId), cache)

      /** Each link alone, and with them what else this node binds. */
      const createMany = (links: ReadonlyArray<Link>) =>
        Effect.flatMap(bind(local.bindThen, links), createdOf).pipe(Traced.span("UrlMapping.createMany"))

      const createGuarded = (links: ReadonlyArray<GuardedLink>) =>
        Traced.span("UrlMapping.createGuarded")(local.bindGuarded(links))

      /** The cached row knows that its link has visits left, until it has none: then nothing but a change gives it some again. */
      const takeVisits = (takes: ReadonlyArray<Take>) =>
        Effect.flatMap(outcomesOf(store.takeVisits(takes)), (outcomes) => {
          for (const [index, { key }] of takes.entries()) {
            const taken = outcomes[index]!
            if (Either.isRight(taken) && taken.right.left === 0) cache.forget(key)
          }
          return answersOf("LinkStore.takeVisits", outcomes)
        })

      return ActorMetrics.watch(
        "UrlMapping",
        UrlMapping.of({
          CreateMany: ({ payload }) => createMany(payload.links),
          CreateGuarded: ({ payload }) => createGuarded(payload.links),
          ResolveMany: ({ payload }) =>
            Effect.flatMap(Parallel.exits(payload.keys, cache.getThen), Effect.all),
          Visit: ({ payload }) => Effect.mapError(takeVisits(payload.takes), fromFailure),
          Delete: ({ payload }) =>
            cache
              .write([payload.key], store.deleteMany([payload]), () => [])
              .pipe(
                Effect.map(([deleted]) => deleted === true),
                Effect.mapError(fromFailure)
              ),
          Update: ({ payload }) =>
            cache
              .write([payload.key], store.updateMany([payload]), (rows) => rows.filter((row) => row !== null))
              .pipe(
                Effect.map(([row]) => row ?? null),
                Effect.mapError(fromFailure)
              )
        })
      )
    }),
    {
      // Reads do not wait for writes: the cache keeps them in order where order matters.
      concurrency: "unbounded",
      mailboxCapacity: 4_096,
      disableFatalDefects,
      // Passivation would only empty the cache.
      maxIdleTime: Duration.infinity
    }
  )
