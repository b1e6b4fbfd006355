// How fast keys are taken from the KeyBuffer while it has some at hand. In between it leases, and its pool has new ones minted: real actors, stores in memory.

import { Effect, Layer, Logger, LogLevel, Schedule } from "effect"
import * as KeyBuffer from "../../src/actors/keys/KeyBuffer.ts"
import { actors, layerEmbedded } from "../../src/node/Cluster.ts"
import * as KeyMinter from "../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import * as KeyPoolMemory from "../../src/storage/keys/KeyPoolMemory.ts"
import * as KeyRangeStoreMemory from "../../src/sim/stores/KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "../../src/sim/stores/KeyStockMemory.ts"
import * as LinkStoreMemory from "../../src/sim/stores/LinkStoreMemory.ts"

const seconds = Number(process.argv[2])
const capacity = 65_536

const buffer = KeyBuffer.layer(capacity).pipe(
  Layer.provide(actors({ inFlightMax: 1, pool: { low: 2_000, high: capacity } })),
  Layer.provide(layerEmbedded),
  Layer.provide([
    KeyRangeStoreMemory.layer,
    KeyStockMemory.layer(),
    LinkStoreMemory.layer,
    KeyPoolMemory.layer({ shards: 1, settleAfter: capacity }),
    KeyMinter.layer(KeySpace.make("base62", 7), new Uint8Array(16))
  ])
)

const measure = Effect.gen(function* () {
  const { level, takeMany, takeNow } = yield* KeyBuffer.KeyBuffer
  const until = performance.now() + seconds * 1_000
  const refilled = Effect.repeat(level, {
    until: (now) => now > (capacity * 3) / 4,
    schedule: Schedule.spaced("1 millis")
  })
  let count = 0
  let taking_ms = 0
  while (performance.now() < until) {
    // Fewer than half are left after it, so that it begins a lease.
    yield* takeMany(1)
    yield* refilled
    const atHand = (yield* level) - capacity / 2
    const begun = performance.now()
    for (let taken = 0; taken < atHand; taken++) if (takeNow() !== undefined) count++
    taking_ms += performance.now() - begun
  }
  return { count, taking_ms }
})

const { count, taking_ms } = await measure.pipe(
  Effect.provide(buffer),
  Effect.withTracerEnabled(false),
  Logger.withMinimumLogLevel(LogLevel.Warning),
  Effect.runPromise
)
const { system, user } = process.cpuUsage()
process.stdout.write(
  `LOAD ${JSON.stringify({ count, seconds: taking_ms / 1_000, p50_ms: null, p99_ms: null, p999_ms: null, errors: 0, cpu_us: system + user, rss_MB: process.memoryUsage.rss() / 2 ** 20 })}\n`
)
