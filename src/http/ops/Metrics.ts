import { bucketCount } from "../../keys/Buckets.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { LinkDatabaseList } from "../../storage/homes/LinkDatabaseList.ts"
import { VisitDatabaseList } from "../../storage/homes/VisitDatabaseList.ts"
import { DatabasePresence } from "../../storage/sql/postgres/DatabasePresence.ts"
import { Context, Duration, Effect, Layer } from "effect"
import { Sharding } from "@effect/cluster"
import { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import { RedirectCache } from "../../actors/links/RedirectCache.ts"
import * as Shards from "../../actors/Shards.ts"
import * as ProcessMetrics from "../../telemetry/ProcessMetrics.ts"
import { TrustedTime } from "../../time/TrustedTime.ts"
import { encode, type Family, fromEffect, type Sample } from "../../telemetry/PrometheusText.ts"
import * as KeyLevels from "./KeyLevels.ts"

/** All metrics of this node, in Prometheus' text format. */
export class Metrics extends Context.Tag("linkmint/Metrics")<
  Metrics,
  { readonly text: Effect.Effect<string> }
>() {}

/** Requests within this time share one reading. */
const keptFor = Duration.seconds(1)

const gauge = (name: string, help: string, samples: ReadonlyArray<Sample>): ReadonlyArray<Family> =>
  samples.length === 0 ? [] : [{ name, help, type: "gauge", samples }]

const one = (value: number): ReadonlyArray<Sample> => [{ labels: {}, value }]

/** See {@link Metrics}. State that Effect's metrics do not count as events is read when the metrics are requested. */
export const make = Effect.gen(function* () {
  const keyLevels = yield* KeyLevels.make
  const buffer = yield* KeyBuffer
  const cache = yield* RedirectCache
  const sharding = yield* Sharding.Sharding
  const time = yield* TrustedTime
  const presence = yield* DatabasePresence
  const databases = yield* LinkDatabaseList
  const apart = yield* VisitDatabaseList
  // Alerts and dashboards find the metric on every node.
  const databasesOfVisits = apart.length > 0 ? apart : [{ number: 0, isAway: () => false }]
  const clock = yield* Effect.clock
  const isReached = () => presence.isHeld(monotonicNow_ms(clock))
  const databasesOfLinks =
    databases.length > 0 ? databases : [{ number: 0, isAway: () => !isReached(), buckets: () => bucketCount }]
  const processMetrics = ProcessMetrics.watch()

  const readStores = Effect.gen(function* () {
    const { pools, ranges } = yield* keyLevels.read
    const levels = pools.flatMap(({ level, shard }) =>
      level === null ? [] : [{ labels: { shard: String(shard) }, value: level }]
    )
    const rangeSamples = (valueOf: (slot: KeyLevels.RangeLevel) => number) =>
      (ranges ?? []).map((slot) => ({
        labels: { range: String(slot.range), length: String(slot.length) },
        value: valueOf(slot)
      }))
    return [
      ...gauge("linkmint_pool_keys", "Keys in a pool shard, as every node sees them", levels),
      ...gauge(
        "linkmint_key_range_minted_keys",
        "The watermark of a key range: keys that have left it",
        rangeSamples(({ minted }) => minted)
      ),
      ...gauge(
        "linkmint_key_range_remaining_keys",
        "Keys that a key range has left at a length",
        rangeSamples(({ remaining }) => remaining)
      )
    ]
  })

  const text = Effect.gen(function* () {
    const stores = yield* readStores
    const node = [
      ...gauge("linkmint_key_buffer_keys", "Keys that this node holds", one(yield* buffer.level)),
      ...gauge("linkmint_redirect_cache_links", "Links that this node has cached", one(cache.size())),
      ...gauge(
        "linkmint_owned_shards",
        "Shards of actors that this node owns, as far as it knows; 64 in all",
        one(Shards.owned(sharding).length)
      ),
      ...gauge(
        "linkmint_database_reachable",
        "1, or 0 while PostgreSQL's primary has not answered this process for 2 s, or others have its place there",
        one(isReached() ? 1 : 0)
      ),
      ...gauge(
        "linkmint_link_database_reachable",
        "1, or 0 while a database of links does not answer this process",
        databasesOfLinks.map(({ isAway, number }) => ({
          labels: { database: String(number) },
          value: isAway() ? 0 : 1
        }))
      ),
      ...gauge(
        "linkmint_visit_database_reachable",
        "1, or 0 while a database of visits does not answer this process; of number 0 and always 1 where visits are with their links",
        databasesOfVisits.map(({ isAway, number }) => ({
          labels: { database: String(number) },
          value: isAway() ? 0 : 1
        }))
      ),
      ...gauge(
        "linkmint_link_buckets",
        "Buckets of links that are in a database, of 256",
        databasesOfLinks.map(({ buckets, number }) => ({
          labels: { database: String(number) },
          value: buckets()
        }))
      ),
      ...gauge(
        "linkmint_clock_ahead_seconds",
        "By how much this machine's clock is ahead of the time that links are judged by",
        one(time.wallAhead_ms() / 1_000)
      ),
      ...gauge(
        "linkmint_clock_settled",
        "1, or 0 while nothing is ended for good because the clock has jumped",
        one(time.isSettled() ? 1 : 0)
      )
    ]
    const ofProcess = yield* Effect.promise(() => processMetrics.metrics())
    return encode([...fromEffect(), ...node, ...stores]) + ofProcess
  })
  return Metrics.of({ text: yield* Effect.cachedWithTTL(text, keptFor) })
})

/** See {@link Metrics}. */
export const layer = Layer.effect(Metrics, make)
