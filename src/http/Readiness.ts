import { Sharding } from "@effect/cluster"
import { Cause, Context, Duration, Effect, Layer } from "effect"
import * as AllAtOnce from "../AllAtOnce.ts"
import { KeyBuffer } from "../actors/KeyBuffer.ts"
import { KeyRange } from "../actors/KeyRange.ts"
import { PoolShard } from "../actors/PoolShard.ts"
import { KeyMinter } from "../KeyMinter.ts"
import { rangeCount } from "../KeyRanges.ts"
import { KeyPool } from "../storage/KeyPool.ts"
import { KeyRangeStore } from "../storage/KeyRangeStore.ts"
import * as Timeout from "../Timeout.ts"
import { type Answer, flatten } from "./Answer.ts"
import type { ReadyBody } from "./Api.ts"
import { Draining } from "./Draining.ts"

/** A check that takes longer has failed. */
const noAnswer = { duration: Duration.seconds(2), onTimeout: () => new Cause.TimeoutException() }

/**
 * Reports whether this node can create and redirect. It is not ready before it holds keys: the first check after a start has them leased, which fills
 * the pools, so that the first creates do not wait for that.
 */
export class Readiness extends Context.Tag("linkmint/Readiness")<
  Readiness,
  { readonly answer: Effect.Effect<Answer> }
>() {}

/** See {@link Readiness}. */
export const make = Effect.gen(function* () {
  const ranges = yield* KeyRangeStore
  const pool = yield* KeyPool
  const buffer = yield* KeyBuffer
  const minter = yield* KeyMinter
  const sharding = yield* Sharding.Sharding
  const draining = yield* Draining
  const shardOf = yield* PoolShard.client
  const rangeOf = yield* KeyRange.client

  const part = <A, E>(check: Effect.Effect<A, E>, detail: (result: A) => string) =>
    Timeout.within(check, noAnswer).pipe(
      Effect.map((result) => ({ ok: true, detail: detail(result) })),
      Effect.catchAllCause((cause) => Effect.as(Effect.logDebug("Not ready", cause), { ok: false }))
    )

  const depth = (shard: number) =>
    Timeout.within(shardOf(String(shard)).Status(), noAnswer).pipe(
      Effect.map(({ level }) => ({ shard, ok: true, depth: level })),
      Effect.catchAllCause(() => Effect.succeed({ shard, ok: false, depth: null }))
    )

  const report = Effect.gen(function* () {
    const [database, pools, keys, rangePart, isStopping] = yield* Effect.all(
      [
        part(ranges.watermarks, (marks) => `${marks.reduce((sum, { next }) => sum + next, 0)} keys minted`),
        AllAtOnce.forEach(
          Array.from({ length: pool.shards }, (_, shard) => shard),
          depth
        ),
        part(buffer.held, (held) => `${held} keys held`),
        part(rangeOf("0").Status(), () => `${rangeCount} ranges of ${minter.space.size} keys`),
        sharding.isShutdown
      ],
      { concurrency: "unbounded" }
    )
    const stopping = isStopping || draining.isDraining()
    const ok = database.ok && keys.ok && rangePart.ok && !stopping && pools.some((shard) => shard.ok)
    return {
      status: ok ? "ready" : "unready",
      database,
      pools,
      keys,
      runner: { ok: !stopping, detail: stopping ? "stopping" : "running" },
      ranges: rangePart
    } satisfies ReadyBody
  })

  const answer = Effect.map(report, (body): Answer => ({
    status: body.status === "ready" ? 200 : 503,
    headers: flatten({
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(body.status !== "ready" && { "retry-after": "1" })
    }),
    body: JSON.stringify(body)
  }))
  return Readiness.of({ answer })
})

/** See {@link Readiness}. */
export const layer = Layer.effect(Readiness, make)
