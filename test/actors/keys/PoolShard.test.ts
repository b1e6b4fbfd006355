import { expect, it } from "@effect/vitest"
import { Context, Effect, FastCheck as fc, Fiber, TestClock } from "effect"
import { describe } from "vitest"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as LinkLifetimeMemory from "../../../src/sim/stores/LinkLifetimeMemory.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import type { BatchRecord } from "../../../src/storage/keys/KeyStock.ts"
import { ShardOwnership } from "../../../src/storage/keys/ShardOwnership.ts"
import { all, always, once, type Rule } from "../../support/ActorFaults.ts"
import { plainRow } from "../../support/Plain.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import {
  drain,
  freshPool,
  freshStores,
  minted,
  others,
  startNode,
  type Stores,
  type TestNode,
  tinyMinter
} from "../../support/TestNode.ts"

const high = 40

const lease = (node: TestNode, count: number) =>
  Effect.map(node.shard().Lease({ count }), ({ keys }) => toStrings(keys))

/** Keys that do not come from a range. */
const stocked = (count: number) => Array.from({ length: count }, (_, index) => `stock${index}`)

const expectDistinct = (keys: ReadonlyArray<string>) => expect(new Set(keys).size).toBe(keys.length)

describe("a pool shard", () => {
  it.scoped("claims nothing while its node does not hold the shard, and says that its owner is away", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      let holds = false
      const node = yield* Effect.provideService(startNode(stores), ShardOwnership, {
        holds: () => Effect.sync(() => holds)
      })
      const refused = yield* Effect.flip(node.shard().Lease({ count: 8 }))
      expect(refused).toMatchObject({ _tag: "Unavailable", applied: "no", away: true })
      expect(node.faults.operations()).not.toContain("KeyStock.claim")
      holds = true
      expect((yield* lease(node, 8)).length).toBe(8)
    })
  )

  it.scoped.prop(
    "keeps its level between the marks, whatever is leased and returned",
    [fc.array(fc.integer({ min: -8, max: 12 }), { maxLength: 30 })],
    ([steps]) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        const held: Array<string> = []
        let returnId = 0
        for (const step of steps) {
          if (step > 0) held.push(...(yield* lease(node, step)))
          else yield* node.shard().Return({ keys: fromStrings(held.splice(0, -step)), returnId: returnId++ })
          yield* others
          const { level, low } = yield* node.shard().Status()
          // Before the first lease there is nothing; what is returned comes on top.
          if (held.length > 0) expect(level).toBeGreaterThanOrEqual(low)
          expect(level).toBeLessThanOrEqual(high + 30 * 8)
          expectDistinct(held)
          expect((yield* minted(stores)) - level).toBe(held.length)
        }
      }),
    { timeout: 60_000, fastCheck: { numRuns: 8 } }
  )

  it.scoped("refills to the high-water mark when it falls below the low-water mark, not before", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      const levels: Array<number> = []
      for (let turn = 0; turn < 6; turn++) {
        levels.push((yield* node.shard().Lease({ count: 8 })).level)
        yield* others
      }
      expect(levels).toEqual([32, 24, 16, 8, 32, 24])
    })
  )

  it.scoped("is filled as soon as somebody looks at it", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      expect((yield* node.shard().Status()).level).toBe(0)
      yield* others
      expect((yield* node.shard().Status()).level).toBe(high)
    })
  )

  it.scoped("serves all who wait for a refill, even when they want more than it brings", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      const leases = yield* Effect.all(
        Array.from({ length: 30 }, () => lease(node, 8)),
        { concurrency: "unbounded" }
      )
      leases.forEach((keys) => expect(keys.length).toBeGreaterThan(0))
      expectDistinct(leases.flat())
    })
  )

  it.scoped("takes a return once, however often its message comes", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const keys = yield* lease(node, 8)
      const giveBack = node.shard().Return({ keys: fromStrings(keys), returnId: 1 })
      yield* giveBack
      expect(yield* lease(node, 5)).toEqual(keys.slice(0, 5))
      yield* giveBack
      const rest = yield* drain(stores)
      expectDistinct([...keys.slice(0, 5), ...rest])
      expect(5 + rest.length).toBe(yield* minted(stores))
    })
  )

  it.scoped("uses stocked keys before it mints, and mints the rest", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      yield* stores.stock.add(fromStrings(stocked(25)))
      const node = yield* startNode(stores)
      expect((yield* lease(node, 25)).toSorted()).toEqual(stocked(25).toSorted())
      expect(yield* minted(stores)).toBe(high - 25)
      expect(yield* stores.stock.size).toBe(0)
    })
  )

  it.scoped("gives the stocked keys when no range can mint", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      yield* stores.stock.add(fromStrings(stocked(5)))
      const node = yield* startNode(stores)
      node.faults.set(always("refuse", "KeyRangeStore.advance"))
      expect((yield* lease(node, 10)).toSorted()).toEqual(stocked(5))
      expect(yield* Effect.flip(lease(node, 10))).toMatchObject({ _tag: "Unavailable" })
    })
  )

  it.scoped("mints from another range where one is used up", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores({}, tinyMinter(30, 12))
      const node = yield* startNode(stores)
      const keys = (yield* Effect.all(Array.from({ length: 16 * 3 }, () => lease(node, 10)))).flat()
      expect(keys.length).toBe(16 * 30)
      expectDistinct(keys)
      expect(yield* Effect.flip(lease(node, 1))).toMatchObject({ _tag: "Unavailable", applied: "no" })
    })
  )

  it.scoped("passes over a range that is broken, and after two seconds one that does not answer", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const inRange =
        (range: number, rule: Rule): Rule =>
        (call) =>
          (call.args[0] as { range?: number } | undefined)?.range === range ? rule(call) : "pass"
      node.faults.set(inRange(0, always("die", "KeyRangeStore.advance")))
      expect((yield* lease(node, high)).length).toBe(high)
      yield* others
      yield* drain(stores)
      // The claim was dropped when the refill was refused, so the next refill begins at range 0 again.
      node.faults.set(inRange(0, always("hang", "KeyRangeStore.advance")))
      const waiting = yield* Effect.fork(lease(node, 8))
      yield* others
      yield* TestClock.adjust("1999 millis")
      yield* others
      expect(waiting.unsafePoll()).toBeNull()
      yield* TestClock.adjust("1 millis")
      expect((yield* Fiber.join(waiting)).length).toBe(8)
    })
  )

  it.scoped("says so when it cannot refill, and works again when the stores are back", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      for (const verdict of ["refuse", "lose"] as const) {
        node.faults.set(all(verdict))
        expect(yield* Effect.flip(lease(node, 8))).toMatchObject({ _tag: "Unavailable" })
        node.faults.set()
        expect((yield* lease(node, 8)).length).toBe(8)
      }
    })
  )

  it.scoped("does not lose the keys of a lease because the pool's level is unknown", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const first = yield* lease(node, 8)
      node.faults.set(always("refuse", "KeyPool.level"))
      const second = yield* lease(node, 8)
      yield* others
      node.faults.set()
      const rest = yield* drain(stores)
      expectDistinct([...first, ...second, ...rest])
      expect(first.length + second.length + rest.length).toBe(yield* minted(stores))
    })
  )

  it.scoped("gives back the keys of a lease that is interrupted before it has answered", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* lease(node, 8)
      yield* others
      const before = yield* stores.pool.level(0)
      const asked = node.faults.operations().filter((operation) => operation === "KeyPool.level").length
      node.faults.set(once("KeyPool.level", "hang"))
      const leasing = yield* Effect.fork(lease(node, 8))
      yield* node.faults.called("KeyPool.level", asked + 1)
      expect(yield* stores.pool.level(0)).toBe(before - 8)
      yield* Fiber.interrupt(leasing)
      yield* others
      expect(yield* stores.pool.level(0)).toBe(before)
    })
  )
})

describe("a pool shard that another owner has claimed underneath", () => {
  it.scoped("is fenced, leaves the newer owner's work alone, and claims anew", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* lease(node, 8)
      const newer = yield* stores.stock.claim(0)
      yield* stores.pool.claim(newer)
      const before = yield* stores.stock.openBatches(0)

      // While it cannot claim again, it can lease what is there and nothing else.
      node.faults.set(always("refuse", "KeyStock.claim"))
      expect((yield* lease(node, 30)).length).toBe(30)
      yield* others
      expect(yield* stores.stock.openBatches(0)).toEqual(before)
      expect(yield* stores.pool.level(0)).toBe(high - 38)
      node.faults.set()
      yield* lease(node, 1)
      yield* others
      const { epoch, level } = yield* node.shard().Status()
      expect(epoch).toBeGreaterThan(newer.epoch)
      expect(level).toBe(high)
    })
  )

  it.scoped("claims anew for the very lease that finds it fenced and empty", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const first = yield* lease(node, 8)
      const rest = yield* drain(stores)
      const second = yield* lease(node, 8)
      expect(second.length).toBe(8)
      expectDistinct([...first, ...rest, ...second])
    })
  )

  it.scoped("shares the shard without a key given twice, however the owners take turns", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const owners = [yield* startNode(stores), yield* startNode(stores)]
      const keys: Array<string> = []
      for (let turn = 0; turn < 40; turn++) {
        const some = yield* Effect.either(lease(owners[turn % 2]!, 9))
        if (some._tag === "Right") keys.push(...some.right)
        if (turn % 3 === 0) yield* others
      }
      yield* others
      expectDistinct([...keys, ...(yield* drain(stores))])
      expect(keys.length).toBeGreaterThan(40 * 9 * 0.5)
    })
  )
})

describe("a pool shard that met a fault", () => {
  it.scoped("records a batch before it pushes it", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* lease(node, 8)
      const order = node.faults
        .operations()
        .filter((operation) =>
          ["KeyRangeStore.advance", "KeyStock.record", "KeyPool.push"].includes(operation)
        )
      expect(order).toEqual(["KeyRangeStore.advance", "KeyStock.record", "KeyPool.push"])
    })
  )

  it.scoped(
    "pushes what stands recorded before anything else after a push that failed, though nobody fenced it",
    () =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        node.faults.set(once("KeyPool.push", "refuse"))
        yield* Effect.exit(lease(node, 8))
        const [left] = yield* stores.stock.openBatches(0)
        node.faults.set()
        yield* lease(node, 8)
        yield* others
        const pushed = yield* Effect.map(stores.pool.lease(0, 1_000), toStrings)
        const recorded = toStrings(left!.keys)
        expect(recorded.length).toBe(high)
        // Of the first batch, eight are leased.
        expect(recorded.filter((key) => pushed.includes(key)).length).toBe(high - 8)
      })
  )

  it.scoped("pushes a key once that stands in two records", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const former = yield* stores.stock.claim(0)
      yield* stores.stock.record({ ...former, sequence: 0 }, fromStrings(["a", "b"]))
      yield* stores.stock.record({ ...former, sequence: 1 }, fromStrings(["b", "c"]))
      expect([...(yield* drain(stores))].toSorted()).toEqual(["a", "b", "c"])
    })
  )

  it.scoped("pushes no key of a record that was freed while it asked which of them are bound", () =>
    Effect.gen(function* () {
      const tables = { links: new Map(), ended: new Map(), ...KeyStockMemory.emptyTables() }
      const stores = {
        ...(yield* freshStores()),
        links: LinkStoreMemory.makeOver(tables.links, tables.ended),
        stock: KeyStockMemory.makeOver(tables)
      }
      const keys = ["freed", "kept"]
      const former = yield* stores.stock.claim(0)
      yield* stores.stock.record({ ...former, sequence: 0 }, fromStrings(keys))
      yield* stores.links.insertMany([linkOf("freed")])
      yield* stores.links.deleteMany([{ key: "freed", at: 0 }])
      const node = yield* startNode(stores)
      const recycle = LinkLifetimeMemory.makeOver(tables).recycle({ quarantine_ms: 0, count: 10 })
      node.faults.set(once("LinkStore.takenAmong", Effect.orDie(recycle)))
      const given = yield* lease(node, 8)
      yield* others
      const all = [...given, ...(yield* drain(stores))]
      expectDistinct(all)
      expect(all).toEqual(expect.arrayContaining(keys))
    })
  )

  it.scoped.each(
    ["KeyStock.take", "KeyStock.record", "KeyPool.push", "KeyStock.close"].flatMap((operation) =>
      (["refuse", "lose", "die"] as const).map((verdict) => [operation, verdict] as const)
    )
  )("finishes by itself a batch on whose way %s: %s", ([operation, verdict]) =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      yield* stores.stock.add(fromStrings(stocked(15)))
      const node = yield* startNode(stores)
      node.faults.set(once(operation, verdict))
      const first = yield* Effect.exit(lease(node, 8))
      node.faults.set()
      const second = yield* lease(node, 8)
      yield* others
      const keys = [...(first._tag === "Success" ? first.value : []), ...second, ...(yield* drain(stores))]
      expectDistinct(keys)
      // Stocked keys are recorded in the transaction that takes them: none is lost. Minted ones are, before they are recorded.
      expect(keys.filter((key) => key.startsWith("stock")).length).toBe(15)
      const lost = (yield* minted(stores)) + 15 - keys.length
      expect(lost).toBeGreaterThanOrEqual(0)
      expect(lost).toBeLessThanOrEqual(
        operation === "KeyStock.record" && verdict === "refuse" ? high - 15 : 0
      )
    })
  )
})

describe("a pool shard of a process alone, with links in two databases", () => {
  const rowOf = (key: string) => ({
    ...plainRow,
    key,
    url: "https://example.com",
    custom: false,
    createdAt: 1,
    updatedAt: 1
  })

  /** Keys of the second database begin with `b-`. */
  const isOfSecond = (key: string) => key.startsWith("b-")

  const secondIsAway: Rule = ({ args, operation }) =>
    operation === "LinkStore.takenAmong" && (args[0] as ReadonlyArray<string>).some(isOfSecond)
      ? "refuse"
      : "pass"

  const questions = (node: TestNode) =>
    node.faults.operations().filter((operation) => operation === "LinkStore.takenAmong").length

  const ofBoth = ["a-0", "b-0", "a-1", "b-1"]

  /** Starts it over an open record, by default with keys of both databases, of which two are bound, when the second database does not answer. */
  const startedWithRecord = Effect.fnUntraced(function* (
    recorded: ReadonlyArray<string> = ofBoth,
    prepare: (stores: Stores, batch: BatchRecord) => Effect.Effect<void, unknown> = () => Effect.void
  ) {
    const stores = yield* freshStores()
    const batch = { ...(yield* stores.stock.claim(0)), sequence: 0, keys: fromStrings(recorded) }
    yield* stores.stock.record(batch, batch.keys)
    if (recorded === ofBoth) yield* stores.links.insertMany(["a-1", "b-1"].map(rowOf))
    yield* prepare(stores, batch)
    const open = { second: false }
    const places = Context.get(yield* Effect.context<never>(), LinkPlaces)
    const node = yield* Effect.provideService(startNode(stores), LinkPlaces, {
      ...places,
      databases: 2,
      lanes: 3,
      laneOf: (key) => (isOfSecond(key) ? 1 : 0),
      isOpen: (key) => open.second || !isOfSecond(key)
    })
    node.faults.set(secondIsAway)
    return { stores, node, open }
  })

  it.scoped("is claimed, and leases keys of other batches, when its record cannot be finished", () =>
    Effect.gen(function* () {
      const { node, stores } = yield* startedWithRecord()
      const keys = yield* lease(node, 8)
      expect(keys.length).toBe(8)
      expect(keys.filter((key) => key.includes("-"))).toEqual([])
      expect((yield* node.shard().Status()).level).toBeGreaterThan(0)
      yield* stores.stock.openBatches(0).pipe(
        Effect.map((batches) => toStrings(batches[0]!.keys)),
        Effect.map((recorded) => expect(recorded).toEqual(["a-0", "b-0", "a-1", "b-1"]))
      )
    })
  )

  /** Waits, and then leases some keys, so often. */
  const leasedInTime = (node: TestNode, times: number) =>
    Effect.forEach(Array.from({ length: times }), () =>
      TestClock.adjust("10 seconds").pipe(Effect.zipRight(lease(node, 8)), Effect.zipLeft(others))
    ).pipe(Effect.map((leased) => leased.flat()))

  const calls = (node: TestNode, operation: string) =>
    node.faults.operations().filter((name) => name === operation).length

  it.scoped("finishes its record once when the database is back, without bound keys", () =>
    Effect.gen(function* () {
      const { node, open, stores } = yield* startedWithRecord()
      const leased = [...(yield* lease(node, 8))]
      const asked = questions(node)
      leased.push(...(yield* leasedInTime(node, 10)))
      expect(questions(node)).toBe(asked)
      // It is taken for back before it answers.
      open.second = true
      leased.push(...(yield* leasedInTime(node, 5)))
      expect(questions(node)).toBeGreaterThan(asked)
      node.faults.set()
      leased.push(...(yield* leasedInTime(node, 10)))
      yield* node.stop
      const all = [...leased, ...toStrings(yield* stores.pool.lease(0, Number.MAX_SAFE_INTEGER))]
      expectDistinct(all)
      expect(all.filter((key) => key.includes("-")).toSorted()).toEqual(["a-0", "b-0"])
      expect(all.length).toBe((yield* minted(stores)) + 2)
    })
  )

  it.scoped.each([35, high, high + 5])(
    "puts the %i keys of a record that was left into its pool where they have room, before it mints others",
    (size) =>
      Effect.gen(function* () {
        const recorded = Array.from({ length: size }, (_, index) => `b-left${index}`)
        const { node, open, stores } = yield* startedWithRecord(recorded)
        const leased = [...(yield* lease(node, 8))]
        node.faults.set()
        open.second = true
        const before = yield* minted(stores)
        for (let turn = 0; turn < 20 && !leased.some(isOfSecond); turn++) {
          leased.push(...(yield* leasedInTime(node, 1)))
          expect(yield* stores.pool.level(0)).toBeLessThanOrEqual(Math.max(high, size))
        }
        expect(leased.some(isOfSecond)).toBe(true)
        expect(yield* minted(stores)).toBeLessThanOrEqual(before + 5)
        for (let turn = 0; turn < 10; turn++) leased.push(...(yield* leasedInTime(node, 1)))
        expectDistinct(leased)
        expect(leased.filter(isOfSecond).toSorted()).toEqual(recorded.toSorted())
      })
  )

  it.scoped(
    "asks neither databases nor records again and again, where its pool or all databases are away",
    () =>
      Effect.gen(function* () {
        const { node, open } = yield* startedWithRecord()
        yield* lease(node, 8)
        open.second = true
        for (const rule of [secondIsAway, always("refuse", "KeyPool.push", "LinkStore.takenAmong")]) {
          node.faults.set(rule)
          const before = calls(node, "KeyStock.openBatches")
          for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 seconds")
          yield* others
          expect(calls(node, "KeyStock.openBatches")).toBe(before)
        }
      })
  )

  it.scoped("closes a record whose batch its pool has, though the database does not answer", () =>
    Effect.gen(function* () {
      const { node, stores } = yield* startedWithRecord(["b-0", "b-1"], (stores, batch) =>
        Effect.gen(function* () {
          yield* stores.pool.claim(batch)
          yield* stores.pool.push(batch, batch)
          // Until it is settled, its pool may lose it.
          yield* stores.pool.lease(0, 2)
          yield* stores.pool.push(batch, { ...batch, sequence: 1, keys: fromStrings(stocked(100)) })
          yield* stores.pool.lease(0, 100)
        })
      )
      yield* lease(node, 8)
      const names = (yield* stores.stock.openBatches(0)).map(({ keys }) => toStrings(keys))
      expect(names.flat().filter(isOfSecond)).toEqual([])
      expect(questions(node)).toBe(0)
    })
  )

  it.scoped("loses no key where it claims again while it looks at a record that was left", () =>
    Effect.gen(function* () {
      const { node, open, stores } = yield* startedWithRecord(["b-0", "b-1"])
      const leased = [...(yield* lease(node, 8))]
      yield* others
      const looking = yield* Effect.makeLatch()
      const asking = yield* Effect.makeLatch()
      const looks = calls(node, "KeyStock.openBatches")
      let pushFails = true
      node.faults.set(({ operation }) => {
        if (operation === "KeyPool.push" && pushFails) {
          pushFails = false
          return "refuse"
        }
        if (operation === "KeyStock.openBatches" && calls(node, operation) === looks + 1) return looking.await
        return operation === "LinkStore.takenAmong" ? asking.await : "pass"
      })
      open.second = true
      yield* TestClock.adjust("1 seconds")
      yield* others
      const draining = yield* Effect.fork(Effect.exit(lease(node, 30)))
      yield* others
      const claiming = yield* Effect.fork(Effect.exit(lease(node, 8)))
      yield* others
      yield* looking.open
      yield* others
      yield* asking.open
      yield* others
      for (const waiting of [draining, claiming]) {
        const exit = yield* Fiber.join(waiting)
        if (exit._tag === "Success") leased.push(...exit.value)
      }
      leased.push(...(yield* leasedInTime(node, 20)))
      yield* node.stop
      const all = [...leased, ...toStrings(yield* stores.pool.lease(0, Number.MAX_SAFE_INTEGER))]
      expectDistinct(all)
      expect(all.length).toBe((yield* minted(stores)) + 2)
    })
  )

  it.scoped("leaves the record to the next process, where it ends before the database is back", () =>
    Effect.gen(function* () {
      const { node, stores } = yield* startedWithRecord()
      const leased = yield* lease(node, 8)
      yield* others
      yield* node.stop
      const left = yield* drain({ ...stores, pool: yield* freshPool() })
      expect(left.filter((key) => key.includes("-")).toSorted()).toEqual(["a-0", "b-0"])
      expect(left).toEqual(expect.arrayContaining(leased))
    })
  )
})
