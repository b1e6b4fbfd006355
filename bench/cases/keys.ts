// Keys on their way: how fast they are taken, how long a refill takes, and what they and links take in memory.

import { Effect } from "effect"
import { atLeast, atMost, type Case } from "../Case.ts"
import { type Ground, newDatabase } from "../Ground.ts"
import { runProgram, runSample } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"
import { Unavailable } from "../../test/support/services/Service.ts"

/** From the buffer that each node has, and from Redis with one key a command. */
export const buffer: Case = {
  name: "buffer",
  title: "Take a key from the KeyBuffer",
  run: Effect.fn("buffer")(function* (ground) {
    const redisUrl = yield* ground.redisUrl
    const plan = ground.quick ? Rounds.planOf(ground) : { rounds: 5, seconds: 2, warmUp_s: 1 }
    const unit = "keys/s"
    const rows = yield* Rounds.measure(
      ground,
      [
        {
          subject: "Redis LPOP by ioredis, pipelined",
          unit,
          pids: [],
          usesPostgres: false,
          run: (seconds) => runSample("references/lpop", seconds, { REDIS_URL: redisUrl })
        },
        {
          subject: "KeyBuffer.takeNow",
          unit,
          pids: [],
          usesPostgres: false,
          run: (seconds) => runSample("probes/keyBuffer", seconds, {})
        }
      ],
      plan
    )
    return {
      // Their CPU time has the leases, minting and pushing in between.
      rows: rows.map((row) => ({ ...row, cpu_us: null })),
      goals: [atLeast("ratio", 20, rows[1]!.ratio!, rows[1]!.errors)],
      notes: [
        "Takes while keys are at hand, one after the other, as creates do; LPOP of one key each, 1,000 in a pipeline."
      ]
    }
  })
}

/** The last line of a program's output, parsed. */
export const jsonOf = <A>(output: string): Effect.Effect<A, Unavailable> =>
  Effect.try({
    try: () => JSON.parse(output.trim().split("\n").at(-1) ?? "") as A,
    catch: () => new Unavailable({ reason: "a program of the benchmark says nothing of use", detail: output })
  })

/** By the product's own actors, durably. */
export const refill: Case = {
  name: "refill",
  title: "Refill: 10,000 keys minted, recorded in PostgreSQL and pushed to Redis",
  run: Effect.fn("refill")(function* (ground) {
    const variables = { DATABASE_URL: yield* newDatabase(ground), REDIS_URL: yield* ground.redisUrl }
    const output = yield* runProgram("probes/refill", ground.quick ? 5 : 50, variables)
    const times = (yield* jsonOf<ReadonlyArray<number>>(output)).toSorted((a, b) => a - b)
    const p50_ms = Rounds.median(times)
    const p99_ms = times[Math.floor(times.length * 0.99)]!
    return {
      rows: [Rounds.plainRow({ subject: "PoolShard", unit: "ms", rounds: times, p50_ms, p99_ms })],
      goals: [atMost("median", 50, " ms", p50_ms)],
      notes: ["From the lease that empties the pool until its level is 10,000 again."]
    }
  })
}

interface Memory {
  readonly pooled: number
  readonly buffered: number
  readonly link: number
  readonly held: ReadonlyArray<number>
}

const memoryOf = Effect.fn("memoryOf")(function* ({ quick }: Ground) {
  const variables = { KEYS: quick ? "200000" : "1000000", LINKS: quick ? "20000" : "100000" }
  const memory = yield* Effect.flatMap(runProgram("probes/memory", 1, variables), jsonOf<Memory>)
  const [pooled, buffered, links] = memory.held.map(String)
  return pooled === variables.KEYS && buffered === variables.KEYS && links === variables.LINKS
    ? memory
    : yield* new Unavailable({ reason: `not all is held: ${memory.held.join(", ")}` })
})

/** By what the heap and its buffers grow when many of them are held. */
export const memory: Case = {
  name: "memory",
  title: "Memory of a pooled key and of a cached link",
  run: Effect.fn("memory")(function* (ground) {
    const { buffered, link, pooled } = yield* memoryOf(ground)
    const row = (subject: string, bytes: number) =>
      Rounds.plainRow({ subject, unit: "bytes", rounds: [bytes] })
    return {
      rows: [
        row("a key in the pool of a process alone", pooled),
        row("a key in the KeyBuffer", buffered),
        row("a link in the RedirectCache, with a target of 100 characters", link)
      ],
      goals: [atMost("a pooled key", 8, " bytes", pooled)],
      notes: ["Keys of 7 characters. The KeyBuffer holds 2,048 of them by default."]
    }
  })
}
