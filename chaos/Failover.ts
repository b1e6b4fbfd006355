// A failover by the Sentinels.

import { Effect, Either, Schedule } from "effect"
import * as RedisUrl from "../src/storage/redis/RedisUrl.ts"
import * as Redis from "../cluster/Redis.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import { inPool } from "./Stores.ts"
import { type Topology, watchedPool } from "./Topology.ts"
import type { World } from "./World.ts"

const urlAt = (port: number) =>
  Either.getOrThrowWith(RedisUrl.parse(Redis.urlOf(port)), (fault) => new Error(fault))

/** The port of the primary, as the first Sentinel has it. */
const primaryPort = ({ sentinelPorts }: Topology): Effect.Effect<number, Unavailable> =>
  inPool(urlAt(sentinelPorts[0]!), (redis) =>
    redis
      .call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", watchedPool)
      .then((reply) => Number((reply as Array<string>)[1]))
  )

/** Polls every 100 ms, 20 s at most. */
const until = (what: string, check: Effect.Effect<boolean, Unavailable>) =>
  check.pipe(
    Effect.orElseSucceed(() => false),
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (is) => is }),
    Effect.timeoutFail({
      duration: "20 seconds",
      onTimeout: () => new Unavailable({ reason: `${what} did not come to pass within 20 s` })
    })
  )

/** The server at a port is a replica that has all its primary had to give. */
const isReplica = (port: number) =>
  Effect.map(
    inPool(urlAt(port), (redis) => redis.info("replication")),
    (info) => info.includes("role:slave") && info.includes("master_link_status:up")
  )

/** Kills the primary; the old one comes back when another is in its place, and becomes its replica some 10 s later. */
export const failover = Effect.fn("Failover.failover")(function* (world: World) {
  const { harm, topology } = world
  const before = yield* primaryPort(topology)
  const primary = topology.pair.find(({ port }) => port === before)!
  const replica = topology.pair.find(({ port }) => port !== before)!
  yield* until("A replica in sync", isReplica(replica.port))
  harm.failovers++
  harm.redisKills++
  yield* primary.signal("SIGKILL")
  const over = performance.now()
  const mend = Effect.gen(function* () {
    yield* until(
      "The failover",
      Effect.map(primaryPort(topology), (port) => port !== before)
    )
    yield* world.notify(
      `the Sentinels took ${Math.round(performance.now() - over)} ms to put ${replica.name} in its place`
    )
    yield* primary.ended
    yield* primary.start
  })
  return { target: primary.name, over, mend }
})
