import type { Sharding } from "@effect/cluster/Sharding"
import { Cause, Duration, Effect, Exit, Option, Runtime, type Scope, type Tracer } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import { monotonicNow_ms, monotonic_ms } from "../../time/MonotonicTime.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import type { Link } from "../../model/Link.ts"
import { type BindOutcome, type BindThen, LocalOwners } from "./LocalOwners.ts"
import { PreferredPartition } from "./PreferredPartition.ts"
import { orUnavailable, Unavailable } from "../Unavailable.ts"
import {
  batchMax,
  type CreateOutcome,
  ownerRest_ms,
  partitionCount,
  partitionOf,
  UrlMapping
} from "./UrlMapping.ts"

/** Has the owners of partitions bind a node's links: those in this process by a call, those elsewhere by a message with what waits for one partition. */
export interface LinkWriters {
  /** Asks for links to be bound. */
  readonly bindThen: BindThen
  /** Whether the owner of a key's partition seems to be away at `now` (of `monotonicNow_ms`): a create does better with another key. */
  readonly isAway: (key: string, now: number) => boolean
  /** The partition that new keys should be of now, if it matters: see `PreferredPartition`. */
  readonly gathering: () => number | undefined
}

/** Creates that wait for the owner of one partition elsewhere, at most; more are refused at once. */
const queueMax = 10_000

const tooMany = Exit.fail(
  new Unavailable({ reason: "too many creates wait for the key's partition", applied: "no" })
)

/** An owner that takes longer is taken to be away: dead, paused, or on its way to another node. */
export const ownerMax = Duration.millis(1_200)

/** An owner that has been silent for this long is avoided, in milliseconds. */
const silentMax_ms = 500

/** What becomes of links that were not bound, whether or not anyone still waits for them. */
export interface NotBound {
  /** They were not sent to their owner. */
  readonly onUnsent: (links: ReadonlyArray<Link>) => Effect.Effect<void>
  /** Their owner says that they were not bound, for all that it knows: had the message come to another one before, they may be. */
  readonly onRefused: (links: ReadonlyArray<Link>) => Effect.Effect<void>
}

const isKnownUnbound = (outcome: BindOutcome): boolean =>
  Exit.isFailure(outcome) &&
  Option.exists(Cause.failureOption(outcome.cause), ({ applied }) => applied === "no")

/**
 * Writers for all partitions.
 *
 * An owner that does not answer fails what it was sent (`away`, it may have been applied), and for a moment everything else that waits for it (`away`,
 * not applied), so that those creates can go elsewhere.
 */
export const make = ({
  onRefused,
  onUnsent
}: NotBound): Effect.Effect<LinkWriters, never, LocalOwners | Sharding | Scope.Scope> =>
  Effect.gen(function* () {
    const local = yield* LocalOwners
    const clientOf = yield* UrlMapping.client
    const clock = yield* Effect.clock
    const gathering = new PreferredPartition()
    const makeBatcher = yield* Batcher.maker
    const runFork = Runtime.runFork(yield* Effect.runtime())

    const makeWriter = (partition: number) => {
      const name = `create in partition ${partition}`
      let sentAt = Number.POSITIVE_INFINITY
      let awayUntil = Number.NEGATIVE_INFINITY
      const away = (applied: "no" | "unknown") =>
        new Unavailable({ reason: `${name}: no owner`, applied, away: true })

      const begin = () => gathering.begin(partition, monotonicNow_ms(clock))

      const send = (links: ReadonlyArray<Link>) =>
        Timeout.within(orUnavailable(clientOf(String(partition)).CreateMany({ links })), {
          duration: ownerMax,
          onTimeout: () => away("unknown")
        })

      const run = Effect.fnUntraced(function* (links: ReadonlyArray<Link>) {
        const now = yield* monotonic_ms
        if (now < awayUntil) {
          yield* onUnsent(links)
          return yield* away("no")
        }
        sentAt = now
        return yield* send(links).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              sentAt = Number.POSITIVE_INFINITY
            })
          ),
          Effect.tapError((error) =>
            Effect.gen(function* () {
              if (error.away && error.applied === "unknown") {
                awayUntil = (yield* monotonic_ms) + ownerRest_ms
              }
              if (error.applied === "no") yield* onRefused(links)
            })
          )
        )
      })

      const batcher = makeBatcher<Link, CreateOutcome, Unavailable>({
        name,
        kind: "create",
        run: (links) =>
          Effect.suspend(() => {
            begin()
            return Effect.ensuring(
              run(links),
              Effect.sync(() => gathering.end(partition))
            )
          }),
        batchMax,
        queueMax,
        inFlightMax: 1
      })
      /** Sent in a moment, and what is asked meanwhile should know. */
      const announce = () => {
        if (!gathering.isBusy(partition)) begin()
      }
      const submitThen = (link: Link, answer: (outcome: BindOutcome) => void, span?: Tracer.AnySpan) => {
        announce()
        if (batcher.submitThen(link, answer, span)) return
        runFork(Effect.uninterruptible(onUnsent([link])))
        answer(tooMany)
      }
      return {
        submitThen,
        isAway: (now: number) => now < awayUntil || now - sentAt > silentMax_ms
      }
    }

    const writers = Array.from({ length: partitionCount }, (_, partition) => makeWriter(partition))
    const writerOf = (key: string) => writers[partitionOf(key)]!
    const bindHere: BindThen = (links, answer, span) =>
      local.bindThen(
        links,
        (outcomes) => {
          const unbound = links.filter((_, place) => isKnownUnbound(outcomes[place]!))
          if (unbound.length > 0) runFork(Effect.uninterruptible(onRefused(unbound)))
          answer(outcomes)
        },
        span
      )
    const bindThen: BindThen = (links, answer, span) => {
      if (links.length === 0) return answer([])
      const outcomes: Array<BindOutcome> = links.map(() => tooMany)
      let open = links.length
      const tell = (place: number, outcome: BindOutcome) => {
        outcomes[place] = outcome
        if (--open === 0) answer(outcomes)
      }
      const here: Array<number> = []
      for (const [place, link] of links.entries()) {
        if (local.of(partitionOf(link.key)) !== undefined) here.push(place)
        else writerOf(link.key).submitThen(link, (outcome) => tell(place, outcome), span)
      }
      if (here.length === 0) return
      const known = here.map((place) => links[place]!)
      bindHere(known, (all) => all.forEach((outcome, index) => tell(here[index]!, outcome)), span)
    }
    return {
      bindThen,
      isAway: (key, now) => writerOf(key).isAway(now),
      gathering: () => gathering.next(monotonicNow_ms(clock))
    }
  })
