import { expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck as fc, Fiber, Layer } from "effect"
import { describe } from "vitest"
import { type BindOutcome, LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import type { Link } from "../../../src/model/Link.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"
import { guardTimes } from "../../../src/storage/links/GuardedCreates.ts"
import { always, once } from "../../support/ActorFaults.ts"
import {
  freshStores,
  joinInTime,
  others,
  ownersElsewhere,
  startNode,
  type TestNode
} from "../../support/TestNode.ts"
import * as Model from "./UrlMappingModel.ts"
import { plainDraft, plainRow } from "../../support/Plain.ts"

const which = fc.nat(Model.keys.length - 1)
const ms = fc.constantFrom(1, 500, 1_999, 2_000)
const draft = fc.record({ which, custom: fc.boolean(), expiresIn_ms: fc.option(ms) })

const commands = fc.commands(
  [
    fc.array(draft, { minLength: 1, maxLength: 4 }).map(Model.createMany),
    fc.array(draft, { minLength: 1, maxLength: 2 }).map(Model.createMany),
    fc.array(which, { maxLength: 4 }).map(Model.resolve),
    fc.array(which, { maxLength: 2 }).map(Model.resolve),
    which.map(Model.remove),
    fc
      .tuple(which, fc.option(fc.webUrl(), { nil: undefined }), fc.option(ms))
      .map((args) => Model.update(...args)),
    ms.map(Model.passTime),
    fc.constantFrom("kill" as const, "stop" as const).map(Model.restart)
  ],
  { maxCommands: 30, size: "max" }
)

const linkOf = (key: string, custom = true, url = "https://example.com/"): Link => ({
  ...plainRow,
  key,
  url,
  custom,
  createdAt: 1,
  updatedAt: 1
})

const create = (node: TestNode, ...links: ReadonlyArray<Link>) =>
  node.partitionOf(links[0]!.key).CreateMany({ links })

const resolve = (node: TestNode, key: string) =>
  Effect.map(node.partitionOf(key).ResolveMany({ keys: [key] }), ([link]) => link ?? null)

describe("the keeper of a partition", () => {
  it.scoped.prop(
    "creates, shows, deletes and ends links like a map, through restarts",
    [commands, fc.boolean()],
    ([commands, isWatched]) =>
      Effect.gen(function* () {
        const real = yield* Model.startReal(yield* freshStores(), isWatched)
        const model: Model.Model = { rows: new Map() }
        yield* Effect.promise(() => fc.asyncModelRun(() => ({ model, real }), commands))
        yield* Model.checkKeys(model, real, Model.keys)
      }),
    { timeout: 60_000, fastCheck: { numRuns: 6 } }
  )

  it.scoped(
    "says that a message may have been applied of whose links some were bound, or may have been",
    () =>
      Effect.gen(function* () {
        const failed = (applied: "no" | "unknown") =>
          Exit.fail(new Unavailable({ reason: "for the test", applied }))
        const bound: BindOutcome = Exit.succeed("bound")
        let outcomes: ReadonlyArray<BindOutcome> = []
        const owners = Layer.succeed(LocalOwners, {
          of: () => undefined,
          add: () => Effect.void,
          bindThen: (_, answer) => answer(outcomes),
          bindGuarded: () => expect.unreachable()
        })
        const node = yield* startNode(yield* freshStores(), {}, owners)
        const appliedOf = (...some: ReadonlyArray<BindOutcome>) => {
          outcomes = some
          return Effect.map(Effect.flip(create(node, linkOf("a"), linkOf("b"))), (error) =>
            "applied" in error ? error.applied : error._tag
          )
        }
        expect(yield* appliedOf(failed("no"), failed("no"))).toBe("no")
        expect(yield* appliedOf(failed("no"), failed("unknown"))).toBe("unknown")
        expect(yield* appliedOf(bound, failed("no"))).toBe("unknown")
      })
  )

  it.scoped("binds an alias once for 50 creates at once, on two nodes", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const nodes = [yield* startNode(stores), yield* startNode(stores)]
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, caller) => caller),
        (caller) => create(nodes[caller % 2]!, linkOf("alias", true, `https://example.com/${caller}`)),
        { concurrency: "unbounded" }
      )
      const winners = outcomes.flatMap(([outcome], caller) => (outcome === "bound" ? [caller] : []))
      expect(winners.length).toBe(1)
      expect(outcomes.flat().filter((outcome) => outcome === "taken-by-alias").length).toBe(49)
      for (const node of nodes) {
        expect((yield* resolve(node, "alias"))?.url).toBe(`https://example.com/${winners[0]}`)
      }
    })
  )

  it.scoped("deletes a link once for 50 deletes at once", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      const deleted = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => node.partitionOf("k").Delete({ key: "k", at: 9 }),
        { concurrency: "unbounded" }
      )
      expect(deleted.filter(Boolean).length).toBe(1)
      expect(yield* resolve(node, "k")).toEqual({ ...linkOf("k"), deletedAt: 9, updatedAt: 9 })
    })
  )

  it.scoped("shows the tombstone to every question that comes after a delete was answered", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      // Reads that have come to the store wait there while deletes go on.
      node.faults.set(always(Effect.repeatN(Effect.yieldNow(), 40), "LinkStore.findMany"))
      for (let round = 0; round < 20; round++) {
        const key = `k${round}`
        yield* create(node, linkOf(key))
        let isDeleted = false
        const reader = (delay: number) =>
          Effect.gen(function* () {
            yield* Effect.repeatN(Effect.yieldNow(), delay)
            for (let turn = 0; turn < 5; turn++) {
              const mustBeDeleted = isDeleted
              const link = yield* node.links.find(key)
              if (mustBeDeleted) expect(link?.deletedAt).toBe(9)
              if (turn % 2 === 0) node.cache.forget(key)
            }
          })
        const readers = yield* Effect.forEach([0, 7, 30, 55, 90, 140], (delay) => Effect.fork(reader(delay)))
        yield* Effect.repeatN(Effect.yieldNow(), round * 9)
        yield* node.partitionOf(key).Delete({ key, at: 9 })
        // As the news of it would.
        node.cache.forget(key)
        isDeleted = true
        yield* Fiber.join(Fiber.all(readers))
        expect((yield* node.links.find(key))?.deletedAt).toBe(9)
      }
    })
  )

  it.scoped("shows a new link at once where its absence was known", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      expect(yield* node.links.find("k")).toBeNull()
      expect(yield* create(node, linkOf("k"))).toEqual(["bound"])
      expect(yield* node.links.find("k")).toEqual(linkOf("k"))
    })
  )

  it.scoped("asks the store once or twice for an unknown key that many ask for at once", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* Effect.forEach(Array.from({ length: 50 }), () => node.links.find("none"), {
        concurrency: "unbounded"
      })
      const reads = node.faults.operations().filter((operation) => operation === "LinkStore.findMany")
      expect(reads.length).toBeGreaterThan(0)
      expect(reads.length).toBeLessThanOrEqual(2)
    })
  )

  it.scoped.each([
    ["here", undefined],
    ["elsewhere", ownersElsewhere]
  ] as const)("reads links whose owners live %s in one statement, without a message", ([, localOwners]) =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores, {}, localOwners)
      const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`)
      yield* stores.links.insertMany(keys.map((key) => linkOf(key)))
      // A message is what starts an owner.
      for (const key of keys) yield* resolve(node, `unknown-${key}`)
      const messages = Metered.counter(
        "linkmint_actor_messages_total",
        "Messages that came to actors of this node",
        { actor: "UrlMapping", message: "ResolveMany" }
      )
      const reads = () =>
        node.faults.operations().filter((operation) => operation === "LinkStore.findMany").length
      const before = { messages: Metered.read(messages).count, reads: reads() }
      const found = yield* Effect.forEach(keys, node.links.find, { concurrency: "unbounded" })
      expect(found.map((link) => link?.key)).toEqual(keys)
      expect([Metered.read(messages).count - before.messages, reads() - before.reads]).toEqual([0, 1])
    })
  )

  it.scoped("shows a link that an owner bound who is an owner no more", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const [one, other] = [yield* startNode(stores), yield* startNode(stores)]
      expect(yield* one.links.find("k")).toBeNull()
      expect(yield* create(other, linkOf("k"))).toEqual(["bound"])
      expect(yield* one.links.find("k")).toEqual(linkOf("k"))
    })
  )
})

describe("the keeper of a partition, when its store fails", () => {
  it.scoped.each([
    ["refuse", "no", null],
    ["lose", "unknown", "k"]
  ] as const)("says of a create that met `%s` that its fate is: %s", ([verdict, applied, left]) =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      node.faults.set(once("LinkStore.insertMany", verdict))
      expect(yield* Effect.flip(node.links.create({ ...plainDraft, url: "u", alias: "k" }))).toMatchObject({
        _tag: "Unavailable",
        applied
      })
      expect((yield* node.links.find("k"))?.key ?? null).toBe(left)
    })
  )

  it.scoped("is asked again for an alias when it stopped on the way, and knows its own row", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      node.faults.set(once("LinkStore.insertMany", "stop"))
      const creating = yield* Effect.fork(node.links.create({ ...plainDraft, url: "u", alias: "k" }))
      expect((yield* joinInTime(creating)).key).toBe("k")
      expect((yield* node.links.find("k"))?.url).toBe("u")
    })
  )

  it.scoped("does not fail what it has bound because it cannot tell who holds another key", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* stores.links.insertMany([linkOf(Model.keys[0]!)])
      node.faults.set(always("refuse", "LinkStore.findMany"))
      expect(yield* create(node, linkOf(Model.keys[0]!), linkOf(Model.keys[1]!))).toEqual(["taken", "bound"])
    })
  )

  it.scoped("finishes a delete whose caller has left, and shows it", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      const latch = yield* Effect.makeLatch()
      node.faults.set(always(latch.await, "LinkStore.deleteMany"))
      const caller = yield* Effect.fork(node.links.remove("k"))
      yield* others
      yield* Fiber.interrupt(caller)
      expect((yield* node.links.find("k"))?.deletedAt).toBeNull()
      yield* latch.open
      yield* others
      expect((yield* node.links.find("k"))?.deletedAt).not.toBeNull()
    })
  )

  it.scoped("answers a delete whose message comes twice like the first time, and another one not", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      const remove = (deleteId: number) => node.partitionOf("k").Delete({ key: "k", at: 9, deleteId })
      expect([yield* remove(1), yield* remove(1), yield* remove(2)]).toEqual([true, true, false])
      expect(yield* node.links.remove("k")).toBe(false)
    })
  )

  it.scoped(
    "answers a guarded create whose message comes twice like the first time, and shows what became of the link since",
    () =>
      Effect.gen(function* () {
        const node = yield* startNode(yield* freshStores())
        const guard = { name: "g", token: 1 }
        yield* node.guards.beginMany([{ ...guard, ...guardTimes, fingerprint: "f" }])
        const bind = node
          .partitionOf("k")
          .CreateGuarded({ links: [{ link: linkOf("k"), guards: [guard], answer: "201" }] })
        expect(yield* bind).toEqual(["bound"])
        expect(yield* node.links.remove("k")).toBe(true)
        expect(yield* bind).toEqual(["bound"])
        expect((yield* resolve(node, "k"))?.deletedAt).not.toBeNull()
      })
  )

  const update = (node: TestNode, updateId: number, url: string) =>
    node.partitionOf("k").Update({ key: "k", owner: null, at: 9, change: { url }, updateId })

  it.scoped("answers a change whose message comes twice with the link, and does not undo a later one", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      expect((yield* update(node, 1, "https://one/"))?.url).toBe("https://one/")
      expect((yield* update(node, 2, "https://two/"))?.url).toBe("https://two/")
      expect((yield* update(node, 1, "https://one/"))?.url).toBe("https://two/")
      expect((yield* node.links.find("k"))?.url).toBe("https://two/")
    })
  )

  it.scoped("finishes a change whose caller has left, and shows it", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      const latch = yield* Effect.makeLatch()
      node.faults.set(always(latch.await, "LinkStore.updateMany"))
      const caller = yield* Effect.fork(node.links.update("k", null, { url: "https://changed/" }))
      yield* others
      yield* Fiber.interrupt(caller)
      expect((yield* node.links.find("k"))?.url).toBe("https://example.com/")
      yield* latch.open
      yield* others
      expect((yield* node.links.find("k"))?.url).toBe("https://changed/")
    })
  )

  it.scoped("shows a change whose answer was lost", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      yield* node.links.find("k")
      node.faults.set(once("LinkStore.updateMany", "lose"))
      const failed = yield* Effect.flip(node.links.update("k", null, { url: "https://changed/" }))
      expect(failed).toMatchObject({ applied: "unknown" })
      expect((yield* node.links.find("k"))?.url).toBe("https://changed/")
      expect((yield* resolve(node, "k"))?.url).toBe("https://changed/")
    })
  )

  it.scoped("gives up a change that its owner does not answer", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      node.faults.set(always("hang", "LinkStore.updateMany"))
      const changing = yield* Effect.fork(Effect.flip(node.links.update("k", null, { url: "u" })))
      expect(yield* joinInTime(changing)).toMatchObject({ applied: "unknown" })
    })
  )

  it.scoped("reads no old row after a change that was acknowledged while a read was under way", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      yield* stores.links.insertMany([linkOf("k")])
      const latch = yield* Effect.makeLatch()
      const stale = yield* stores.links.findMany(["k"])
      const links = stores.links as { findMany: typeof stores.links.findMany }
      const { findMany } = links
      node.faults.set(once("LinkStore.findMany", latch.await))
      const early = yield* Effect.fork(node.links.find("k"))
      yield* others
      links.findMany = () => Effect.succeed(stale)
      yield* node.links.update("k", null, { url: "https://changed/" })
      yield* latch.open
      yield* others
      yield* Fiber.join(early)
      links.findMany = findMany
      expect((yield* node.links.find("k"))?.url).toBe("https://changed/")
    })
  )

  it.scoped("shows a delete whose answer was lost", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      yield* node.links.find("k")
      node.faults.set(once("LinkStore.deleteMany", "lose"))
      expect(yield* Effect.flip(node.links.remove("k"))).toMatchObject({ applied: "unknown" })
      expect((yield* node.links.find("k"))?.deletedAt).not.toBeNull()
      expect(yield* node.links.remove("k")).toBe(false)
    })
  )

  it.scoped("fails the request that met a defect, and no other", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      yield* create(node, linkOf("k"))
      const latch = yield* Effect.makeLatch()
      node.faults.set(({ operation }) => {
        if (operation === "LinkStore.deleteMany") return "die"
        return operation === "LinkStore.insertMany" ? latch.await : "pass"
      })
      const creating = yield* Effect.fork(create(node, linkOf(Model.keys[0]!)))
      yield* others
      expect((yield* Effect.exit(node.links.remove("k")))._tag).toBe("Failure")
      yield* latch.open
      expect(yield* Fiber.join(creating)).toEqual(["bound"])
      expect((yield* node.links.find("k"))?.deletedAt).not.toBeNull()
    })
  )
})
