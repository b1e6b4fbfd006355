import { Entity } from "@effect/cluster"
import { Duration, Effect } from "effect"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import { concat, count, empty, fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { type BatchName, KeyPool, textOfName } from "../../storage/keys/KeyPool.ts"
import { drawId } from "../../model/RandomId.ts"
import { type BatchRecord, KeyStock, type PoolClaim } from "../../storage/keys/KeyStock.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { ShardOwnership } from "../../storage/keys/ShardOwnership.ts"
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

/** A recorded batch that is not pushed yet. */
interface Left {
  /** Its keys that an earlier record has, too. */
  readonly doubles: ReadonlySet<string>
  /** A key whose database did not say whether it is bound. */
  readonly waitsFor: string | undefined
  /** How many keys of it were free when it waited for room in the pool, or 0. */
  readonly keys: number
}

/**
 * The owner of one pool shard. The first message takes the claim (epoch), and any failure with
 * a batch drops it; the next message claims again and finishes the recorded batches. Those that have to wait are finished by refills, before
 * these take or mint other keys; nothing else works with them, as one refill is under way at a time, and none without a claim.
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
  /** The claim's recorded batches that are not pushed yet, by their names. */
  let left = new Map<string, Left>()

  const closeSettled = Effect.fnUntraced(function* (owner: PoolClaim) {
    const closing = settled
    yield* stock.close(owner, closing)
    settled = settled.filter((batch) => !closing.includes(batch))
  }, Traced.span("PoolShard.closeSettled"))

  const push = Effect.fnUntraced(function* (owner: PoolClaim, batch: Omit<BatchRecord, "shard">) {
    const pushed = yield* pool.push(owner, batch)
    settled = [...settled, ...pushed.settled]
    return pushed.level
  })

  /** Whether so many keys can be added. A batch of more than the high-water mark, as after that was lowered, goes into an empty pool. */
  const hasRoom = (level: number, keys: number) => level === 0 || level + keys <= marks.high

  const mayFinish = ({ keys, waitsFor }: Left, level: number) =>
    hasRoom(level, keys) && (waitsFor === undefined || places.isOpen(waitsFor))

  /** The keys of batches that their records still have. */
  const stillRecorded = (batches: ReadonlyArray<BatchRecord>) =>
    Effect.map(
      batches.length === 0 ? Effect.succeed([]) : stock.openBatches(shard),
      (open) => new Map(open.map((batch) => [textOfName(batch), new Set(toStrings(batch.keys))]))
    )

  /**
   * Pushes the batches that were left, those that it can, without keys that are bound by now or are in an earlier record. Gives the pool's level.
   *
   * A batch with keys of a database that does not answer stays left until that does: pushed as it is, it could fill the pool with bound keys, and
   * pushed in part, it would lose the rest, since the pool takes each batch once. The shard has its keys from other batches meanwhile.
   *
   * A key that is freed leaves its record with its row. So the records are read once more when it is known which keys have a row: one that was freed in between is in the stock.
   */
  const finishLeft = Effect.fnUntraced(function* (
    owner: PoolClaim,
    open: ReadonlyArray<BatchRecord>,
    levelBefore: number
  ) {
    const silent = new Set<number>()
    const ready: Array<{ readonly batch: BatchRecord; readonly free: ReadonlyArray<string> }> = []
    let level = levelBefore
    for (const batch of open) {
      const name = textOfName(batch)
      const one = left.get(name)
      if (one === undefined || !mayFinish(one, level)) continue
      const recorded = toStrings(batch.keys)
      const leave = (keys: number, waitsFor?: string) => left.set(name, { ...one, keys, waitsFor })
      // One that does not answer is not waited for with each batch.
      const unasked = recorded.find((key) => silent.has(places.laneOf(key)))
      if (unasked !== undefined) {
        leave(0, unasked)
        continue
      }
      const { taken, unknown } = yield* BoundKeys.ask(links, places, recorded)
      const [unanswered] = unknown
      if (unanswered !== undefined) {
        unknown.forEach((key) => silent.add(places.laneOf(key)))
        leave(0, unanswered)
        continue
      }
      const free = recorded.filter((key) => !taken.has(key) && !one.doubles.has(key))
      if (!hasRoom(level, free.length)) {
        leave(free.length)
        continue
      }
      ready.push({ batch, free })
      level += free.length
    }
    const recorded = yield* stillRecorded(ready.map(({ batch }) => batch))
    for (const { batch, free } of ready) {
      const name = textOfName(batch)
      const keys = free.filter((key) => recorded.get(name)?.has(key) === true)
      level = yield* push(owner, { ...batch, keys: fromStrings(keys) })
      left.delete(name)
    }
    // The next refill may be far.
    if (settled.length > 0) yield* closeSettled(owner)
    return level
  }, Traced.span("PoolShard.finishLeft"))

  /**
   * Finishes the recorded batches of former owners. Those that the pool has taken are closed, whatever their databases say: an id that
   * was left open could be one that the pool forgets.
   */
  const finishRecorded = Effect.fnUntraced(function* (owner: PoolClaim) {
    const open = yield* stock.openBatches(shard)
    if (open.length === 0) return
    const known = new Set(yield* pool.known(shard, open))
    const earlier = new Set<string>()
    for (const batch of open) {
      const recorded = toStrings(batch.keys)
      const doubles = new Set(recorded.filter((key) => earlier.has(key)))
      recorded.forEach((key) => earlier.add(key))
      if (known.has(batch)) yield* push(owner, { ...batch, keys: empty })
      else left.set(textOfName(batch), { doubles, keys: 0, waitsFor: undefined })
    }
    yield* finishLeft(owner, open, yield* pool.level(shard))
    const waiting = Array.from(left.values()).filter(({ waitsFor }) => waitsFor !== undefined).length
    if (waiting > 0)
      yield* Effect.logWarning(
        `${waiting} records of pool shard ${shard} wait for a database of links that does not answer`
      )
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
      left = new Map()
      yield* finishRecorded(fresh)
      claim = fresh
      return fresh
    })
  )
  const claimed = Effect.suspend(() => (claim === undefined ? claimOnce : Effect.succeed(claim)))

  /**
   * Finishes what was left, where it can be now, and gives the pool's level; `undefined` where a batch that could be finished
   * waits until the pool has room: on top of others, its keys would be more than a pool may lose.
   */
  const refillFromLeft = Effect.fnUntraced(function* (owner: PoolClaim) {
    let level = yield* pool.level(shard)
    if (Array.from(left.values()).some((one) => mayFinish(one, level))) {
      const open = yield* stock.openBatches(shard)
      const names = new Set(open.map(textOfName))
      for (const name of left.keys()) if (!names.has(name)) left.delete(name)
      level = yield* finishLeft(owner, open, level)
    }
    const waitsForRoom = Array.from(left.values()).some((one) => !hasRoom(level, one.keys))
    return waitsForRoom ? undefined : level
  })

  /** Keys of batches that were left first, then stocked keys, minted ones for the rest; recorded before they are pushed. */
  const refillOnce = Effect.gen(function* () {
    const owner = yield* claimed
    const level = left.size === 0 ? yield* pool.level(shard) : yield* refillFromLeft(owner)
    if (level === undefined || level >= marks.high) return
    const wanted = marks.high - level
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
    yield* push(owner, { ...batch, keys: concat(stocked, minted) })
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
