import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Fiber } from "effect"
import { describe } from "vitest"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import { once, type Verdict } from "../../support/ActorFaults.ts"
import {
  drain,
  draft,
  freshPool,
  freshStores,
  minted,
  others,
  startNode,
  type Stores
} from "../../support/TestNode.ts"

const high = 40
const operations = [
  "KeyRangeStore.advance",
  "KeyStock.claim",
  "KeyStock.take",
  "KeyStock.record",
  "KeyStock.openBatches",
  "KeyStock.close",
  "KeyPool.claim",
  "KeyPool.push",
  "KeyPool.lease",
  "KeyPool.level",
  "LinkStore.takenAmong"
]

/** What happens to a shard whose pool outlives its owners. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("lease" as const), count: fc.integer({ min: 1, max: 50 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("return" as const), count: fc.integer({ min: 1, max: 9 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("stock" as const), count: fc.integer({ min: 1, max: 60 }) })
  },
  { weight: 1, arbitrary: fc.constant({ type: "claim underneath" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("fault" as const),
      operation: fc.constantFrom(...operations),
      verdict: fc.constantFrom("refuse" as const, "lose" as const, "die" as const)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("kill" as const),
      operation: fc.constantFrom(...operations),
      verdict: fc.constantFrom("hang" as const, "hang after" as const)
    })
  }
)

const expectDistinct = (keys: ReadonlyArray<string>) => expect(new Set(keys).size).toBe(keys.length)

describe("a pool shard whose pool outlives its owners", () => {
  it.scoped.prop(
    "gives no key twice and loses none beyond a batch a fault, whatever fails, dies or claims underneath",
    [fc.array(step, { maxLength: 25, size: "max" })],
    ([script]) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        let node = yield* startNode(stores)
        let held: Array<string> = []
        let stocked = 0
        let returnId = 0
        let faults = 0
        const lease = (count: number) =>
          Effect.map(Effect.exit(node.shard().Lease({ count })), (leased) => {
            if (leased._tag === "Success") held.push(...toStrings(leased.value.keys))
          })
        for (const step of script) {
          switch (step.type) {
            case "lease":
              yield* lease(step.count)
              break
            case "return":
              yield* Effect.ignore(
                node.shard().Return({ keys: fromStrings(held.slice(0, step.count)), returnId: returnId++ })
              )
              held = held.slice(step.count)
              break
            case "stock":
              yield* stores.stock.add(
                fromStrings(
                  Array.from({ length: step.count }, () => `s${String(stocked++).padStart(5, "0")}`)
                )
              )
              break
            case "claim underneath":
              // A refill of the former owner that is under way ends where it is fenced: its batch can be lost.
              faults++
              yield* stores.pool.claim(yield* stores.stock.claim(0))
              break
            case "fault":
              faults++
              node.faults.set(once(step.operation, step.verdict))
              break
            case "kill": {
              faults++
              node.faults.set(once(step.operation, step.verdict))
              const waiting = yield* Effect.fork(lease(high))
              yield* others
              yield* node.kill
              yield* Fiber.join(waiting)
              node = yield* startNode(stores)
            }
          }
          expectDistinct(held)
        }
        yield* node.stop
        const keys = [...held, ...(yield* drain(stores))]
        expectDistinct(keys)
        const lost = (yield* minted(stores)) + stocked - (yield* stores.stock.size) - keys.length
        expect(lost).toBeGreaterThanOrEqual(0)
        expect(lost).toBeLessThanOrEqual(faults * high)
        if (faults === 0) expect(lost).toBe(0)
      }),
    { timeout: 60_000, fastCheck: { numRuns: 12 } }
  )
})

describe("a process whose pool dies with it", () => {
  /** One after the other, so that what a kill finds is known. */
  const createMany = (node: Effect.Effect.Success<ReturnType<typeof startNode>>, count: number) =>
    Effect.forEach(Array.from({ length: count }), () => node.links.create(draft()))

  const bound = (stores: Stores, keys: ReadonlyArray<string>) =>
    Effect.map(stores.links.takenAmong(keys), (taken) => [...taken])

  it.scoped.prop(
    "gives every key that was pooled or buffered and not bound again, once, and none that is bound",
    [fc.array(fc.record({ creates: fc.integer({ min: 0, max: 70 }), kill: fc.boolean() }), { maxLength: 5 })],
    ([lives]) =>
      Effect.gen(function* () {
        let stores = yield* freshStores()
        const links: Array<string> = []
        for (const { creates, kill } of lives) {
          const node = yield* startNode(stores)
          links.push(...(yield* createMany(node, creates)).map(({ key }) => key))
          // Keys of a refill under way may be lost with a kill, though not with a stop: see below.
          yield* kill ? Effect.zipRight(others, node.kill) : node.stop
          stores = { ...stores, pool: yield* freshPool() }
        }
        const left = yield* drain(stores)
        expectDistinct([...links, ...left])
        expect(yield* bound(stores, left)).toEqual([])
        // A batch is recorded until the buffer has used its last key: nothing is lost.
        expect(links.length + left.length).toBe(yield* minted(stores))
      }),
    { timeout: 60_000, fastCheck: { numRuns: 6 } }
  )

  it.scoped("keeps only the records that it needs", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* createMany(node, 10 * high)
      yield* others
      const open = yield* stores.stock.openBatches(0)
      expect(open.length).toBeLessThanOrEqual(4)
    })
  )

  /** What a refill does, in this order. */
  const refillSteps = [
    "KeyStock.take",
    "KeyRangeStore.advance",
    "KeyStock.record",
    "KeyPool.push",
    "KeyStock.close"
  ] as const

  /** Creates until a refill is in the middle of one step. */
  const untilRefillIn = (step: (typeof refillSteps)[number], verdict: Verdict) =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const links = yield* createMany(node, 10)
      yield* others
      const before = node.faults.operations().filter((operation) => operation === step).length
      const isThere = () => node.faults.operations().filter((operation) => operation === step).length > before
      node.faults.set(once(step, verdict))
      while (!isThere()) {
        links.push(yield* node.links.create(draft()))
        yield* Effect.repeatN(Effect.yieldNow(), 10)
      }
      return { stores, node, links: links.map(({ key }) => key) }
    })

  /** How many minted keys are neither bound nor found by the next process. */
  const lostOf = (stores: Stores, links: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const left = yield* drain({ ...stores, pool: yield* freshPool() })
      expectDistinct([...links, ...left])
      expect(yield* bound(stores, left)).toEqual([])
      expect((yield* bound(stores, links)).length).toBe(links.length)
      return (yield* minted(stores)) - links.length - left.length
    })

  it.scoped.each(
    refillSteps.flatMap((step) =>
      (["hang", "hang after"] as const).map((verdict) => [step, verdict] as const)
    )
  )("loses no more than the batch that it was minting when it was killed (%s: %s)", ([step, verdict]) =>
    Effect.gen(function* () {
      const { links, node, stores } = yield* untilRefillIn(step, verdict)
      yield* node.kill
      const lost = yield* lostOf(stores, links)
      const isUnrecorded =
        (step === "KeyRangeStore.advance" && verdict === "hang after") ||
        (step === "KeyStock.record" && verdict === "hang")
      if (isUnrecorded) expect(lost).toBeGreaterThan(0)
      expect(lost).toBeLessThanOrEqual(isUnrecorded ? high : 0)
    })
  )

  it.scoped("stops all the same when its refill does not end", () =>
    Effect.gen(function* () {
      const { node } = yield* untilRefillIn("KeyStock.record", "hang")
      yield* node.stop
    })
  )

  it.scoped.each(refillSteps)("finishes a refill before it stops, and loses nothing (%s)", (step) =>
    Effect.gen(function* () {
      const latch = yield* Effect.makeLatch()
      const { links, node, stores } = yield* untilRefillIn(step, latch.await)
      const stopping = yield* Effect.fork(node.stop)
      yield* others
      yield* latch.open
      yield* Fiber.join(stopping)
      expect(yield* lostOf(stores, links)).toBe(0)
    })
  )
})
