import { expect, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc } from "effect"
import { RedisData, RedisRefusal, type Reply } from "../../../src/sim/redis/RedisData.ts"
import { runScript } from "../../../src/sim/redis/RedisScripts.ts"
import type { Command } from "../../../src/sim/redis/VirtualRedis.ts"
import { World } from "../../../src/sim/world/World.ts"
import { forAll } from "../../support/Property.ts"
import {
  administer,
  describeRedis,
  describeRedisProcess,
  freshRedis,
  ownRedis
} from "../../support/services/redis/Redis.ts"
import { LittleWorld } from "../stores/LittleWorld.ts"

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

describeRedisProcess("the simulation's Redis, where its memory is full", () => {
  const isFull = "OOM command not allowed when used memory > 'maxmemory'."
  const written = "redis.call('RPUSH', KEYS[1], 'c')"
  /** Each command with what comes of it; several are one transaction. */
  const asked: ReadonlyArray<ReadonlyArray<Command>> = [
    ...[
      ["GET", "text"],
      ["SET", "text", "b"],
      ["RPUSH", "list", "b"],
      ["LPUSH", "list", "b"],
      ["SADD", "set", "b"],
      ["HSET", "hash", "b", "c"],
      ["HSETNX", "hash", "c", "d"],
      ["LRANGE", "list", "0", "-1"],
      ["LPOS", "list", "a"],
      ["LTRIM", "list", "-4", "-1"],
      ["LPOP", "list", "1"],
      ["SPOP", "set", "1"],
      ["HDEL", "hash", "a"],
      ["DEL", "text"]
    ].map(([name, ...args]) => [{ name: name!, args }]),
    ...[
      written,
      "return redis.call('LLEN', KEYS[1])",
      `redis.call('LPOP', KEYS[1], 1) ${written}`,
      // What it would have taken counts as well: there is nothing.
      `redis.call('HDEL', KEYS[2], 'none') ${written}`,
      `redis.call('GET', KEYS[3]) ${written}`
    ].map((lua) => [{ name: "script", script: { lua, names: 3 }, args: ["list", "hash", "text"] }]),
    [
      { name: "LLEN", args: ["list"] },
      { name: "LPOP", args: ["list", "1"] }
    ],
    [
      { name: "LPOP", args: ["list", "1"] },
      { name: "HSET", args: ["hash", "e", "f"] }
    ]
  ]

  it.scopedLive("refuses what a real one refuses, and does the rest", () =>
    Effect.gen(function* () {
      const { url } = yield* ownRedis()
      const { redis: servers } = new LittleWorld(1, {})
      const virtual = servers[0]!
      const before = [
        { name: "SET", args: ["text", "a"] },
        { name: "RPUSH", args: ["list", "a", "a", "a", "a", "a"] },
        { name: "SADD", args: ["set", "a"] },
        { name: "HSET", args: ["hash", "a", "b"] }
      ]
      yield* administer(url, async (redis) => {
        const toReal = (commands: ReadonlyArray<Command>): Promise<unknown> => {
          const calls = commands.map(({ args, name, script }): [string, ...Array<string>] =>
            script === undefined
              ? [name, ...args.map(String)]
              : ["EVAL", script.lua, String(script.names), ...args.map(String)]
          )
          if (calls.length === 1) return redis.call(...calls[0]!)
          const several = redis.multi()
          for (const call of calls) several.call(...call)
          return several.exec().then((replies) => replies!.map(([, reply]) => reply))
        }
        const toVirtual = (commands: ReadonlyArray<Command>): unknown => {
          const replies = virtual.run("node-1#1", commands)
          return replies.length === 1 ? replies[0] : replies
        }
        for (const command of before) {
          await toReal([command])
          toVirtual([command])
        }
        await redis.config("SET", "maxmemory", "1")
        virtual.fill(Number.POSITIVE_INFINITY)
        let refused = 0
        for (const commands of asked) {
          // A real one says which script it was.
          const real = await toReal(commands).catch((error: Error) =>
            error.message.replace(/(?<=\.) script: .*/, "")
          )
          const answered = Either.merge(
            Either.try({ try: () => toVirtual(commands), catch: (error) => (error as Error).message })
          )
          expect(answered, JSON.stringify(commands)).toEqual(real)
          if (real === isFull) refused++
        }
        expect(refused).toBe(8)
        virtual.heal()
        expect(toVirtual([{ name: "SET", args: ["text", "b"] }])).toBe("OK")
      })
    })
  )
})
