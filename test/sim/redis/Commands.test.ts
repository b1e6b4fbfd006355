import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { RedisData, RedisRefusal, type Reply } from "../../../src/sim/redis/RedisData.ts"
import { runScript } from "../../../src/sim/redis/RedisScripts.ts"
import { World } from "../../../src/sim/world/World.ts"
import { forAll } from "../../support/Property.ts"
import { administer, describeRedis, freshRedis } from "../../support/services/redis/Redis.ts"

/** A command with the number of the name that it is about. */
interface Drawn {
  readonly command: string
  readonly name: number
  readonly args: ReadonlyArray<string>
  /** Whether a script calls it. */
  readonly isInScript: boolean
}

const text = fc.constantFrom("", "a", "b", "c", "dd", "7")
const index = fc.integer({ min: -6, max: 6 }).map(String)
const texts = fc.array(text, { minLength: 1, maxLength: 4 })
const pairs = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 3 }).map((some) => some.flat())
const none = fc.constant<ReadonlyArray<string>>([])

const argsOf: Readonly<Record<string, fc.Arbitrary<ReadonlyArray<string>>>> = {
  GET: none,
  SET: fc.tuple(text),
  DEL: none,
  LLEN: none,
  LRANGE: fc.tuple(index, index),
  LPOS: fc.tuple(text),
  RPUSH: texts,
  LPUSH: texts,
  LTRIM: fc.tuple(index, index),
  LPOP: fc.tuple(fc.nat(4).map(String)),
  SCARD: none,
  SMEMBERS: none,
  SADD: texts,
  // Which ones it takes is chance, but for all of them.
  SPOP: fc.constant(["100"]),
  HGET: fc.tuple(text),
  HGETALL: none,
  HSET: pairs,
  HSETNX: fc.tuple(text, text),
  HDEL: texts
}

const drawn: fc.Arbitrary<Drawn> = fc.constantFrom(...Object.keys(argsOf)).chain((command) =>
  fc.record({
    command: fc.constant(command),
    name: fc.nat(2),
    args: argsOf[command]!,
    isInScript: fc.boolean()
  })
)

const script = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))"

/** What can be compared of an answer: members of a set have no order. */
const comparable = (command: string, reply: unknown) =>
  /^S(MEMBERS|POP)$/.test(command) ? (reply as ReadonlyArray<string>).toSorted() : reply

const virtual = (data: RedisData, { args, command, isInScript }: Drawn, name: string): unknown => {
  try {
    const reply: Reply = isInScript
      ? runScript(script, 1, [name, command, ...args], (called, rest) => data.run(called, rest))
      : data.run(command, [name, ...args])
    return comparable(command, reply)
  } catch (error) {
    if (error instanceof RedisRefusal) return "refused"
    throw error
  }
}

describeRedis("the simulation's Redis", () => {
  it.scopedLive("answers any sequence of commands like a real one, also from scripts", () =>
    Effect.gen(function* () {
      const { namespace, urls } = yield* freshRedis()
      let rounds = 0
      yield* forAll(
        fc.array(drawn, { minLength: 1, maxLength: 40 }),
        (commands) =>
          administer(urls[0]!, async (redis) => {
            const round = rounds++
            const world = new World({ seed: 1, preemption: 0, keepTrace: false })
            const data = new RedisData(world.chance("members"))
            for (const one of commands) {
              const { args, command, isInScript } = one
              const name = `linkmint:{${namespace}}:${round}:${one.name}`
              const asked = isInScript
                ? redis.call("EVAL", script, 1, name, command, ...args)
                : redis.call(command, name, ...args)
              const real = await asked.then(
                (reply) => comparable(command, reply),
                () => "refused"
              )
              expect(virtual(data, one, name)).toEqual(real)
            }
          }),
        { numRuns: 150 }
      )
    })
  )

  it.scopedLive(
    "gives what a script returns as a real one does, and keeps what it did before it failed",
    () =>
      Effect.gen(function* () {
        const { namespace, urls } = yield* freshRedis()
        const name = `linkmint:{${namespace}}:one`
        const bytes = Buffer.from([97, 0, 98, 255])
        const scripts = [
          "return 7.9",
          "return -7.9",
          "return nil",
          "return true",
          "return false",
          "return 'text'",
          "return {'a', 'b'}",
          "return tonumber('12') + 1",
          "return string.byte(ARGV[1], 4)",
          "return string.match(ARGV[1], '^%Z*')",
          "return math.min(5, #ARGV[1])",
          "redis.call('RPUSH', KEYS[1], 'x') redis.call('GET', KEYS[1]) return 1",
          "return redis.call('LRANGE', KEYS[1], 0, -1)"
        ]
        const data = new RedisData(new World({ seed: 1, preemption: 0, keepTrace: false }).chance("members"))
        for (const lua of scripts) {
          const real = yield* administer(urls[0]!, (redis) =>
            redis.call("EVAL", lua, 1, name, bytes).catch(() => "refused")
          )
          const answered = yield* Effect.merge(
            Effect.try({
              try: () => runScript(lua, 1, [name, bytes], (command, args) => data.run(command, args)),
              catch: (error) => (error instanceof RedisRefusal ? "refused" : String(error))
            })
          )
          expect(answered, lua).toEqual(real)
        }
      })
  )
})
