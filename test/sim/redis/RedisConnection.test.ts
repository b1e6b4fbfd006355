import { describe, expect, it } from "vitest"
import type { RedisOptions } from "ioredis"
import { connecting } from "../../../src/sim/redis/RedisConnection.ts"
import { LittleWorld } from "../stores/LittleWorld.ts"

const setUp = (options: Partial<RedisOptions>) => {
  const little = new LittleWorld(1)
  const process = little.world.spawn("node-1", 1)
  const redis = connecting(
    little.redis,
    process
  )({
    host: "redis-0",
    connectTimeout: 1_000,
    commandTimeout: 1_000,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    ...options
  })
  redis.on("error", () => {})
  const told: Array<string> = []
  redis.on("end", () => told.push("end"))
  /** Has a command sent, and notes what comes of it. */
  const ask = () =>
    void redis.llen("list").then(
      (length) => told.push(`${length} long`),
      ({ message }: Error) => told.push(message.slice(0, 22))
    )
  /** Does it inside the virtual time. */
  const begin = (run: () => void) => {
    little.world.after(0, process, () => process.post(run))
    little.pass(50)
  }
  const connect = () => begin(() => void redis.connect().catch(() => {}))
  return { little, redis, told, ask, begin, connect, server: little.redis[0]! }
}

describe("a connection to Redis in the simulation", () => {
  it("is refused while the server is away, and is made when it is asked for again", () => {
    const { ask, begin, connect, little, redis, server, told } = setUp({})
    server.restart(500_000)
    connect()
    expect([redis.status, told]).toEqual(["end", ["end"]])
    little.pass(500)
    connect()
    begin(ask)
    expect([redis.status, told]).toEqual(["ready", ["end", "0 long"]])
  })

  it("connects again by itself where it is told how soon", () => {
    const { ask, begin, connect, little, redis, server, told } = setUp({ retryStrategy: () => 100 })
    connect()
    server.restart(300_000)
    little.pass(200)
    expect(redis.status).not.toBe("ready")
    little.pass(500)
    begin(ask)
    expect([redis.status, told]).toEqual(["ready", ["0 long"]])
  })

  it("sends nothing without a connection, or keeps it until there is one", () => {
    for (const [enableOfflineQueue, sent] of [
      [false, ["Stream isn't writeable"]],
      [true, ["0 long"]]
    ] as const) {
      const { ask, begin, connect, told } = setUp({ enableOfflineQueue })
      begin(ask)
      connect()
      expect(told).toEqual(sent)
    }
  })

  it("waits for a reply as long as it may, and for ever where there is no bound", () => {
    for (const [commandTimeout, waited] of [
      [300, ["Command timed out"]],
      [undefined, []]
    ] as const) {
      const { ask, begin, connect, little, redis, told } = setUp({ commandTimeout: commandTimeout! })
      connect()
      little.redisFaults = { refused: 0, lost: 1, ignored: 0 }
      begin(ask)
      little.pass(200_000)
      expect([redis.status, told]).toEqual(["ready", waited])
    }
  })

  it("gives up what has no reply when it is closed, or lost", () => {
    for (const isLost of [false, true]) {
      const { ask, begin, connect, little, redis, server, told } = setUp({})
      connect()
      little.redisFaults = { refused: 0, lost: 1, ignored: 0 }
      begin(ask)
      if (isLost) server.restart(1_000)
      else begin(() => redis.disconnect())
      little.pass(50)
      expect([redis.status, told.toSorted()]).toEqual(["end", ["Connection is closed.", "end"]])
    }
  })

  it("waits no longer for a connection than it may", () => {
    const { connect, little, redis, told } = setUp({ connectTimeout: 200 })
    little.network.cut("node-1", "redis-0", { oneWay: false, for_us: 5_000_000 })
    connect()
    expect(redis.status).toBe("connecting")
    little.pass(200)
    expect([redis.status, told]).toEqual(["end", ["end"]])
  })
})
