// Claims a pool shard and pushes a key after the other, until a push fails; prints how. Arguments: the Redis URL, the namespace, the epoch.

import { Effect, Either } from "effect"
import { fromStrings } from "../../../src/keys/PackedKeys.ts"
import * as KeyPoolRedis from "../../../src/storage/keys/KeyPoolRedis.ts"
import * as RedisUrl from "../../../src/storage/redis/RedisUrl.ts"

const [url = "", namespace = "", epochText = ""] = process.argv.slice(2)

const own = Effect.gen(function* () {
  const pool = yield* KeyPoolRedis.make({ urls: [Either.getOrThrow(RedisUrl.parse(url))], namespace })
  const claim = { shard: 0, epoch: Number(epochText) }
  yield* pool.claim(claim)
  for (let sequence = 0; ; sequence++) {
    yield* pool.push(claim, { epoch: claim.epoch, sequence, keys: fromStrings([`k${sequence}`]) })
    if (sequence === 0) process.stdout.write("owns\n")
  }
}).pipe(Effect.scoped)

const error = await Effect.runPromise(Effect.flip(own))
process.stdout.write(`failed: ${error._tag}\n`)
