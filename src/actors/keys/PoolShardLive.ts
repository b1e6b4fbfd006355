import { Entity } from "@effect/cluster"
import { Duration, Effect } from "effect"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { concat, count, empty, fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { type BatchName, KeyPool } from "../../storage/keys/KeyPool.ts"
import { drawId } from "../../model/RandomId.ts"
import { KeyStock, type PoolClaim } from "../../storage/keys/KeyStock.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { ShardOwnership } from "../../storage/keys/ShardOwnership.ts"
import * as KeyMinting from "./KeyMinting.ts"
import { PoolShard } from "./PoolShard.ts"
import { disableFatalDefects, fromFailure, Unavailable } from "../Unavailable.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as Traced from "../../telemetry/Traced.ts"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import * as ActorMetrics from "../ActorMetrics.ts"
import * as KeyMetrics from "./KeyMetrics.ts"

/** The marks between which a shard's level is held, in keys. 0 < low < high ≤ 65,536. */
export interface PoolMarks {
  readonly low: number
  readonly high: number
}

/** How long an actor waits for its refill when it stops; nobody can use its shard meanwhile. */
const refillEndMax = Duration.seconds(2)

/** Refills that one lease waits for at most. */
const leaseTurnsMax = 16

/**
 * The owner of one pool shard. The first message takes the claim (epoch), and any failure with
 * a batch drops it; the next message claims again and finishes the recorded batches.
 */
const makeOwner = Effect.fnUntraced(function* (shard: number, marks: PoolMarks) {
  const { shardId } = yield* Entity.CurrentAddress
  const ownership = yield* ShardOwnership
  const stock = yield* KeyStock
  const pool = yield* KeyPool
  const links = yield* LinkStore
  const mint = yield* KeyMinting.make
  const claiming = FairSemaphore.make(1)
  let claim: PoolClaim | undefined
  /** The greatest epoch that the pool is known to have seen: the database may have forgotten some. */
  let seen = 0
  let sequence = 0
  let settled: ReadonlyArray<BatchName> = []

  /**
   * Pushes every recorded batch again. If the pool knows the batch, this does nothing. If it does not, the pool is new
   * or the push was lost: then keys that were bound since, or are in two records, are left out.
   */
  const finishRecorded = Effect.fnUntraced(function* (claimed: PoolClaim) {
    const seen = new Set<string>()
    for (const batch of yield* stock.openBatches(shard)) {
      const recorded = toStrings(batch.keys)
      const bound = yield* links.takenAmong(recorded)
      const free = recorded.filter((key) => !bound.has(key) && !seen.has(key))
      free.forEach((key) => seen.add(key))
      const pushed = yield* pool.push(claimed, { ...batch, keys: fromStrings(free) })
      settled = [...settled, ...pushed.settled]
    }
  }, Traced.span("PoolShard.finishRecorded"))

  const claimOnce = claiming(
    Effect.gen(function* () {
      if (claim !== undefined) return claim
      // A claim by a node that has lost the shard would fence off the rightful owner.
      if (!(yield* ownership.holds(shardId.id))) {
        return yield* new Unavailable({
          reason: "this node does not own the pool shard",
          applied: "no",
          away: true
        })
      }
      const fresh = yield* stock.claim(shard, seen)
      yield* Effect.tapErrorTag(pool.claim(fresh), "Fenced", ({ newest = 0 }) =>
        Effect.sync(() => {
          seen = Math.max(seen, newest)
        })
      )
      sequence = 0
      settled = []
      yield* finishRecorded(fresh)
      claim = fresh
      return fresh
    })
  )
  const claimed = Effect.suspend(() => (claim === undefined ? claimOnce : Effect.succeed(claim)))

  const closeSettled = Effect.fnUntraced(function* (owner: PoolClaim) {
    const closing = settled
    yield* stock.close(owner, closing)
    settled = settled.filter((batch) => !closing.includes(batch))
  }, Traced.span("PoolShard.closeSettled"))

  /** Stocked keys first, minted ones for the rest; recorded before they are pushed. */
  const refillOnce = Effect.gen(function* () {
    const owner = yield* claimed
    const wanted = marks.high - (yield* pool.level(shard))
    if (wanted <= 0) return
    const batch = { ...owner, sequence: sequence++ }
    const stocked = yield* stock.take(batch, wanted)
    const missing = wanted - count(stocked)
    const start = shard + batch.sequence
    const minted =
      missing > 0
        ? yield* mint(start, missing).pipe(
            Effect.catchAll((error) => (count(stocked) > 0 ? Effect.succeed(empty) : error))
          )
        : empty
    if (count(minted) > 0) yield* stock.record(batch, minted)
    const pushed = yield* pool.push(owner, { ...batch, keys: concat(stocked, minted) })
    settled = [...settled, ...pushed.settled]
    Metered.add(KeyMetrics.refilled.stocked, count(stocked))
    Metered.add(KeyMetrics.refilled.minted, count(minted))
    yield* closeSettled(owner)
  }).pipe(
    Effect.tapErrorCause(() =>
      Effect.sync(() => {
        claim = undefined
      })
    ),
    // An owner that was fenced, though its node still holds the shard, claims again: once, since two owners could fence each other for ever.
    Effect.retry({ times: 1, while: (error) => error._tag === "Fenced" }),
    Effect.mapError(fromFailure)
  )

  // It outlasts the actor: interrupting it would lose minted keys.
  const refill = yield* SingleFlight.makeOutlasting(
    Effect.tapError(refillOnce, (error) => {
      Metered.add(KeyMetrics.refillsFailed)
      return Effect.logWarning(`Pool shard ${shard} was not refilled: ${error.reason}`)
    }),
    refillEndMax
  )

  const refillWhereLow = (level: number) => (level < marks.low ? refill.start : Effect.void)

  /** What follows when keys were taken for a lease, which must not fail then: that would lose them. */
  const afterTaking = (keys: PackedKeys) =>
    pool.level(shard).pipe(
      Effect.orElseSucceed(() => 0),
      Effect.tap(refillWhereLow),
      Effect.map((level) => ({ keys, level }))
    )

  /** Keys that were taken when nobody waits for them any more. */
  const putBack = (keys: PackedKeys) =>
    Effect.ignore(Effect.flatMap(drawId, (id) => pool.giveBack(shard, id, keys)))

  /**
   * Takes up to `wanted` keys. A pool that is asked answers within its bound, so that this is waited for: what it gives would come to nobody. Whoever has given up its lease
   * by then, or an owner that stops, leaves the keys in the pool.
   */
  const take = (wanted: number) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.mapError(pool.lease(shard, wanted), fromFailure), (keys) =>
        count(keys) === 0
          ? Effect.succeed({ keys, level: 0 })
          : Effect.onInterrupt(restore(afterTaking(keys)), () => putBack(keys))
      )
    )

  const lease = Effect.fnUntraced(function* (wanted: number) {
    yield* Effect.mapError(claimed, fromFailure)
    let taken = yield* take(wanted)
    // More leases may have waited for the refill than it brought keys for.
    for (let turn = 0; count(taken.keys) === 0 && turn < leaseTurnsMax; turn++) {
      yield* refill.join
      taken = yield* take(wanted)
    }
    if (count(taken.keys) === 0)
      return yield* new Unavailable({ reason: "pool shard is empty", applied: "no" })
    Metered.add(KeyMetrics.leased, count(taken.keys))
    return taken
  }, Traced.span("PoolShard.lease"))

  const status = Effect.gen(function* () {
    const { epoch } = yield* claimed
    const level = yield* pool.level(shard)
    yield* refillWhereLow(level)
    return { level, ...marks, epoch }
  })

  const giveBack = (id: number, keys: PackedKeys) =>
    Effect.map(pool.giveBack(shard, id, keys), () => Metered.add(KeyMetrics.returned, count(keys)))

  return { lease, status, giveBack }
}, Traced.span("PoolShard.makeOwner"))

/** The behaviour of `PoolShard` with the given marks. */
export const PoolShardLive = (marks: PoolMarks) =>
  PoolShard.toLayer(
    Effect.gen(function* () {
      const shard = Number((yield* Entity.CurrentAddress).entityId)
      const owner = yield* makeOwner(shard, marks)
      return ActorMetrics.watch(
        "PoolShard",
        PoolShard.of({
          Lease: ({ payload }) => owner.lease(payload.count),
          Return: ({ payload }) =>
            Effect.mapError(owner.giveBack(payload.returnId, payload.keys), fromFailure),
          Status: () => Effect.mapError(owner.status, fromFailure)
        })
      )
    }),
    {
      // Leases wait together for one refill.
      concurrency: "unbounded",
      mailboxCapacity: 1_024,
      disableFatalDefects,
      // An idle actor that stopped would only have to claim its shard again.
      maxIdleTime: Duration.infinity
    }
  )
