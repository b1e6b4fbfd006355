import { expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, LogLevel, Metric, Schedule } from "effect"
import * as KeyBuffer from "../../../src/actors/keys/KeyBuffer.ts"
import * as KeyMetrics from "../../../src/actors/keys/KeyMetrics.ts"
import * as Links from "../../../src/actors/links/Links.ts"
import * as RedirectCache from "../../../src/actors/links/RedirectCache.ts"
import { actors, layerEmbedded } from "../../../src/node/Cluster.ts"
import * as KeyMinter from "../../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../../src/keys/KeySpace.ts"
import { KeyPool } from "../../../src/storage/keys/KeyPool.ts"
import * as KeyPoolRedis from "../../../src/storage/keys/KeyPoolRedis.ts"
import * as KeyRangeStoreMemory from "../../../src/sim/stores/KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import { administer, describeRedisProcess, parsed } from "../../support/services/redis/Redis.ts"
import { makeSentinelDeployment } from "../../support/services/redis/RedisSentinel.ts"
import { plainDraft } from "../../support/Plain.ts"

/**
 * A node on real time, whose pool is Redis behind Sentinels and whose other stores are memory. One failover forgets many more keys than the
 * eight that a create tries.
 */
const nodeOn = (url: string) =>
  Links.layer.pipe(
    Layer.provide([KeyBuffer.layer(32), RedirectCache.layer(1_000, Duration.minutes(1))]),
    Layer.provide(actors({ inFlightMax: 1, pool: { low: 100, high: 1_000 } })),
    Layer.provide(layerEmbedded),
    Layer.provideMerge(
      Layer.mergeAll(
        KeyRangeStoreMemory.layer,
        KeyStockMemory.layer(),
        LinkStoreMemory.layer,
        KeyPoolRedis.layer({ urls: [parsed(url)], namespace: "test" }),
        KeyMinter.layer(KeySpace.make("base62", 7), new Uint8Array(16))
      )
    ),
    Layer.build
  )

/** Creates links with targets of their own, one after the other; gives each target's key. */
const createLinks = (links: typeof Links.Links.Service, from: number, to: number) =>
  Effect.forEach(
    Array.from({ length: to - from }, (_, index) => `https://example.com/${from + index}`),
    (url) => Effect.map(links.create({ ...plainDraft, url }), ({ key }) => [url, key] as const)
  )

const conflicts = (by: keyof typeof KeyMetrics.conflicts) =>
  Effect.map(Metric.value(KeyMetrics.conflicts[by]), ({ count }) => count)

describeRedisProcess("Links, when a failover of Redis forgets pops", () => {
  it.scopedLive(
    "binds no key twice: creates take other keys, and each key that came twice is counted",
    () =>
      Effect.gen(function* () {
        const deployment = yield* Effect.orDie(makeSentinelDeployment)
        const { primary, replica } = deployment
        const node = yield* nodeOn(deployment.url)
        const links = Context.get(node, Links.Links)
        const levelAt = (port: number) =>
          administer(parsed(`redis://127.0.0.1:${port}`), (redis) =>
            redis.llen("linkmint:{test}:pool:0:keys")
          )

        const first = yield* createLinks(links, 0, 2)
        yield* deployment.replicated
        yield* deployment.cutOff
        const second = yield* createLinks(links, 2, 162)
        const forgotten = (yield* levelAt(replica.port)) - (yield* levelAt(primary.port))
        expect(forgotten).toBeGreaterThan(100)
        const counted = yield* Effect.all({
          key: conflicts("key"),
          alias: conflicts("alias"),
          unknown: conflicts("unknown")
        })

        yield* primary.kill
        yield* deployment.promotedAfter(primary.port)
        yield* Effect.retry(Context.get(node, KeyPool).level(0), Schedule.spaced("20 millis"))
        const third = yield* createLinks(links, 162, 362)

        const all = [...first, ...second, ...third]
        expect(new Set(all.map(([, key]) => key)).size).toBe(362)
        for (const [url, key] of all) {
          expect((yield* links.find(key))?.url).toBe(url)
          expect((yield* Context.get(node, LinkStore).findMany([key]))[0]?.url).toBe(url)
        }
        // Every forgotten pop was repeated by now, and was found out once.
        expect((yield* conflicts("key")) - counted.key).toBe(forgotten)
        expect(yield* conflicts("alias")).toBe(counted.alias)
        expect(yield* conflicts("unknown")).toBe(counted.unknown)
      }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
    // Sentinels that were held up wait for half a minute.
    120_000
  )
})
