import { Sharding } from "@effect/cluster"
import { Cause, Duration, Effect, Runtime } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import { KeyRange } from "../../actors/keys/KeyRange.ts"
import { PoolShard } from "../../actors/keys/PoolShard.ts"
import { partitionCount, UrlMapping } from "../../actors/links/UrlMapping.ts"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { KeyRangeStore } from "../../storage/keys/KeyRangeStore.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { type Answer, flatten, json } from "../exchange/Answer.ts"
import * as StrictHeaders from "../exchange/StrictHeaders.ts"
import type { ReadyBody } from "../contract/Api.ts"
import { Draining } from "./Draining.ts"

/** What has not answered a check within this time is silent. */
const answerMax = Duration.seconds(2)

/** How long the answers of this node's own parts are believed, and those of owners, in milliseconds: longer than a load balancer waits between two checks, and than most checks take under load. */
const believedFor_ms = { here: 2_000, owners: 4_000 }

/** After how long owners are asked again, in milliseconds: messages to them are most of a check's cost. */
const askOwnersAgainAfter_ms = 2_000

/** What a part of the service says of itself where it is well. */
interface Good {
  readonly detail?: string
  readonly depth?: number
}

/** The last answer of one part of the service. */
class Part {
  readonly #believedFor_ms: number
  #answer: { readonly ok: boolean } & Good = { ok: false }
  #answered_ms = Number.NEGATIVE_INFINITY

  constructor(believedFor_ms: number) {
    this.#believedFor_ms = believedFor_ms
  }

  answered(answer: Good | "failed", now_ms: number) {
    this.#answer = answer === "failed" ? { ok: false } : { ok: true, ...answer }
    this.#answered_ms = now_ms
  }

  /** What it answered, while that is believed. */
  at(now_ms: number): { readonly ok: boolean } & Good {
    return now_ms - this.#answered_ms < this.#believedFor_ms ? this.#answer : { ok: false }
  }

  /** Whether its last answer was good, and is at most so old. */
  isWellSince(time_ms: number): boolean {
    return this.#answer.ok && this.#answered_ms > time_ms
  }
}

/**
 * Reports whether this node runs, and whether it can create and redirect. A node that is ready says so at once, by what its last check found, and checks again meanwhile: an answer that waited for
 * the database behind all other requests would come too late for a load balancer under load, which would then take out one node after the other. What a part answered counts for
 * {@link believedFor_ms}; where it failed, at once. A node that is not ready waits for a check before it says so again, unless the last one had to end without some answer.
 *
 * A node is not ready before it holds keys: the first check after a start leases them, so that the first creates need not wait. Nor is it ready before the owner of each partition has answered
 * once: actors move to new nodes, and meanwhile a create would find no owner to bind its link.
 */
export const make = Effect.gen(function* () {
  const ranges = yield* KeyRangeStore
  const pool = yield* KeyPool
  const buffer = yield* KeyBuffer
  const minter = yield* KeyMinter
  const sharding = yield* Sharding.Sharding
  const draining = yield* Draining
  const shardOf = yield* PoolShard.client
  const rangeOf = yield* KeyRange.client
  const partitionOf = yield* UrlMapping.client
  const clock = yield* Effect.clock
  const runtime = yield* Effect.runtime()
  /** Partitions whose owner has not answered yet. */
  const unheard = new Set(Array.from({ length: partitionCount }, (_, partition) => partition))
  const here = { database: new Part(believedFor_ms.here), keys: new Part(believedFor_ms.here) }
  const range = new Part(believedFor_ms.owners)
  const pools = Array.from({ length: pool.shards }, () => new Part(believedFor_ms.owners))
  /** Whether the last check ended although something had not answered. */
  let wasSilent = false

  /** Records what a part answers. One that is silent stays as it was. */
  const asking = (part: Part, question: Effect.Effect<Good, unknown>) =>
    Effect.matchCauseEffect(question, {
      onSuccess: (answer) => Effect.sync(() => part.answered(answer, monotonicNow_ms(clock))),
      onFailure: (cause) => {
        if (!Cause.isInterruptedOnly(cause)) part.answered("failed", monotonicNow_ms(clock))
        return Effect.logDebug("Not ready", cause)
      }
    })

  const checksHere = [
    asking(
      here.database,
      Effect.map(ranges.watermarks, (marks) => ({
        detail: `${marks.reduce((sum, { next }) => sum + next, 0)} keys minted`
      }))
    ),
    asking(
      here.keys,
      Effect.map(buffer.held, (held) => ({ detail: `${held} keys held` }))
    )
  ]

  const questions = [
    asking(
      range,
      Effect.map(rangeOf("0").Status(), () => ({
        detail: `${minter.ranges} ranges of ${minter.space.size} keys`
      }))
    ),
    ...pools.map((part, shard) =>
      asking(
        part,
        Effect.map(shardOf(String(shard)).Status(), ({ level }) => ({ depth: level }))
      )
    )
  ]

  const partitions = Effect.suspend(() =>
    Parallel.forEach([...unheard], (partition) =>
      Effect.catchAllCause(
        Effect.map(
          partitionOf(String(partition)).ResolveMany({ keys: [] }),
          () => void unheard.delete(partition)
        ),
        (cause) => Effect.logDebug("Not ready", cause)
      )
    )
  )

  const check = Effect.suspend(() => {
    const askedAfter_ms = monotonicNow_ms(clock) - askOwnersAgainAfter_ms
    const areOwnersKnown = [range, ...pools].every((part) => part.isWellSince(askedAfter_ms))
    const checks: ReadonlyArray<Effect.Effect<unknown>> = [
      ...checksHere,
      ...(areOwnersKnown ? [] : questions),
      ...(unheard.size > 0 ? [partitions] : [])
    ]
    return Timeout.within(
      Effect.as(
        Parallel.forEach(checks, (one) => one),
        false
      ),
      {
        duration: answerMax,
        onTimeout: () => Effect.succeed(true)
      }
    )
  }).pipe(
    Effect.map((isSilent) => {
      wasSilent = isSilent
    }),
    // No request's, and each would be a trace of its own.
    Effect.withTracerEnabled(false)
  )
  const checking = yield* SingleFlight.make(check)

  const runnerIs = (stopping: boolean) => {
    if (stopping) return "stopping"
    return unheard.size === 0 ? "running" : `waits for the owners of ${unheard.size} partitions`
  }

  const isStopping = () => draining.isDraining() || Effect.runSync(sharding.isShutdown)

  /** What is known. */
  const report = (): ReadyBody => {
    const now_ms = monotonicNow_ms(clock)
    const stopping = isStopping()
    const parts = {
      database: here.database.at(now_ms),
      pools: pools.map((part, shard) => {
        const { depth = null, ok } = part.at(now_ms)
        return { shard, ok, depth }
      }),
      keys: here.keys.at(now_ms),
      runner: { ok: !stopping && unheard.size === 0, detail: runnerIs(stopping) },
      ranges: range.at(now_ms)
    }
    const { database, keys, ranges, runner } = parts
    const ok = database.ok && keys.ok && ranges.ok && runner.ok && parts.pools.some((shard) => shard.ok)
    return { status: ok ? "ready" : "unready", ...parts }
  }

  const answerOf = (body: ReadyBody): Answer<string> => ({
    status: body.status === "ready" ? 200 : 503,
    headers: flatten({
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(body.status !== "ready" && { "retry-after": "1" })
    }),
    body: JSON.stringify(body)
  })

  return {
    live: () => Effect.sync(() => json({ status: "live" })),
    ready: {
      answerNow: (request, _, idOf) => {
        const stopping = isStopping()
        if (!stopping) Runtime.runFork(runtime, checking.start)
        const body = report()
        if (body.status === "unready" && !stopping && !wasSilent) return undefined
        const answer = answerOf(body)
        answer.headers.push("content-length", String(Buffer.byteLength(answer.body)))
        StrictHeaders.complete(answer)
        answer.headers.push("x-request-id", idOf(request.headers))
        return answer
      },
      answer: () => Effect.map(checking.join, () => answerOf(report()))
    }
  } satisfies OperationsOf<"health">
})
