import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, FastCheck as fc, Fiber, Scope, TestClock } from "effect"
import { describe } from "vitest"
import * as KeyMetrics from "../../../src/actors/keys/KeyMetrics.ts"
import type { Link } from "../../../src/model/Link.ts"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"
import { plainRow } from "../../support/Plain.ts"
import { all, always, type Rule } from "../../support/ActorFaults.ts"
import {
  bufferOver,
  drain,
  freshStores,
  joinInTime,
  minted,
  others,
  startNode,
  type TestNode,
  tinyMinter
} from "../../support/TestNode.ts"

const takeOne = (node: TestNode) => Effect.map(node.buffer.takeMany(1), ([key]) => key!)

const take = (node: TestNode, count: number) =>
  Effect.all(
    Array.from({ length: count }, () => takeOne(node)),
    { concurrency: "unbounded" }
  )

const expectDistinct = (keys: ReadonlyArray<string>) => expect(new Set(keys).size).toBe(keys.length)

const leases = (node: TestNode) =>
  node.faults.operations().filter((operation) => operation === "KeyPool.lease").length

const rowOf = (key: string): Link => ({
  ...plainRow,
  key,
  url: "https://example.com/",
  custom: false,
  createdAt: 1,
  updatedAt: 1
})

/** A rule for the calls of one pool shard alone. */
const onShard =
  (shard: number, rule: Rule): Rule =>
  (call) =>
    call.args[0] === shard || (call.args[0] as { shard?: number } | undefined)?.shard === shard
      ? rule(call)
      : "pass"

describe("a key buffer", () => {
  it.scoped("gives many keys at once, as many as it has, and leases anew for those who want more", () =>
    Effect.gen(function* () {
      const capacity = 10
      const node = yield* startNode(yield* freshStores({ capacity }), { capacity })
      const first = yield* node.buffer.takeMany(4)
      const rest = yield* node.buffer.takeMany(100)
      const next = yield* node.buffer.takeMany(3)
      expect([first.length, next.length]).toEqual([4, 3])
      expect(rest.length).toBeGreaterThanOrEqual(1)
      expect(rest.length).toBeLessThanOrEqual(capacity)
      expectDistinct([...first, ...rest, ...next])
    })
  )

  it.scoped("gives keys without an effect as long as it has some, and leases anew by itself", () =>
    Effect.gen(function* () {
      const capacity = 10
      const node = yield* startNode(yield* freshStores({ capacity }), { capacity })
      expect(node.buffer.takeNow()).toBeUndefined()
      const first = yield* takeOne(node)
      const next = Array.from({ length: capacity - 1 }, () => node.buffer.takeNow())
      expect(node.buffer.takeNow()).toBeUndefined()
      yield* others
      const later = node.buffer.takeNow()
      expectDistinct([first, ...next, later].map((key) => key ?? ""))
    })
  )

  it.scoped.prop(
    "gives no key twice and holds no more than its capacity, with 64 takers at once who put some back",
    [
      fc.record({
        capacity: fc.integer({ min: 1, max: 100 }),
        shards: fc.integer({ min: 1, max: 3 }),
        putsBack: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 64, maxLength: 64 })
      })
    ],
    ([{ capacity, putsBack, shards }]) =>
      Effect.gen(function* () {
        const stores = yield* freshStores({ capacity, shards })
        const node = yield* startNode(stores, { capacity })
        const inUse = new Set<string>()
        const taker = (putBack: number) =>
          Effect.gen(function* () {
            for (let turn = 0; turn < 6; turn++) {
              const key = yield* takeOne(node)
              expect(inUse.has(key)).toBe(false)
              inUse.add(key)
              expect(yield* node.buffer.level).toBeLessThanOrEqual(capacity)
              yield* Effect.yieldNow()
              if (turn >= putBack) continue
              inUse.delete(key)
              yield* node.buffer.putBack([key])
            }
          })
        yield* Effect.forEach(putsBack, taker, { concurrency: "unbounded" })
        yield* node.stop
        const left = (yield* Effect.forEach(
          Array.from({ length: shards }, (_, shard) => shard),
          (shard) => drain(stores, shard)
        )).flat()
        expectDistinct([...inUse, ...left])
        expect(inUse.size + left.length).toBe(yield* minted(stores))
      }),
    { timeout: 60_000, fastCheck: { numRuns: 8 } }
  )

  it.scoped("leases once for all who wait while it is empty", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ capacity: 64 }), { capacity: 64, high: 200 })
      // The first attempt finds an empty pool, the second the refilled one.
      expectDistinct(yield* take(node, 32))
      expect(leases(node)).toBe(2)
      expect(yield* node.buffer.level).toBe(32)
    })
  )

  it.scoped("leases anew in the background once fewer than half of its keys are left", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ capacity: 64 }), { capacity: 64, high: 200 })
      const levelAfter = (count: number) =>
        take(node, count).pipe(Effect.zipRight(others), Effect.zipRight(node.buffer.level))
      expect(yield* levelAfter(1)).toBe(63)
      expect(yield* levelAfter(31)).toBe(32)
      expect(yield* levelAfter(1)).toBe(64)
    })
  )

  it.scoped("gives its keys back when it stops", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* take(node, 3)
      expect(yield* node.buffer.level).toBe(5)
      const before = yield* stores.pool.level(0)
      yield* node.stop
      expect(yield* stores.pool.level(0)).toBe(before + 5)
    })
  )

  it.scoped.each(["refuse", "lose", "die"] as const)(
    "gives its keys back when it stops, once, though the pool does not answer at first (%s)",
    (verdict) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        yield* take(node, 3)
        const before = yield* stores.pool.level(0)
        let failures = 3
        node.faults.set(({ operation }) =>
          operation === "KeyPool.giveBack" && failures-- > 0 ? verdict : "pass"
        )
        yield* node.stop
        expect(yield* stores.pool.level(0)).toBe(before + 5)
      })
  )

  it.scoped("waits at its stop for a lease that is under way, and gives those keys back too", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const latch = yield* Effect.makeLatch()
      const taken = yield* take(node, 3)
      // Its keys have left the pool, and are on their way.
      node.faults.set(always(latch.await, "KeyPool.level"))
      taken.push(...(yield* take(node, 2)))
      yield* others
      expect(yield* stores.pool.level(0)).toBeLessThan(40 - 8)
      const stopping = yield* Effect.fork(node.stop)
      yield* others
      yield* latch.open
      yield* Fiber.join(stopping)
      expect((yield* stores.pool.level(0)) + taken.length).toBe(yield* minted(stores))
    })
  )

  it.scoped("gives no key to those who still wait when it stops, and gives back what they waited for", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const latch = yield* Effect.makeLatch()
      node.faults.set(always(latch.await, "KeyPool.lease"))
      const taker = yield* Effect.fork(Effect.flip(node.buffer.takeMany(8)))
      yield* others
      const stopping = yield* Effect.fork(node.stop)
      yield* others
      yield* latch.open
      yield* Fiber.join(stopping)
      expect(yield* Fiber.join(taker)).toMatchObject({ _tag: "Unavailable", applied: "no" })
      expect(node.buffer.takeNow()).toBeUndefined()
      expect(yield* stores.pool.level(0)).toBe(yield* minted(stores))
    })
  )

  it.scoped("gives back the keys of a lease that is answered when it is no longer waited for", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const latch = yield* Effect.makeLatch()
      const taken = yield* take(node, 3)
      node.faults.set(always(latch.await, "KeyPool.level"))
      taken.push(...(yield* take(node, 2)))
      yield* others
      const returns = () => node.faults.operations().filter((one) => one === "KeyPool.giveBack").length
      expect(returns()).toBe(0)
      yield* TestClock.adjust("3 seconds")
      yield* others
      yield* latch.open
      yield* others
      expect(returns()).toBe(1)
      const held = yield* node.buffer.level
      expect((yield* stores.pool.level(0)) + held + taken.length).toBe(yield* minted(stores))
    })
  )

  it.scoped(
    "gives its keys back within 2 s of its stop, though a lease that is late may still be answered",
    () =>
      Effect.gen(function* () {
        const node = yield* startNode(yield* freshStores({ shards: 2 }))
        yield* take(node, 3)
        const isReturned = () => node.faults.operations().includes("KeyPool.giveBack")
        node.faults.set(always("hang", "KeyPool.lease"))
        yield* take(node, 2)
        yield* others
        yield* TestClock.adjust("2 seconds")
        yield* others
        yield* Effect.fork(node.stop)
        yield* others
        expect(isReturned()).toBe(false)
        yield* TestClock.adjust("2 seconds")
        yield* others
        expect(isReturned()).toBe(true)
      })
  )

  it.scoped("stops all the same when the pool does not take its keys, and within bounds", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* take(node, 3)
      node.faults.set(always("hang", "KeyPool.giveBack"))
      yield* node.stop
    })
  )

  it.scoped.each(["refuse", "lose", "die", "stop"] as const)(
    "fails takers at once when the stores %s, and works again afterwards",
    (verdict) =>
      Effect.gen(function* () {
        const node = yield* startNode(yield* freshStores({ shards: 3 }))
        node.faults.set(all(verdict))
        for (let turn = 0; turn < 3; turn++) {
          expect(yield* Effect.flip(takeOne(node))).toMatchObject({ _tag: "Unavailable" })
        }
        node.faults.set()
        expectDistinct(yield* take(node, 30))
      })
  )

  it.scoped("fails takers within 3 s when the stores do not answer, and works again afterwards", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ shards: 3 }))
      const latch = yield* Effect.makeLatch()
      node.faults.set(all(latch.await))
      const taker = yield* Effect.fork(Effect.flip(takeOne(node)))
      yield* others
      for (let second = 0; second < 3; second++) {
        yield* TestClock.adjust("1 seconds")
        yield* others
      }
      expect(taker.unsafePoll()).not.toBeNull()
      expect(yield* Fiber.join(taker)).toMatchObject({ _tag: "Unavailable" })
      node.faults.set()
      yield* latch.open
      yield* others
      expectDistinct(yield* take(node, 30))
    })
  )

  it.scoped("fails when no key is left anywhere, and gives every key before", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores({}, tinyMinter(5, 12))
      const node = yield* startNode(stores)
      const keys = yield* take(node, 16 * 5)
      expectDistinct(keys)
      expect(yield* Effect.flip(takeOne(node))).toMatchObject({ _tag: "Unavailable" })
      yield* node.buffer.putBack([keys[7]!])
      expect(yield* takeOne(node)).toBe(keys[7])
    })
  )

  it.scoped("leases from the shard with the most keys", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores({ shards: 2, capacity: 10 })
      const node = yield* startNode(stores, { capacity: 10 })
      // Both shards are unknown at first; then the fuller one is the one that was leased from less.
      for (let turn = 0; turn < 8; turn++) {
        yield* take(node, 10)
        yield* others
      }
      const levels = [yield* stores.pool.level(0), yield* stores.pool.level(1)]
      expect(Math.abs(levels[0]! - levels[1]!)).toBeLessThanOrEqual(10)
    })
  )

  it.scoped("leaves a shard out that fails, and uses it again after it has answered a check", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores({ shards: 2 })
      const node = yield* startNode(stores, { high: 200 })
      const lease = Effect.zipRight(take(node, 8), others)
      yield* Effect.repeatN(lease, 3)
      // Shard 0 fails until it is left out, while it has the most keys.
      node.faults.set(onShard(0, all("refuse")))
      yield* Effect.repeatN(lease, 2)
      node.faults.set()
      yield* stores.pool.lease(1, (yield* stores.pool.level(1)) - 20)
      const kept = yield* stores.pool.level(0)
      expect(kept).toBeGreaterThan(20)
      yield* takeOne(node).pipe(Effect.repeatN(4), Effect.zipRight(others))
      expect(yield* stores.pool.level(0)).toBe(kept)
      yield* TestClock.adjust("1 seconds")
      yield* lease
      expect(yield* stores.pool.level(0)).toBeLessThan(kept)
    })
  )

  it.scoped("has keys back at once that are put back, behind all others, and asks nobody about them", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores(), { capacity: 100, high: 200 })
      const keys = yield* take(node, 6)
      node.faults.set(always("refuse", "LinkStore.takenAmong"))
      yield* node.buffer.putBack(keys)
      expect(yield* node.buffer.level).toBe(100)
      expect((yield* take(node, 100)).slice(94)).toEqual(keys)
    })
  )

  it.scoped("returns keys together that it has no room for, and waits for them when it stops", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores, { capacity: 8, high: 400 })
      const keys = yield* take(node, 100)
      yield* others
      let returns = 0
      const latch = yield* Effect.makeLatch()
      node.faults.set(({ operation }) => {
        if (operation !== "KeyPool.giveBack") return "pass"
        returns++
        return latch.await
      })
      for (const key of keys) yield* Effect.forkDaemon(node.buffer.putBack([key]))
      yield* others
      expect(returns).toBe(1)
      const stopping = yield* Effect.fork(node.stop)
      yield* others
      yield* latch.open
      yield* Fiber.join(stopping)
      expect(returns).toBe(2)
      expect(yield* stores.pool.level(0)).toBe(yield* minted(stores))
    })
  )

  it.scoped("drops nothing once it stops, and gives everything back", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const first = yield* take(node, 4)
      yield* others
      // A lease is under way when it stops, so it waits; meanwhile a create finds that its key is bound.
      const latch = yield* Effect.makeLatch()
      let asked = 0
      node.faults.set(({ operation }) => {
        if (operation === "LinkStore.takenAmong") asked++
        return operation === "KeyPool.lease" ? latch.await : "pass"
      })
      const last = yield* takeOne(node)
      yield* others
      yield* node.buffer.putBack([...first, last])
      const stopping = yield* Effect.fork(node.stop)
      yield* others
      yield* Effect.forkDaemon(node.buffer.dropBound)
      yield* others
      expect(stopping.unsafePoll()).toBeNull()
      yield* latch.open
      yield* Fiber.join(stopping)
      expect(asked).toBe(0)
      expect(yield* stores.pool.level(0)).toBe(yield* minted(stores))
    })
  )

  it.scoped.each(["hang", "die"] as const)(
    "gives back what it looks for bound keys in when it stops, within bounds (%s)",
    (verdict) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        const taken = yield* take(node, 3)
        const latch = yield* Effect.makeLatch()
        node.faults.set(({ operation }) => {
          if (operation !== "LinkStore.takenAmong") return "pass"
          return verdict === "hang" ? verdict : Effect.zipRight(latch.await, Effect.die("it is broken"))
        })
        yield* Effect.forkScoped(Effect.exit(node.buffer.dropBound))
        yield* others
        expect(yield* node.buffer.level).toBe(0)
        const stopping = yield* Effect.fork(node.stop)
        yield* latch.open
        yield* Fiber.join(stopping)
        expect((yield* stores.pool.level(0)) + taken.length).toBe(yield* minted(stores))
      })
  )

  /** A buffer whose node lives on when it is closed, and keys that were taken out of it. */
  const closedBuffer = Effect.gen(function* () {
    const stores = yield* freshStores()
    const node = yield* startNode(stores)
    const scope = yield* Scope.make()
    const buffer = yield* bufferOver(stores, node, 8).pipe(Scope.extend(scope))
    const keys = yield* buffer.takeMany(3)
    yield* Scope.close(scope, Exit.void)
    const counters = Object.values(KeyMetrics.lost)
    const given = () => counters.reduce((sum, counter) => sum + Metered.read(counter).count, 0)
    const givenBefore = given()
    return {
      node,
      buffer,
      keys,
      lost: () => given() - givenBefore,
      back: Effect.map(stores.pool.lease(0, 1_000), (leased) =>
        toStrings(leased).filter((key) => keys.includes(key))
      )
    }
  })

  it.scoped("gives keys to the pool that are put back when it has closed", () =>
    Effect.gen(function* () {
      const { back, buffer, keys, lost } = yield* closedBuffer
      yield* buffer.putBack(keys)
      expect([yield* back, lost()]).toEqual([keys, 0])
    })
  )

  it.scoped("counts keys as given up that cannot be returned when it has closed", () =>
    Effect.gen(function* () {
      const { back, buffer, keys, lost, node } = yield* closedBuffer
      node.faults.set(always("hang", "KeyPool.giveBack"))
      yield* joinInTime(yield* Effect.fork(buffer.putBack(keys)))
      expect(lost()).toBe(3)
      node.faults.set()
      expect(yield* back).toEqual([])
    })
  )

  it.scoped("drops bound keys of the database that answers, where another one does not", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const recorded = ["a-0", "b-0", "a-1", "b-1"]
      yield* stores.stock.add(fromStrings(recorded))
      const isOfSecond = (key: string) => key.startsWith("b-")
      const places = Context.get(yield* Effect.context<never>(), LinkPlaces)
      const node = yield* Effect.provideService(startNode(stores, { capacity: 4 }), LinkPlaces, {
        ...places,
        databases: 2,
        lanes: 3,
        laneOf: (key) => (isOfSecond(key) ? 1 : 0)
      })
      yield* node.buffer.held
      yield* stores.links.insertMany([rowOf("a-0"), rowOf("b-0")])
      node.faults.set(({ args, operation }) =>
        operation === "LinkStore.takenAmong" && (args[0] as ReadonlyArray<string>).some(isOfSecond)
          ? "refuse"
          : "pass"
      )
      yield* node.buffer.dropBound
      expect((yield* node.buffer.takeMany(3)).toSorted()).toEqual(["a-1", "b-0", "b-1"])
    })
  )

  it.scoped("asks for no lease when keys that were put back have filled it meanwhile", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      const keys = yield* take(node, 8)
      yield* others
      node.faults.set(always("refuse", "KeyPool.lease"))
      yield* take(node, yield* node.buffer.level)
      yield* others
      // The taker has set off a lease, which has not begun when the keys come back.
      const [taken] = yield* Effect.all([takeOne(node), node.buffer.putBack(keys)], {
        concurrency: "unbounded"
      })
      expect(taken).toBe(keys[0])
    })
  )

  it.scoped("gives back what a lease brings more than it has room for", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const latch = yield* Effect.makeLatch()
      const first = yield* take(node, 3)
      node.faults.set(always(latch.await, "KeyPool.level"))
      // Fewer than half are left: a lease for the others sets off, and its keys leave the pool.
      const second = yield* take(node, 2)
      yield* others
      yield* node.buffer.putBack([...first, ...second])
      expect(yield* node.buffer.level).toBe(8)
      yield* latch.open
      yield* others
      expect(yield* node.buffer.level).toBe(8)
      expect((yield* stores.pool.level(0)) + 8).toBe(yield* minted(stores))
    })
  )

  it.scoped("loses no key to takers that are interrupted while they wait", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const latch = yield* Effect.makeLatch()
      node.faults.set(always(latch.await, "KeyPool.lease"))
      const takers = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.fork(takeOne(node)))
      yield* others
      yield* Effect.forEach(takers.slice(0, 15), Fiber.interrupt)
      yield* latch.open
      const keys = yield* Fiber.join(Fiber.all(takers.slice(15)))
      yield* node.stop
      expectDistinct(keys)
      expect(keys.length + (yield* stores.pool.level(0))).toBe(yield* minted(stores))
    })
  )
})
