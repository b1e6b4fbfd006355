import { expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { KnownDomains } from "../../../src/http/domains/Domains.ts"
import * as LongAliases from "../../../src/http/domains/LongAliases.ts"
import * as DomainStoreMemory from "../../../src/sim/stores/DomainStoreMemory.ts"
import { DomainStore } from "../../../src/storage/domains/DomainStore.ts"

const nodes = Effect.gen(function* () {
  const store = yield* DomainStoreMemory.make
  const node = (known: KnownDomains, isAlone: boolean) =>
    Effect.provideService(LongAliases.make(known, isAlone), DomainStore, store)
  return { store, node }
})

it.effect(
  "The first alias of several segments in a domain waits until all nodes have read that there are some",
  () =>
    Effect.gen(function* () {
      const { node, store } = yield* nodes
      const known = new KnownDomains()
      const { areIn, prepare } = yield* node(known, false)
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

it.effect("A node that begins when a domain has some waits no longer than since its beginning", () =>
  Effect.gen(function* () {
    const { node, store } = yield* nodes
    yield* store.addLongAliases(0)
    const known = new KnownDomains()
    known.set((yield* store.read(null))!)
    const { prepare } = yield* node(known, false)
    yield* TestClock.adjust(2_000)
    yield* prepare(0)
  })
)

it.effect("A node that is alone does not wait", () =>
  Effect.gen(function* () {
    const { node } = yield* nodes
    const { areIn, prepare } = yield* node(new KnownDomains(), true)
    yield* prepare(0)
    expect(areIn(0)).toBe(true)
  })
)
