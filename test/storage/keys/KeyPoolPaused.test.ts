import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as KeyPoolRedis from "../../../src/storage/keys/KeyPoolRedis.ts"
import { describeRedis, freshRedis, serverUrl } from "../../support/services/redis/Redis.ts"
import { spawnChild } from "../../support/Child.ts"

describeRedis("KeyPool on Redis", () => {
  it.scopedLive("refuses what a process pushes that stood still while another one claimed the shard", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const former = yield* spawnChild("OwnShard", [yield* serverUrl, redis.namespace, "1"])
      yield* former.line("owns")
      // Connected before: what the other one has sent it waits for no longer than a second.
      const pool = yield* KeyPoolRedis.make(redis)
      process.kill(former.pid, "SIGSTOP")
      yield* pool.claim({ shard: 0, epoch: 2 })
      const level = yield* pool.level(0)
      process.kill(former.pid, "SIGCONT")
      expect(yield* former.line("failed")).toBe("failed: Fenced")
      // Neither what was on its way when it was stopped nor what it sent afterwards.
      expect(yield* pool.level(0)).toBe(level)
    })
  )
})
