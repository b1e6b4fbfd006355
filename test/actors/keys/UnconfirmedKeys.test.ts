import { expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, TestClock } from "effect"
import * as UnconfirmedKeys from "../../../src/actors/keys/UnconfirmedKeys.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"
import type { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { numbered } from "../../support/samples/SomeKeys.ts"

it.scoped("keeps no more keys of creates that failed than its bound, and those that came first", () =>
  Effect.gen(function* () {
    const unsure = yield* UnconfirmedKeys.make(yield* LinkStoreMemory.make, () => Effect.void)
    const keys = numbered("k", 70_000)
    for (let from = 0; from < keys.length; from += 1_000) yield* unsure.add(keys.slice(from, from + 1_000))
    const kept = yield* unsure.close
    expect(kept.length).toBe(65_536)
    expect(kept.at(-1)).toBe("k65535")
  })
)

it.scoped("gives no key before 5 s are over, when an owner's statement has come to its end", () =>
  Effect.gen(function* () {
    const free: Array<string> = []
    const unsure = yield* UnconfirmedKeys.make(yield* LinkStoreMemory.make, (keys) =>
      Effect.sync(() => void free.push(...keys))
    )
    yield* TestClock.adjust("4 seconds")
    yield* unsure.add(["k"])
    yield* TestClock.adjust("4900 millis")
    expect(free).toEqual([])
    yield* TestClock.adjust("5100 millis")
    expect(free).toEqual(["k"])
  })
)

it.scoped("gives each key once, whether it asks in its time or when it closes", () =>
  Effect.gen(function* () {
    const free: Array<string> = []
    const unsure = yield* UnconfirmedKeys.make(yield* LinkStoreMemory.make, (keys) =>
      Effect.sync(() => void free.push(...keys))
    )
    const keys = numbered("k", 12)
    for (const key of keys) {
      yield* unsure.add([key])
      yield* TestClock.adjust("2 seconds")
    }
    expect(free.length).toBeGreaterThan(3)
    expect([...free, ...(yield* unsure.close)]).toEqual(keys)
    yield* TestClock.adjust("20 seconds")
    expect(free.length).toBeLessThan(12)
  })
)

it.scoped("asks again as it closes where the store fails, for two seconds", () =>
  Effect.gen(function* () {
    const store = yield* LinkStoreMemory.make
    let failures = 3
    const failing: typeof LinkStore.Service = {
      ...store,
      takenAmong: (keys) =>
        Effect.suspend(() =>
          failures-- > 0
            ? new StorageError({ operation: "LinkStore.takenAmong", applied: "no", reason: "no connection" })
            : store.takenAmong(keys)
        )
    }
    const closing = (count: number) =>
      Effect.gen(function* () {
        failures = count
        const unsure = yield* UnconfirmedKeys.make(failing, () => Effect.void)
        yield* unsure.add(["k"])
        const closed = yield* Effect.fork(unsure.close)
        yield* TestClock.adjust("2 seconds")
        return yield* Fiber.join(closed)
      })
    expect(yield* closing(3)).toEqual(["k"])
    expect(yield* closing(100)).toEqual([])
  })
)

it.scoped("gives keys of a database that answers while another one does not, and loses none of either", () =>
  Effect.gen(function* () {
    const store = yield* LinkStoreMemory.make
    /** Keys such as `a0`, `b1`: the letter is the database. */
    const isOfA = (key: string) => key.startsWith("a")
    let isAway = true
    const partly: typeof LinkStore.Service = {
      ...store,
      takenAmong: (keys) =>
        Effect.suspend(() =>
          isAway && !keys.every(isOfA)
            ? new StorageError({ operation: "LinkStore.takenAmong", applied: "no", reason: "no connection" })
            : store.takenAmong(keys)
        )
    }
    const places = Context.get(yield* Effect.context<never>(), LinkPlaces)
    const inTwo = { ...places, databases: 2, lanes: 3, laneOf: (key: string) => (isOfA(key) ? 0 : 1) }
    const free: Array<string> = []
    const unsure = yield* Effect.provideService(
      UnconfirmedKeys.make(partly, (keys) => Effect.sync(() => void free.push(...keys))),
      LinkPlaces,
      inTwo
    )
    yield* unsure.add(["a0", "b0", "a1", "b1"])
    yield* TestClock.adjust("10 seconds")
    expect(free).toEqual(["a0", "a1"])
    yield* unsure.add(["a2", "b2"])
    yield* TestClock.adjust("10 seconds")
    expect(free).toEqual(["a0", "a1", "a2"])
    isAway = false
    yield* TestClock.adjust("10 seconds")
    expect(free).toEqual(["a0", "a1", "a2", "b0", "b1", "b2"])
    isAway = true
    yield* unsure.add(["a3", "b3", "a4", "b4"])
    const closed = yield* Effect.fork(unsure.close)
    yield* TestClock.adjust("2 seconds")
    expect(yield* Fiber.join(closed)).toEqual(["a3", "a4"])
  })
)

it.scoped.each(["while it asks", "when it closes"])(
  "gives back what one database answered where another one is silent, %s",
  (when) =>
    Effect.gen(function* () {
      const store = yield* LinkStoreMemory.make
      const silent: typeof LinkStore.Service = {
        ...store,
        takenAmong: (keys) =>
          keys.some((key) => key.startsWith("b")) ? Effect.never : store.takenAmong(keys)
      }
      const places = Context.get(yield* Effect.context<never>(), LinkPlaces)
      const free: Array<string> = []
      const unsure = yield* Effect.provideService(
        UnconfirmedKeys.make(silent, (keys) => Effect.sync(() => void free.push(...keys))),
        LinkPlaces,
        { ...places, databases: 2, lanes: 3, laneOf: (key) => (key.startsWith("a") ? 0 : 1) }
      )
      yield* unsure.add(["a0", "b0"])
      if (when === "while it asks") {
        yield* TestClock.adjust("10 seconds")
        expect(free).toEqual(["a0"])
        yield* unsure.add(["a1"])
      }
      const closed = yield* Effect.fork(unsure.close)
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(closed)).toEqual([when === "while it asks" ? "a1" : "a0"])
    })
)
