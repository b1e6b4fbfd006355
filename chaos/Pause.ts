// A node that stands still for longer than its locks last, and goes on as if it still had them.

import { Effect, Random } from "effect"
import { readFileSync } from "node:fs"
import { fromStrings } from "../src/keys/PackedKeys.ts"
import * as KeyPoolRedis from "../src/storage/keys/KeyPoolRedis.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import * as Client from "./Client.ts"
import { creating, judgeCreate } from "./Load.ts"
import { epochOf, inPool, namespaceOf, ownerOf } from "./Stores.ts"
import { bufferCapacity, type Node, poolHigh } from "./Topology.ts"
import type { World } from "./World.ts"

/** A pause lasts so long, or until another node has claimed. Locks last 6 s. */
const pause_ms = 8_000

/** Enough creates that the node's buffer wants a lease, all at once. */
const creates = bufferCapacity - 8

const refusals = ({ log }: Node, poolShard: number): number =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter(
      (line) =>
        line.startsWith("{") &&
        line.includes(`Pool shard ${poolShard} was not refilled: another owner has claimed`)
    ).length

/** Waits until an epoch is newer, for as long as that may take; gives how long it took. */
const awaitNewer = (
  epoch: Effect.Effect<number, Unavailable>,
  before: number,
  { limits: { takeover_ms } }: World
) =>
  Effect.gen(function* () {
    const start = performance.now()
    while (performance.now() - start < takeover_ms) {
      if ((yield* Effect.orElseSucceed(epoch, () => before)) > before) {
        return Math.round(performance.now() - start)
      }
      yield* Effect.sleep("100 millis")
    }
    return null
  })

/** Sends creates past the load balancer, which wait for the node until it goes on. */
const createsAt = (world: World, node: Node): Promise<unknown> =>
  Promise.all(
    Array.from({ length: creates }, async (_, index) => {
      const client = Client.make(node.port)
      const requestId = `chaos-pause-${world.harm.pauses}-${index}`
      const url = `https://example.com/${requestId}`
      const answer = await client.ask(creating(world.topology, requestId, url))
      judgeCreate(world.observed, world.acknowledged, answer, url)
      client.close()
    })
  )

/** What a former owner would push: Redis must refuse it. */
const pushStale = (
  world: World,
  namespace: string,
  claim: { readonly shard: number; readonly epoch: number }
) =>
  Effect.gen(function* () {
    const { epoch } = KeyPoolRedis.namesOf(namespace, claim.shard)
    const inRedis = inPool(world.topology.poolUrls[claim.shard]!, (redis) => redis.get(epoch))
    // A claim comes to Redis after the database: until then it has to take what the former owner pushes.
    if ((yield* awaitNewer(Effect.map(inRedis, Number), claim.epoch, world)) === null) {
      return world.observed.violate(
        "takeover",
        `Redis does not know of the new claim of pool shard ${claim.shard} within ${world.limits.takeover_ms} ms`
      )
    }
    const pool = yield* KeyPoolRedis.make({ urls: world.topology.poolUrls, namespace })
    const pushed = yield* Effect.either(
      pool.push(claim, { epoch: claim.epoch, sequence: 999_999, keys: fromStrings(["!stale!"]) })
    )
    if (pushed._tag === "Right" || pushed.left._tag !== "Fenced") {
      const what = pushed._tag === "Right" ? "was taken" : `failed with ${String(pushed.left)}`
      world.observed.violate(
        "fencing",
        `a push to pool shard ${claim.shard} by its former epoch ${claim.epoch} ${what}`
      )
    }
  }).pipe(Effect.scoped)

/**
 * Pauses the owner of a pool shard until another has it. Then it takes the keys out of the pool for a moment and lets the former
 * owner go on with creates waiting at its door, so that it leases, finds the pool empty, and tries to refill it.
 */
export const pause = Effect.fn("Pause.pause")(function* (world: World) {
  const { harm, notify, takeovers, topology } = world
  const poolShard = yield* Random.nextIntBetween(0, topology.poolUrls.length)
  const namespace = yield* namespaceOf(topology)
  const { list } = KeyPoolRedis.namesOf(namespace, poolShard)
  const url = topology.poolUrls[poolShard]!
  const owner = yield* ownerOf(topology, poolShard)
  if (owner === null) return yield* new Unavailable({ reason: `Nobody owns pool shard ${poolShard}` })
  const before = yield* epochOf(topology, poolShard)
  const refusedBefore = refusals(owner, poolShard)

  harm.pauses++
  yield* owner.signal("SIGSTOP")
  const since = performance.now()
  const takeover_ms = yield* awaitNewer(epochOf(topology, poolShard), before, world)
  yield* Effect.sleep(Math.max(0, pause_ms - (performance.now() - since)))
  if (takeover_ms === null) {
    world.observed.violate(
      "takeover",
      `nobody claimed pool shard ${poolShard} of ${owner.name} within ${world.limits.takeover_ms} ms`
    )
  } else {
    yield* pushStale(world, namespace, { shard: poolShard, epoch: before })
  }

  const waiting = createsAt(world, owner)
  yield* Effect.sleep("200 millis")
  const held = yield* inPool(url, (redis) => redis.lpop(list, 2 * poolHigh))
  yield* owner.signal("SIGCONT")
  const over = performance.now()
  const mend = Effect.gen(function* () {
    yield* Effect.promise(() => waiting)
    if (held !== null) yield* inPool(url, (redis) => redis.rpush(list, ...held))
    const refused = refusals(owner, poolShard) - refusedBefore
    takeovers.push({ poolShard, takeover_ms, refused })
    const epoch = yield* epochOf(topology, poolShard)
    yield* notify(
      `pool shard ${poolShard}: claimed by another ${takeover_ms} ms after ${owner.name} paused (epoch ${before}, now ${epoch}); ${refused} refills of the former owner refused`
    )
  })
  return { target: owner.name, over, mend }
})
