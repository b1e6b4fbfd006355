import { Effect, type Scope } from "effect"
import type { Result } from "ioredis"
import type { Watermark } from "../keys/KeyRangeStore.ts"
import * as RedisClient from "../redis/RedisClient.ts"
import type { RedisUrl } from "../redis/RedisUrl.ts"
import { type Testimony, Witness } from "./Witness.ts"

/**
 * Sets the field `system` of the hash KEYS[1] to ARGV[1] where it has none, unless that is empty, and each field that follows to the number behind it unless that is smaller: also to
 * the same, so that a Redis without memory refuses it whatever it knows.
 */
const raise = `
if ARGV[1] ~= '' then redis.call('HSETNX', KEYS[1], 'system', ARGV[1]) end
for at = 2, #ARGV, 2 do
  local known = tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or '-1')
  if tonumber(ARGV[at + 1]) >= known then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
return 0
`

const scripts: RedisClient.Scripts = { linkmintWitness: { lua: raise, numberOfKeys: 1 } }

declare module "ioredis" {
  interface RedisCommander<Context> {
    linkmintWitness(name: string, ...args: ReadonlyArray<string>): Result<number, Context>
  }
}

/** The hash of a deployment, beside its pools. */
export const nameOf = (namespace: string): string => `linkmint:{${namespace}}:witness`

/** The field of a watermark has the length and the range in its name. */
const slotField = /^w(\d+)\/(\d+)$/

const watermarkOf = ([field, next]: readonly [string, string]): ReadonlyArray<Watermark> => {
  const [, length, range] = slotField.exec(field) ?? []
  return length === undefined ? [] : [{ length: Number(length), range: Number(range), next: Number(next) }]
}

/** `Witness` in a hash of one Redis; each deployment has its own. Whether it survives a crash of Redis depends on Redis's settings. */
export const make = Effect.fn("WitnessRedis.make")(function* (
  url: RedisUrl,
  namespace: string
): Effect.fn.Return<typeof Witness.Service, never, Scope.Scope> {
  const { send } = yield* RedisClient.make(url, scripts)
  const name = nameOf(namespace)
  return Witness.of({
    read: Effect.map(
      send("Witness.read", (redis) => redis.hgetall(name)),
      (fields): Testimony => ({
        system: fields["system"],
        timeline: Number(fields["timeline"] ?? 0),
        mark: Number(fields["mark"] ?? 0),
        watermarks: Object.entries(fields).flatMap(watermarkOf)
      })
    ),
    raise: ({ mark, system = "", timeline, watermarks }) =>
      Effect.asVoid(
        send("Witness.raise", (redis) =>
          redis.linkmintWitness(
            name,
            system,
            "timeline",
            String(timeline),
            "mark",
            String(mark),
            ...watermarks.flatMap(({ length, next, range }) => [`w${length}/${range}`, String(next)])
          )
        )
      ),
    adopt: ({ system, timeline }) =>
      Effect.asVoid(
        send("Witness.adopt", (redis) => {
          const changed = redis.multi().hset(name, "timeline", timeline)
          return (
            system === undefined ? changed.hdel(name, "system") : changed.hset(name, "system", system)
          ).exec()
        })
      )
  })
})
