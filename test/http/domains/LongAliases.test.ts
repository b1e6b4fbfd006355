import { expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as Domains from "../../../src/http/domains/Domains.ts"
import * as LongAliases from "../../../src/http/domains/LongAliases.ts"
import * as DomainStoreMemory from "../../../src/sim/stores/DomainStoreMemory.ts"
import { DomainStore } from "../../../src/storage/domains/DomainStore.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"

const nodes = Effect.gen(function* () {
  const store = yield* DomainStoreMemory.make
  const node = (known: Domains.KnownDomains, isAlone: boolean) =>
    Effect.provideService(LongAliases.make(known, isAlone), DomainStore, store)
  /** One that reads what is noted, unless it is cut off. */
  const reading = (isCut = () => false) => {
    const known = new Domains.KnownDomains()
    const noAnswer = new StorageError({ operation: "read", applied: "no", reason: "no answer" })
    const read: typeof store.read = (version) =>
      Effect.suspend(() => (isCut() ? Effect.delay(noAnswer, "4 seconds") : store.read(version)))
    return Effect.zipRight(
      Effect.provideService(Domains.make(known), DomainStore, { ...store, read }),
      node(known, false)
    )
  }
  return { store, node, reading }
})

it.scoped(
  "The first alias of several segments in a domain waits until all nodes have read that there are some",
  () =>
    Effect.gen(function* () {
      const { reading, store } = yield* nodes
      const { areIn, prepare } = yield* reading()
      expect(areIn(3)).toBe(false)
      const first = yield* Effect.fork(prepare(3))
      yield* TestClock.adjust(1_999)
      expect(areIn(3)).toBe(true)
      expect((yield* store.read(null))!.longAliasesIn).toEqual([3])
      // Nor does another one go before.
      const second = yield* Effect.fork(prepare(3))
      yield* Effect.yieldNow()
      expect([first.unsafePoll(), second.unsafePoll()]).toEqual([null, null])
      yield* TestClock.adjust(1)
      yield* Fiber.joinAll([first, second])
      yield* prepare(3)
      expect(areIn(0)).toBe(false)
    })
)

it.scoped(
  "A node that does not read what others note goes by every domain's having some, until it reads again",
  () =>
    Effect.gen(function* () {
      const { reading } = yield* nodes
      let isCut = false
      const { areIn, isBehind } = yield* reading(() => isCut)
      const { prepare } = yield* reading()
      yield* TestClock.adjust("1 minute")
      expect(isBehind()).toBe(false)
      isCut = true
      yield* TestClock.adjust("1 second")
      const first = yield* Effect.fork(prepare(3))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(first)
      expect([areIn(3), isBehind()]).toEqual([false, true])
      isCut = false
      yield* TestClock.adjust("5 seconds")
      expect([areIn(3), isBehind()]).toEqual([true, false])
    })
)

it.effect("A domain is noted by the next create where the database failed at the first one", () =>
  Effect.gen(function* () {
    const { store } = yield* nodes
    let isAway = true
    const failure = new StorageError({ operation: "addLongAliases", applied: "no", reason: "no answer" })
    const addLongAliases: typeof store.addLongAliases = (domain) =>
      Effect.suspend(() => (isAway ? failure : store.addLongAliases(domain)))
    const known = new Domains.KnownDomains()
    const { prepare } = yield* Effect.provideService(LongAliases.make(known, true), DomainStore, {
      ...store,
      addLongAliases
    })
    expect(yield* Effect.flip(prepare(3))).toMatchObject({ reason: "no answer" })
    isAway = false
    yield* prepare(3)
    expect((yield* store.read(null))!.longAliasesIn).toEqual([3])
  })
)

it.effect("A node that begins when a domain has some waits no longer than since its beginning", () =>
  Effect.gen(function* () {
    const { node, store } = yield* nodes
    yield* store.addLongAliases(0)
    const known = new Domains.KnownDomains()
    known.set((yield* store.read(null))!)
    const { prepare } = yield* node(known, false)
    yield* TestClock.adjust(2_000)
    yield* prepare(0)
  })
)

it.effect("A node that is alone does not wait", () =>
  Effect.gen(function* () {
    const { node } = yield* nodes
    const { areIn, prepare } = yield* node(new Domains.KnownDomains(), true)
    yield* prepare(0)
    expect(areIn(0)).toBe(true)
  })
)
