import { expect, it } from "@effect/vitest"
import { Clock, Effect, Either, type Exit, FastCheck as fc, Fiber, Metric, TestClock } from "effect"
import { describe } from "vitest"
import * as KeyMetrics from "../../../src/actors/keys/KeyMetrics.ts"
import { linksCreated } from "../../../src/actors/links/LinkCreates.ts"
import { AliasTaken } from "../../../src/actors/links/LinkDraft.ts"
import type { Unavailable } from "../../../src/actors/Unavailable.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"
import type { Link } from "../../../src/model/Link.ts"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import { StepScheduler } from "../../support/StepScheduler.ts"
import { all, always } from "../../support/ActorFaults.ts"
import {
  drain,
  draft,
  freshStores,
  joinInTime,
  others,
  ownersElsewhere,
  realMinter,
  startNode,
  type Stores,
  type TestNode
} from "../../support/TestNode.ts"
import { plainRow } from "../../support/Plain.ts"

/** The first keys that a new deployment gives out, in their order. */
const firstKeys = (count: number) => toStrings(realMinter.mint(7, 0, 0, count))

const rowOf = (key: string, custom: boolean): Link => ({
  ...plainRow,
  key,
  url: "https://example.com/earlier",
  custom,
  createdAt: 1,
  updatedAt: 1
})

/** By how much an effect moves the counter of conflicts with one kind of holder. */
const conflicts = <A, E, R>(by: keyof typeof KeyMetrics.conflicts, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const counter = KeyMetrics.conflicts[by]
    const before = yield* Metric.value(counter)
    yield* effect
    return (yield* Metric.value(counter)).count - before.count
  })

/** Stops the node once nothing is under way; every key that was ever minted is bound or back in the pool then, once. */
const expectNoneLost = (stores: Stores, node: TestNode) =>
  Effect.gen(function* () {
    yield* others
    yield* node.stop
    const left = yield* drain(stores)
    const marks = yield* stores.ranges.watermarks
    const all = marks.flatMap(({ length, next, range }) => toStrings(realMinter.mint(length, range, 0, next)))
    const bound = yield* stores.links.takenAmong(all)
    expect([...left, ...bound].toSorted()).toEqual(all.toSorted())
  })

/** The ways to create one link with a minted key. */
const ways: ReadonlyArray<{
  readonly way: string
  readonly create: (node: TestNode) => Effect.Effect<Link, AliasTaken | Unavailable>
}> = [
  { way: "create", create: ({ links }) => links.create(draft()) },
  {
    way: "createThen",
    create: ({ links }) => Effect.async<Link, Unavailable>((resume) => links.createThen(draft(), resume))
  }
]

describe.each(ways)("creating a link by $way", ({ create }) => {
  it.scoped("binds distinct keys for 300 creates at once, which every node shows at once", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const other = yield* startNode(stores)
      const before = yield* Metric.value(linksCreated)
      const links = yield* Effect.forEach(
        Array.from({ length: 300 }),
        () =>
          Effect.tap(create(node), ({ key, url }) =>
            Effect.forEach([node, other], ({ links }) =>
              Effect.map(links.find(key), (link) => expect(link?.url).toBe(url))
            )
          ),
        { concurrency: "unbounded" }
      )
      expect(new Set(links.map(({ key }) => key)).size).toBe(300)
      expect((yield* Metric.value(linksCreated)).count - before.count).toBe(300)
    })
  )

  it.scoped("sends no message for it, wherever the owner of its partition lives", () =>
    Effect.gen(function* () {
      const came = (message: string) =>
        Metered.read(
          Metered.counter("linkmint_actor_messages_total", "Messages that came to actors of this node", {
            actor: "UrlMapping",
            message
          })
        ).count
      const count = () => came("CreateMany") + came("ResolveMany")
      const node = yield* startNode(yield* freshStores(), {}, ownersElsewhere)
      const before = count()
      const { key } = yield* create(node)
      expect((yield* node.links.find(key))?.key).toBe(key)
      expect(count()).toBe(before)
    })
  )

  it.scoped("refuses an alias that is in use, or was", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* node.links.create(draft("mine"))
      const taken = new AliasTaken({ alias: "mine" })
      expect(yield* Effect.flip(node.links.create(draft("mine")))).toEqual(taken)
      expect(yield* node.links.remove("mine")).toBe(true)
      expect(yield* Effect.flip(node.links.create(draft("mine")))).toEqual(taken)
    })
  )

  it.scoped.each([
    { by: "alias" as const, custom: true },
    { by: "key" as const, custom: false }
  ])("takes the next key where one is bound, and counts it: by $by", ({ by, custom }) =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const [first, second] = firstKeys(2)
      if (custom) yield* node.links.create(draft(first))
      else yield* stores.links.insertMany([rowOf(first!, false)])
      const creating = Effect.tap(create(node), ({ key }) => expect(key).toBe(second))
      expect(yield* conflicts(by, creating)).toBe(1)
      expect(yield* conflicts(custom ? "key" : "alias", create(node))).toBe(0)
      expect((yield* node.links.find(first!))?.custom).toBe(custom)
    })
  )

  it.scoped("counts a conflict with a holder that cannot be read by itself", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* stores.links.insertMany([rowOf(firstKeys(1)[0]!, true)])
      node.faults.set(always("refuse", "LinkStore.findMany"))
      expect(yield* conflicts("unknown", create(node))).toBe(1)
    })
  )

  it.scoped("gives up after eight keys in a row were bound, and goes on with the ninth", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* stores.links.insertMany(firstKeys(8).map((key) => rowOf(key, true)))
      const creating = Effect.tap(Effect.flip(create(node)), (error) =>
        expect(error).toMatchObject({ _tag: "Unavailable", applied: "no" })
      )
      expect(yield* conflicts("alias", creating)).toBe(8)
      expect((yield* create(node)).key).toBe(firstKeys(9)[8])
    })
  )

  it.scoped(
    "drops the bound keys that it holds when one came twice, counts them, and needs no other create to fail",
    () =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        yield* stores.links.insertMany(firstKeys(8).map((key) => rowOf(key, false)))
        const creating = Effect.tap(create(node), ({ key }) => expect(key).toBe(firstKeys(9)[8]))
        expect(yield* conflicts("key", creating)).toBe(8)
      })
  )
})

describe.each(ways)("the key of a create by $way", ({ create }) => {
  it.scoped("is in the buffer again as soon as the store has refused the link", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      node.faults.set(always("refuse", "LinkStore.insertMany", "LinkStore.takenAmong"))
      const level = yield* node.buffer.held
      expect(yield* Effect.flip(create(node))).toMatchObject({ applied: "no" })
      expect(yield* node.buffer.level).toBe(level)
      node.faults.set()
      const made = yield* Effect.replicateEffect(create(node), level)
      expect(made.map(({ key }) => key)).toContain(firstKeys(1)[0])
      yield* expectNoneLost(stores, node)
    })
  )
})

describe("creating many links", () => {
  const manyDrafts = Array.from({ length: 300 }, () => draft())

  it.scoped("binds distinct keys, which every node shows at once", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const other = yield* startNode(stores)
      const before = yield* Metric.value(linksCreated)
      const links = (yield* node.links.createMany(manyDrafts)).map(Either.getOrThrow)
      expect(new Set(links.map(({ key }) => key)).size).toBe(300)
      for (const { key, url } of links) expect((yield* other.links.find(key))?.url).toBe(url)
      expect((yield* Metric.value(linksCreated)).count - before.count).toBe(300)
      expect(yield* node.links.createMany([])).toEqual([])
      yield* expectNoneLost(stores, node)
    })
  )

  it.scoped("takes other keys for those that are bound, and counts them", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const [first, second, third] = firstKeys(3)
      yield* stores.links.insertMany([rowOf(first!, true), rowOf(third!, true)])
      const creating = Effect.tap(node.links.createMany([draft(), draft(), draft()]), (made) => {
        const keys = made.map((link) => Either.getOrThrow(link).key)
        expect(keys[1]).toBe(second)
        expect(new Set([first, ...keys, third]).size).toBe(5)
      })
      expect(yield* conflicts("alias", creating)).toBe(2)
    })
  )

  it.scoped.each(["refuse", "lose"] as const)(
    "fails each by itself, loses no key and counts those of unknown fate when the link store answers: %s",
    (verdict) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        node.faults.set(always(verdict, "LinkStore.insertMany"))
        const before = yield* Metric.value(KeyMetrics.lost["unknown-outcome"])
        expect((yield* node.links.createMany(manyDrafts)).every(Either.isLeft)).toBe(true)
        const { count } = yield* Metric.value(KeyMetrics.lost["unknown-outcome"])
        expect(count - before.count).toBe(verdict === "lose" ? manyDrafts.length : 0)
        node.faults.set()
        expect((yield* node.links.createMany(manyDrafts)).every(Either.isRight)).toBe(true)
        yield* expectNoneLost(stores, node)
      })
  )

  it.scoped("says at once that no pool shard has keys", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ shards: 2 }))
      node.faults.set(always("refuse", "KeyPool.lease"))
      const made = yield* node.links.createMany(manyDrafts)
      expect(made.length).toBe(manyDrafts.length)
      for (const failed of made) expect(Either.getLeft(failed)).toMatchObject({ value: { applied: "no" } })
    })
  )
})

describe.each(ways)("creating a link by $way while something fails", ({ create }) => {
  it.scoped.each(["refuse", "lose", "die"] as const)(
    "loses no key when the link store answers: %s",
    (verdict) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        node.faults.set(always(verdict, "LinkStore.insertMany"))
        for (let turn = 0; turn < 20; turn++) {
          expect((yield* Effect.exit(create(node)))._tag).toBe("Failure")
        }
        node.faults.set()
        yield* create(node)
        yield* expectNoneLost(stores, node)
      })
  )

  it.scoped.each(["refuse", "lose"] as const)(
    "is unavailable while every store answers `%s`, and works again by itself",
    (verdict) =>
      Effect.gen(function* () {
        const node = yield* startNode(yield* freshStores())
        const link = yield* create(node)
        node.cache.forget(link.key)
        node.faults.set(all(verdict))
        for (let turn = 0; turn < 30; turn++) {
          expect(yield* Effect.flip(create(node))).toMatchObject({ _tag: "Unavailable" })
        }
        expect(yield* Effect.flip(node.links.remove("none"))).toMatchObject({ _tag: "Unavailable" })
        expect(yield* Effect.flip(node.links.find("none"))).toMatchObject({ _tag: "Unavailable" })
        node.faults.set()
        yield* create(node)
        expect(yield* node.links.find(link.key)).toMatchObject({ key: link.key })
        expect(yield* node.links.remove(link.key)).toBe(true)
      })
  )

  it.scoped("goes on while all pool shards are away, and gets a key when one is back", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ shards: 2 }))
      node.faults.set(always("hang", "KeyPool.lease"))
      const creating = yield* Effect.fork(create(node))
      yield* node.faults.called("KeyPool.lease")
      // Each shard is given up after 1 s.
      yield* TestClock.adjust("1 seconds")
      yield* node.faults.called("KeyPool.lease", 2)
      yield* TestClock.adjust("1 seconds")
      yield* others
      node.faults.set()
      expect((yield* joinInTime(creating)).key).toMatch(/^\w{7}$/)
    })
  )

  const writes = {
    "LinkStore.updateMany": (node: TestNode, key: string) =>
      Effect.map(node.links.update(key, null, { title: "new" }), (link) => link?.title === "new"),
    "LinkStore.deleteMany": (node: TestNode, key: string) => node.links.remove(key)
  }

  it.scoped.each(["LinkStore.updateMany", "LinkStore.deleteMany"] as const)(
    "goes on while the owner of a link that is written is away, and writes it once (%s)",
    (operation) =>
      Effect.gen(function* () {
        const node = yield* startNode(yield* freshStores())
        const { key } = yield* create(node)
        node.faults.set(always("stop", operation))
        const writing = yield* Effect.fork(writes[operation](node, key))
        yield* node.faults.called(operation)
        yield* others
        node.faults.set()
        // What was applied the first time is known by its id.
        expect(yield* joinInTime(writing)).toBe(true)
        expect(yield* Clock.currentTimeMillis).toBeLessThan(4_000)
      })
  )

  it.scoped("goes on while its statements are given up, and binds when they are not", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      node.faults.set(always("stop", "LinkStore.insertMany"))
      const creating = yield* Effect.fork(create(node))
      yield* others
      yield* TestClock.adjust("1 seconds")
      yield* others
      node.faults.set()
      expect((yield* joinInTime(creating)).key).toMatch(/^\w{7}$/)
      expect(yield* Clock.currentTimeMillis).toBeLessThan(4_000)
    })
  )

  it.scoped("says at once that no pool shard has keys", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ shards: 2 }))
      node.faults.set(always("refuse", "KeyPool.lease"))
      expect(yield* Effect.flip(create(node))).toMatchObject({
        _tag: "Unavailable",
        applied: "no"
      })
    })
  )

  it.scoped("gives up in time when all pool shards stay away", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores({ shards: 2 }))
      node.faults.set(always("hang", "KeyPool.lease"))
      const creating = yield* Effect.fork(Effect.flip(create(node)))
      expect(yield* joinInTime(creating)).toMatchObject({ _tag: "Unavailable" })
      expect(yield* Clock.currentTimeMillis).toBeLessThan(5_000)
    })
  )
})

describe("a change that takes longer than its caller waits", () => {
  /** A node alone hears of a change by the change alone. Its store takes 10 s for one. */
  const begun = (
    operation: "LinkStore.updateMany" | "LinkStore.deleteMany",
    change: (node: TestNode) => Effect.Effect<unknown, Unavailable>
  ) =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* node.links.create(draft("mine"))
      yield* node.links.findToRedirect("mine")
      node.faults.set(always(Effect.sleep("10 seconds"), operation))
      const changing = yield* Effect.fork(Effect.exit(change(node)))
      yield* node.faults.called(operation)
      return { node, changing }
    })

  const update = ({ links }: TestNode) => links.update("mine", null, { url: "https://example.com/new" })
  const remove = ({ links }: TestNode) => links.remove("mine")

  const expectSilent = (changing: Fiber.RuntimeFiber<Exit.Exit<unknown, Unavailable>>) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("4 seconds")
      const exit = yield* Fiber.join(changing)
      expect(exit).toMatchObject({ cause: { error: { applied: "unknown", away: true } } })
    })

  it.scoped("redirects to the new target once it is there, also where the old one was read meanwhile", () =>
    Effect.gen(function* () {
      const { changing, node } = yield* begun("LinkStore.updateMany", update)
      yield* expectSilent(changing)
      expect((yield* node.links.findToRedirect("mine"))?.url).toBe("https://example.com/mine")
      yield* TestClock.adjust("6 seconds")
      yield* others
      expect((yield* node.links.findToRedirect("mine"))?.url).toBe("https://example.com/new")
      expect((yield* node.links.find("mine"))?.url).toBe("https://example.com/new")
    })
  )

  it.scoped("redirects no longer once the link is deleted, also where it was read meanwhile", () =>
    Effect.gen(function* () {
      const { changing, node } = yield* begun("LinkStore.deleteMany", remove)
      yield* expectSilent(changing)
      expect((yield* node.links.findToRedirect("mine"))?.deletedAt).toBeNull()
      yield* TestClock.adjust("6 seconds")
      yield* others
      expect((yield* node.links.findToRedirect("mine"))?.deletedAt).not.toBeNull()
    })
  )

  it.scoped("goes on where its caller leaves before the answer", () =>
    Effect.gen(function* () {
      const { changing, node } = yield* begun("LinkStore.updateMany", update)
      yield* Fiber.interrupt(changing)
      yield* TestClock.adjust("5 seconds")
      expect((yield* node.links.findToRedirect("mine"))?.url).toBe("https://example.com/mine")
      yield* TestClock.adjust("5 seconds")
      yield* others
      expect((yield* node.links.findToRedirect("mine"))?.url).toBe("https://example.com/new")
    })
  )

  it.scoped("does not hold up the node's stop", () =>
    Effect.gen(function* () {
      const { changing, node } = yield* begun("LinkStore.updateMany", update)
      node.faults.set(always("hang", "LinkStore.updateMany"))
      const hanging = yield* Effect.fork(Effect.exit(update(node)))
      yield* node.faults.called("LinkStore.updateMany", 2)
      yield* expectSilent(changing)
      yield* Fiber.join(hanging)
      const before = yield* Clock.currentTimeMillis
      yield* node.stop
      expect((yield* Clock.currentTimeMillis) - before).toBeLessThanOrEqual(5_000)
    })
  )
})

describe("creating links for callers who leave", () => {
  it.scoped.prop(
    "loses no key, at whatever moment they leave",
    [
      fc.array(
        fc.record({
          steps: fc.nat(500),
          refuses: fc.boolean(),
          by: fc.constantFrom("create", "createThen", "createMany")
        }),
        {
          minLength: 1,
          maxLength: 12
        }
      )
    ],
    ([callers]) =>
      Effect.gen(function* () {
        const stores = yield* freshStores()
        const node = yield* startNode(stores)
        for (const { by, refuses, steps } of callers) {
          const scheduler = new StepScheduler()
          /** Lets what the create has started go on for some steps, and everything else as far as it comes. */
          const go = (steps: number) =>
            Effect.gen(function* () {
              for (let step = 0, idle = 0; step < steps && idle < 50;) {
                if (scheduler.step()) step++
                else idle++
                yield* Effect.yieldNow()
              }
            })
          node.faults.set(always(refuses ? "refuse" : "pass", "LinkStore.insertMany"))
          const one = ways.find(({ way }) => way === by)
          const creating =
            one === undefined
              ? Effect.asVoid(node.links.createMany([draft(), draft(), draft()]))
              : Effect.asVoid(one.create(node))
          const caller = yield* Effect.fork(Effect.withScheduler(creating, scheduler))
          yield* go(steps)
          yield* Fiber.interruptFork(caller)
          scheduler.release()
          yield* Fiber.await(caller)
        }
        yield* expectNoneLost(stores, node)
      }),
    { timeout: 60_000, fastCheck: { numRuns: 20 } }
  )
})
