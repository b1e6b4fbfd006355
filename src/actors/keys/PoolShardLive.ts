import { Entity } from "@effect/cluster"
import { Duration, Effect } from "effect"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { concat, count, empty, fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { type BatchName, KeyPool } from "../../storage/keys/KeyPool.ts"
import { drawId } from "../../model/RandomId.ts"
import { type BatchRecord, KeyStock, type PoolClaim } from "../../storage/keys/KeyStock.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { ShardOwnership } from "../../storage/keys/ShardOwnership.ts"
import * as Pulse from "../../time/Pulse.ts"
import * as BoundKeys from "./BoundKeys.ts"
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

/** How often it looks whether records can be finished that were left. */
const finishEvery = Duration.seconds(1)

const nameOf = ({ epoch, sequence }: BatchName) => `${epoch}/${sequence}`

/**
 * The owner of one pool shard. The first message takes the claim (epoch), and any failure with
 * a batch drops it; the next message claims again and finishes the recorded batches, those that it can.
 */
const makeOwner = Effect.fnUntraced(function* (shard: number, marks: PoolMarks) {
  const { shardId } = yield* Entity.CurrentAddress
  const ownership = yield* ShardOwnership
  const stock = yield* KeyStock
  const pool = yield* KeyPool
  const links = yield* LinkStore
  const places = yield* LinkPlaces
  const mint = yield* KeyMinting.make
  const claiming = FairSemaphore.make(1)
  let claim: PoolClaim | undefined
  /** The greatest epoch that the pool is known to have seen: the database may have forgotten some. */
  let seen = 0
  let sequence = 0
  let settled: ReadonlyArray<BatchName> = []
  /** Batches whose records are not finished, by their names, and a key of each whose database did not say whether it is bound. */
  const left = new Map<string, string>()
  /** The first batch that has each recorded key. */
  const firstOf = new Map<string, string>()

  /**
   * Pushes recorded batches again. If the pool knows the batch, this does nothing. If it does not, the pool is new
   * or the push was lost: then keys that were bound since, or are in two records, are left out.
   *
   * A batch with keys of a database that does not answer is left until that does: pushed as it is, it could fill the pool with bound keys, and
   * pushed in part, it would lose the rest, since the pool takes each batch once. The shard has its keys from other batches meanwhile.
   */
  const finishRecorded = Effect.fnUntraced(function* (
    claimed: PoolClaim,
    batches: ReadonlyArray<BatchRecord>
  ) {
    const silent = new Set<number>()
    for (const batch of batches) {
      const name = nameOf(batch)
      const recorded = toStrings(batch.keys)
      for (const key of recorded) if (!firstOf.has(key)) firstOf.set(key, name)
      // One that does not answer is not waited for with each batch.
      const unasked = recorded.find((key) => silent.has(places.laneOf(key)))
      if (unasked !== undefined) {
        left.set(name, unasked)
        continue
      }
      const { taken, unknown } = yield* BoundKeys.ask(links, places, recorded)
      const [unanswered] = unknown
      if (unanswered !== undefined) {
        unknown.forEach((key) => silent.add(places.laneOf(key)))
        left.set(name, unanswered)
        continue
      }
      const free = recorded.filter((key) => !taken.has(key) && firstOf.get(key) === name)
      const pushed = yield* pool.push(claimed, { ...batch, keys: fromStrings(free) })
      settled = [...settled, ...pushed.settled]
      left.delete(name)
    }
    if (left.size === 0) firstOf.clear()
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
      left.clear()
      firstOf.clear()
      yield* finishRecorded(fresh, yield* stock.openBatches(shard))
      // The next refill may be far, and records that former owners left have been open for long.
      if (settled.length > 0) yield* closeSettled(fresh)
      if (left.size > 0)
        yield* Effect.logWarning(
          `${left.size} records of pool shard ${shard} wait for a database of links that does not answer`
        )
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

  /**
   * Finishes the records that were left, when their databases may answer. Refills go on meanwhile: their batches are others. Where it fails, they are left, and where it is
   * interrupted, they are open.
   */
  const finishLeft = Effect.gen(function* () {
    const owner = claim
    if (owner === undefined || left.size === 0 || !Array.from(left.values()).every(places.isOpen)) return
    const open = (yield* stock.openBatches(shard)).filter((batch) => left.has(nameOf(batch)))
    const names = new Set(open.map(nameOf))
    for (const name of left.keys()) if (!names.has(name)) left.delete(name)
    yield* finishRecorded(owner, open)
    yield* closeSettled(owner)
  }).pipe(
    Effect.mapError(fromFailure),
    Effect.catchAll(({ reason }) =>
      Effect.logWarning(`Records of pool shard ${shard} are finished later: ${reason}`)
    )
  )
  yield* Effect.forkScoped(Pulse.forever(finishLeft, finishEvery))

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
