// How long a refill of 10,000 keys takes, with the product's own actors over PostgreSQL and Redis: from the lease that empties the pool to the
// moment that its level is back. Prints one line of JSON with the times in milliseconds.

import { Effect, Either, Layer, Logger, LogLevel, Redacted, Schedule } from "effect"
import { PoolShard } from "../../src/actors/keys/PoolShard.ts"
import { actors, layerEmbedded } from "../../src/node/Cluster.ts"
import * as KeyMinter from "../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { count } from "../../src/keys/PackedKeys.ts"
import { KeyPool } from "../../src/storage/keys/KeyPool.ts"
import * as KeyPoolRedis from "../../src/storage/keys/KeyPoolRedis.ts"
import * as KeyRangeStoreSql from "../../src/storage/keys/KeyRangeStoreSql.ts"
import * as GuardedCreatesSql from "../../src/storage/links/GuardedCreatesSql.ts"
import { KeyStock } from "../../src/storage/keys/KeyStock.ts"
import * as KeyStockSql from "../../src/storage/keys/KeyStockSql.ts"
import * as LinkStoreSql from "../../src/storage/links/LinkStoreSql.ts"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import * as DatabaseServers from "../../src/storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../../src/storage/sql/postgres/PostgresClient.ts"
import * as RedisUrl from "../../src/storage/redis/RedisUrl.ts"

const times = Number(process.argv[2])
const high = 10_000
const url = Redacted.make(process.env["DATABASE_URL"]!)
const redis = Either.getOrThrow(RedisUrl.parse(process.env["REDIS_URL"]!))

const services = actors({ inFlightMax: 1, pool: { low: 2_000, high } }).pipe(
  Layer.provideMerge(layerEmbedded),
  Layer.provideMerge(
    Layer.mergeAll(
      KeyRangeStoreSql.layer,
      KeyStockSql.layer(),
      Layer.provideMerge(GuardedCreatesSql.layer, LinkStoreSql.layer),
      KeyPoolRedis.layer({ urls: [redis], namespace: `bench-${process.pid}` }),
      KeyMinter.layer(KeySpace.make("base62", 7), new Uint8Array(16))
    )
  ),
  Layer.provide(
    Migrations.layer.pipe(Layer.provideMerge(PostgresClient.layer), Layer.provide(DatabaseServers.layer(url)))
  )
)

const measure = Effect.gen(function* () {
  const shard = (yield* PoolShard.client)("0")
  const pool = yield* KeyPool
  const stock = yield* KeyStock
  const closed = stock
    .openBatches(0)
    .pipe(
      Effect.repeat({ until: (batches) => batches.length === 0, schedule: Schedule.spaced("5 millis") }),
      Effect.zipRight(Effect.sleep("20 millis"))
    )
  const full = Effect.repeat(pool.level(0), {
    until: (level) => level >= high,
    schedule: Schedule.spaced("1 millis")
  })
  // The first one claims the shard and fills it, the second one takes what is left: less than the low-water mark, so that it is filled to the brim.
  yield* shard.Lease({ count: 1 })
  yield* shard.Lease({ count: high })
  yield* full
  const taken: Array<number> = []
  // The first five warm it up.
  for (let turn = 0; turn < times + 5; turn++) {
    // A refill goes on for a moment after its push, and none begins meanwhile.
    yield* closed
    const { keys } = yield* shard.Lease({ count: high })
    const begun = performance.now()
    if (count(keys) !== high) return yield* Effect.dieMessage(`the pool had ${count(keys)} keys`)
    yield* full
    if (turn >= 5) taken.push(performance.now() - begun)
  }
  return taken
})

const taken = await measure.pipe(
  Effect.provide(services),
  Effect.withTracerEnabled(false),
  Logger.withMinimumLogLevel(LogLevel.Warning),
  Effect.runPromise
)
process.stdout.write(`${JSON.stringify(taken)}\n`)
process.exit(0)
