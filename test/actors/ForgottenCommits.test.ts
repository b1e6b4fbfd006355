import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Fiber, Logger, LogLevel } from "effect"
import { describe } from "vitest"
import { fromStrings, toStrings } from "../../src/keys/PackedKeys.ts"
import * as KeyStockMemory from "../../src/sim/stores/KeyStockMemory.ts"
import * as WitnessMemory from "../../src/sim/stores/WitnessMemory.ts"
import { ForgetfulDatabase, startProcess } from "../support/ForgetfulDatabase.ts"
import {
  drain,
  draft,
  freshPool,
  freshStores,
  joinInTime,
  minted,
  others,
  startNode
} from "../support/TestNode.ts"

/** What happens to a deployment. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant("create" as const), count: fc.integer({ min: 1, max: 40 }) })
  },
  { weight: 2, arbitrary: fc.constant({ type: "back up" as const }) },
  { weight: 2, arbitrary: fc.constant({ type: "forget" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("free" as const), count: fc.integer({ min: 1, max: 60 }) })
  },
  { weight: 1, arbitrary: fc.constant({ type: "restart" as const }) },
  { weight: 2, arbitrary: fc.constant({ type: "restart and forget" as const }) }
)

/**
 * Goes through the steps and gives every key that was acknowledged. A pool that dies with its process is compared each second; one that outlives it needs no
 * comparison.
 */
const live = (
  steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer S> ? S : never>,
  outlives: boolean
) =>
  Effect.gen(function* () {
    const database = new ForgetfulDatabase()
    const witness = yield* WitnessMemory.make
    const kept = yield* freshPool()
    const start = Effect.gen(function* () {
      return yield* startProcess(database, witness, outlives ? kept : yield* freshPool())
    })
    let process = yield* start
    let restore = database.snapshot()
    const acknowledged: Array<string> = []
    const create = Effect.gen(function* () {
      const made = yield* Effect.fork(Effect.either(process.node.links.create(draft())))
      // Most take a few turns and no time.
      yield* Effect.repeat(Effect.yieldNow(), { until: () => made.unsafePoll() !== null, times: 100 })
      const answer = yield* made.unsafePoll() === null ? joinInTime(made) : Fiber.join(made)
      if (answer._tag === "Right") acknowledged.push(answer.right.key)
    })
    const restart = (between: () => void) =>
      Effect.gen(function* () {
        yield* process.node.kill
        between()
        process = yield* start
      })
    for (const next of steps) {
      switch (next.type) {
        case "create":
          yield* Effect.forEach(Array.from({ length: next.count }), () => create)
          if (!outlives) yield* Effect.orDie(process.witnessed.compare)
          break
        case "back up":
          restore = database.snapshot()
          break
        case "forget":
          yield* others
          restore()
          break
        case "free": {
          // Keys of links that were deleted long ago: they leave the links and are stocked.
          const gone = acknowledged.filter((key) => database.tables.links.has(key)).slice(0, next.count)
          for (const key of gone) {
            database.tables.links.delete(key)
            acknowledged.splice(acknowledged.indexOf(key), 1)
          }
          yield* Effect.orDie(process.stores.stock.add(fromStrings(gone)))
          break
        }
        case "restart":
          yield* restart(() => {})
          break
        case "restart and forget":
          yield* restart(restore)
      }
    }
    if (!steps.some(({ type }) => type.includes("forget"))) {
      expect(yield* database.mark.regressions).toEqual([])
    }
    // It works on, whatever it has forgotten: a create or two may meet the recovery.
    yield* Effect.repeat(create, { until: () => database.tables.links.size > 0, times: 3 })
    expect(database.tables.links.size).toBeGreaterThan(0)
    yield* process.node.stop
    return acknowledged
  }).pipe(Logger.withMinimumLogLevel(LogLevel.None))

const expectDistinct = (keys: ReadonlyArray<string>) => {
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
}

describe("a database that forgets", () => {
  it.scoped("has its claims go beyond those that the pool knows, with the second one", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      yield* stores.pool.claim({ shard: 0, epoch: 1_000 })
      const node = yield* startNode(stores)
      yield* Effect.flip(node.shard().Lease({ count: 1 }))
      yield* node.shard().Lease({ count: 1 })
      expect((yield* node.shard().Status()).epoch).toBe(1_001)
    })
  )

  it.scoped("has no refill lost, when it forgets the claim under which the pool was filled", () =>
    Effect.gen(function* () {
      const tables = KeyStockMemory.emptyTables()
      const stores = { ...(yield* freshStores()), stock: KeyStockMemory.makeOver(tables) }
      const former = yield* startNode(stores)
      const held = toStrings((yield* former.shard().Lease({ count: 8 })).keys)
      yield* former.kill
      tables.epochs.clear()

      const next = yield* startNode(stores)
      for (let turn = 0; turn < 8; turn++) {
        // The first one may find that the pool knows its epoch.
        const leased = yield* Effect.retry(next.shard().Lease({ count: 20 }), { times: 1 })
        held.push(...toStrings(leased.keys))
        yield* others
      }
      const all = [...held, ...(yield* drain(stores))]
      expectDistinct(all)
      expect(all.length).toBe(yield* minted(stores))
    })
  )

  it.scoped.prop(
    "has no acknowledged key handed out again, by a process whose pool dies with it",
    [fc.array(step, { maxLength: 12 })],
    ([steps]) => Effect.map(live(steps, false), expectDistinct),
    { timeout: 60_000, fastCheck: { numRuns: 10 } }
  )

  it.scoped.prop(
    "has no acknowledged key handed out again, by processes whose pool outlives them",
    [fc.array(step, { maxLength: 12 })],
    ([steps]) => Effect.map(live(steps, true), expectDistinct),
    { timeout: 60_000, fastCheck: { numRuns: 10 } }
  )
})
