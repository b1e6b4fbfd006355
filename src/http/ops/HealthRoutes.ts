import { Sharding } from "@effect/cluster"
import { Duration, Effect } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
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
import type { ReadyBody } from "../contract/Api.ts"
import { Draining } from "./Draining.ts"

/** A check that takes longer has failed. */
const noAnswer = { duration: Duration.seconds(2), onTimeout: () => Effect.void }

/** How long owners' answers are reused, in milliseconds: a load balancer checks each node twice a second, and messages to owners are most of a check's cost. */
const believedFor_ms = 2_000

/** What the checks of this node have found so far. */
type FoundHere = { -readonly [Part in "database" | "keys"]: ReadyBody[Part] }

/** What the owners of pool shards and of a range have answered so far. */
interface Heard {
  ranges: ReadyBody["ranges"]
  readonly pools: Array<ReadyBody["pools"][number]>
}

const ignoreCause = (check: Effect.Effect<unknown, unknown>) =>
  Effect.catchAllCause(check, (cause) => Effect.logDebug("Not ready", cause))

/**
 * Reports whether this node runs, and whether it can create and redirect: its database and its keys as they are now, the owners of pool shards and of a range as they were at most 2 s
 * ago. A node is not ready before it holds keys: the first check after a start leases them, so that the first creates need not wait. Nor is it ready before the owner of each
 * partition has answered once: actors move to new nodes, and meanwhile a create would find no owner to bind its link.
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
  /** Partitions whose owner has not answered yet. */
  const unheard = new Set(Array.from({ length: partitionCount }, (_, partition) => partition))
  /** The owners' last answers, if all were good. */
  let believed: { readonly heard: Heard; readonly until_ms: number } | undefined

  const checksHere = (found: FoundHere): ReadonlyArray<Effect.Effect<void, unknown>> => [
    Effect.map(ranges.watermarks, (marks) => {
      const minted = marks.reduce((sum, { next }) => sum + next, 0)
      found.database = { ok: true, detail: `${minted} keys minted` }
    }),
    Effect.map(buffer.held, (held) => {
      found.keys = { ok: true, detail: `${held} keys held` }
    })
  ]

  const questions = (heard: Heard): ReadonlyArray<Effect.Effect<void, unknown>> => [
    Effect.map(rangeOf("0").Status(), () => {
      heard.ranges = { ok: true, detail: `${minter.ranges} ranges of ${minter.space.size} keys` }
    }),
    ...heard.pools.map(({ shard }) =>
      Effect.map(shardOf(String(shard)).Status(), ({ level }) => {
        heard.pools[shard] = { shard, ok: true, depth: level }
      })
    )
  ]

  const runnerIs = (stopping: boolean) => {
    if (stopping) return "stopping"
    return unheard.size === 0 ? "running" : `waits for the owners of ${unheard.size} partitions`
  }

  const partitions = Effect.suspend(() =>
    Parallel.forEach([...unheard], (partition) =>
      ignoreCause(
        Effect.map(
          partitionOf(String(partition)).ResolveMany({ keys: [] }),
          () => void unheard.delete(partition)
        )
      )
    )
  )

  /** Each check records what it finds. The state of a check that fails, or does not end within the common time, stays as it was. */
  const report = Effect.gen(function* () {
    const now_ms = monotonicNow_ms(clock)
    const known = believed !== undefined && now_ms < believed.until_ms ? believed.heard : undefined
    const here: FoundHere = { database: { ok: false }, keys: { ok: false } }
    const heard: Heard = known ?? {
      pools: Array.from({ length: pool.shards }, (_, shard) => ({ shard, ok: false, depth: null })),
      ranges: { ok: false }
    }
    const checks: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
      ...checksHere(here),
      ...(known === undefined ? questions(heard) : []),
      ...(unheard.size > 0 ? [partitions] : [])
    ]
    yield* Timeout.within(Parallel.forEach(checks, ignoreCause), noAnswer)
    const isAllWell = heard.ranges.ok && heard.pools.every(({ ok }) => ok)
    if (known === undefined) believed = isAllWell ? { heard, until_ms: now_ms + believedFor_ms } : undefined
    const stopping = (yield* sharding.isShutdown) || draining.isDraining()
    const { database, keys } = here
    const { pools, ranges: range } = heard
    const runner = { ok: !stopping && unheard.size === 0, detail: runnerIs(stopping) }
    const ok = database.ok && keys.ok && range.ok && runner.ok && pools.some((shard) => shard.ok)
    return {
      status: ok ? "ready" : "unready",
      database,
      pools,
      keys,
      runner,
      ranges: range
    } satisfies ReadyBody
  })

  const ready = Effect.map(report, (body): Answer => ({
    status: body.status === "ready" ? 200 : 503,
    headers: flatten({
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(body.status !== "ready" && { "retry-after": "1" })
    }),
    body: JSON.stringify(body)
  }))
  return {
    live: () => Effect.sync(() => json({ status: "live" })),
    ready: () => ready
  } satisfies OperationsOf<"health">
})
