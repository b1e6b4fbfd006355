import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { describe } from "vitest"
import type { KeyBuffer } from "../../../src/actors/keys/KeyBuffer.ts"
import * as KeyChoice from "../../../src/actors/keys/KeyChoice.ts"
import { joinInTime, others } from "../../support/TestNode.ts"
import { LinkPlaces, type LinkPlacesService } from "../../../src/storage/homes/LinkPlaces.ts"

/** Keys such as `a0`, `b1`: the letter is the database. */
const places = (open: Set<string>): LinkPlacesService => ({
  databases: 2,
  lanes: 3,
  laneOf: (key) => (key.startsWith("a") ? 0 : 1),
  laneOfName: (name) => (name.startsWith("a") ? 0 : 1),
  isOpen: (key) => open.has(key[0]!),
  isOpenBeside: (key, name) => open.has(key[0]!) && key[0] === name[0]
})

const bufferOf = (keys: Array<string>, bound: ReadonlySet<string>) => {
  const withoutBound = (some: ReadonlyArray<string>) =>
    Effect.sync(() => some.filter((key) => !bound.has(key)))
  const buffer = {
    withoutBound,
    dropBound: Effect.suspend(() =>
      Effect.map(withoutBound(keys.splice(0)), (free) => void keys.push(...free))
    ),
    takeNow: () => keys.shift(),
    takeMany: (count: number) => Effect.sync(() => keys.splice(0, count)),
    putBack: (back: ReadonlyArray<string>) => Effect.sync(() => void keys.push(...back))
  }
  return buffer as unknown as typeof KeyBuffer.Service
}

const opened = (
  keys: Array<string>,
  open: Set<string>,
  scope: Scope.Scope,
  bound: ReadonlySet<string> = new Set()
) =>
  KeyChoice.make(bufferOf(keys, bound)).pipe(
    Effect.provideService(LinkPlaces, places(open)),
    Effect.provideService(Scope.Scope, scope)
  )

describe("the choice of keys", () => {
  it.scoped("takes keys of databases that are open, and the others when these are", () =>
    Effect.gen(function* () {
      const open = new Set(["a"])
      const { takeMany, takeNow } = yield* opened(
        ["b0", "b1", "a0", "b2", "a1", "a2"],
        open,
        yield* Effect.scope
      )
      expect(takeNow()).toBe("a0")
      expect(yield* takeMany(2)).toEqual(["a1"])
      open.add("b")
      expect(yield* takeMany(2)).toHaveLength(2)
      expect([takeNow(), takeNow(), takeNow()].toSorted()).toEqual(["a2", "b0", undefined])
    })
  )

  it.scoped("takes many in a row that are of one database", () =>
    Effect.gen(function* () {
      // Every third key is of `a`.
      const keys = Array.from({ length: 600 }, (_, index) => `${index % 3 === 0 ? "a" : "b"}${index}`)
      const { takeNow } = yield* opened([...keys], new Set(["a", "b"]), yield* Effect.scope)
      const taken = keys.map(() => takeNow()!)
      expect(taken.toSorted()).toEqual(keys.toSorted())
      expect(takeNow()).toBeUndefined()
      const changes = taken.filter((key, index) => index > 0 && key[0] !== taken[index - 1]![0]).length
      expect(changes).toBeLessThan(30)
    })
  )

  it.scoped("drops keys that are bound already, whether they are put aside or not, and loses no other", () =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 60 }, (_, index) => `${index % 2 === 0 ? "a" : "b"}${index}`)
      // A pool that has forgotten what it handed out hands it out again in the same order.
      const bound = new Set(keys.slice(0, 40))
      const scope = yield* Effect.scope
      const { dropBound, takeNow } = yield* opened([...keys], new Set(["a", "b"]), scope, bound)
      // Keys of the other database are put aside meanwhile.
      for (let times = 0; times < 6; times++) expect(bound.has(takeNow()!)).toBe(true)
      yield* dropBound
      const taken = keys.map(() => takeNow()).filter((key) => key !== undefined)
      expect(taken.toSorted()).toEqual(keys.slice(40).toSorted())
    })
  )

  it.scoped("takes a key that lies beside a guard, and loses none on the way", () =>
    Effect.gen(function* () {
      const keys = ["a0", "a1", "a2", "b0", "b1"]
      const { takeMany, takeNow } = yield* opened(keys, new Set(["a", "b"]), yield* Effect.scope)
      expect(yield* takeMany(1, "b's guard")).toEqual(["b0"])
      expect(yield* takeMany(1, "b's guard")).toEqual(["b1"])
      expect([takeNow(), takeNow(), takeNow(), takeNow()].toSorted()).toEqual(["a0", "a1", "a2", undefined])
    })
  )

  it.effect("puts back what it put aside when it ends", () =>
    Effect.gen(function* () {
      const keys = ["b0", "a0", "b1"]
      const scope = yield* Scope.make()
      const { takeNow } = yield* opened(keys, new Set(["a"]), scope)
      expect([takeNow(), takeNow()]).toEqual(["a0", undefined])
      expect(keys).toEqual([])
      yield* Scope.close(scope, Exit.void)
      expect(keys.toSorted()).toEqual(["b0", "b1"])
    })
  )

  it.effect("ends within bounds while it looks for bound keys, loses none, and looks no more", () =>
    Effect.gen(function* () {
      const keys = ["b0", "a0", "b1"]
      const scope = yield* Scope.make()
      let looks = 0
      const silent = {
        ...bufferOf(keys, new Set()),
        dropBound: Effect.void,
        withoutBound: () => Effect.suspend(() => (looks++, Effect.never))
      }
      const { dropBound, takeNow } = yield* KeyChoice.make(silent).pipe(
        Effect.provideService(LinkPlaces, places(new Set(["a"]))),
        Effect.provideService(Scope.Scope, scope)
      )
      expect([takeNow(), takeNow()]).toEqual(["a0", undefined])
      yield* Effect.fork(dropBound)
      yield* others
      yield* joinInTime(yield* Effect.fork(Scope.close(scope, Exit.void)))
      expect(keys.toSorted()).toEqual(["b0", "b1"])
      yield* dropBound
      expect(looks).toBe(1)
    })
  )

  it.effect("loses no key to a create that still looks for one when it ends", () =>
    Effect.gen(function* () {
      const keys = ["b0", "b1", "a0"]
      const scope = yield* Scope.make()
      const latch = yield* Effect.makeLatch()
      const buffer = bufferOf(keys, new Set())
      const slow = {
        ...buffer,
        takeMany: (count: number) => Effect.zipRight(latch.await, buffer.takeMany(count))
      }
      const { takeMany, takeNow } = yield* KeyChoice.make(slow).pipe(
        Effect.provideService(LinkPlaces, places(new Set(["a"]))),
        Effect.provideService(Scope.Scope, scope)
      )
      const looking = yield* Effect.fork(Effect.flip(takeMany(2)))
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      yield* latch.open
      expect(yield* Fiber.join(looking)).toMatchObject({ applied: "no" })
      expect(takeNow()).toBeUndefined()
      expect(yield* Effect.flip(takeMany(1))).toMatchObject({ applied: "no" })
      expect(keys.toSorted()).toEqual(["a0", "b0", "b1"])
    })
  )

  it.scoped("gives up where no key will do", () =>
    Effect.gen(function* () {
      let made = 0
      const endless = {
        takeMany: (count: number) => Effect.sync(() => Array.from({ length: count }, () => `b${made++}`)),
        putBack: () => Effect.void
      } as unknown as typeof KeyBuffer.Service
      const { takeMany } = yield* Effect.provideService(
        KeyChoice.make(endless),
        LinkPlaces,
        places(new Set(["a"]))
      )
      expect(yield* Effect.flip(takeMany(100))).toMatchObject({ applied: "no", away: true })
      expect(made).toBeLessThan(5_000)
    })
  )

  /** Keys of both databases without end: of `a` every `nth`. */
  const endless = (nth: number) => {
    let made = 0
    const next = () => `${made++ % nth === 0 ? "a" : "b"}${made}`
    const back: Array<string> = []
    const take = () => back.shift() ?? next()
    const buffer = {
      takeNow: take,
      takeMany: (count: number) => Effect.sync(() => Array.from({ length: count }, take)),
      putBack: (keys: ReadonlyArray<string>) => Effect.sync(() => void back.push(...keys))
    } as unknown as typeof KeyBuffer.Service
    return { buffer, made: () => made }
  }

  const over = (buffer: typeof KeyBuffer.Service, open: ReadonlyArray<string>) =>
    Effect.provideService(KeyChoice.make(buffer), LinkPlaces, places(new Set(open)))

  /** The next key, as a create takes it. */
  const next = ({ takeMany, takeNow }: KeyChoice.KeyChoice) =>
    Effect.suspend(() => {
      const key = takeNow()
      return key === undefined ? Effect.map(takeMany(1), ([key]) => key!) : Effect.succeed(key)
    })

  it.scoped("prefers keys of other databases while one refuses links, and takes its keys later", () =>
    Effect.gen(function* () {
      const choice = yield* over(endless(4).buffer, ["a", "b"])
      const first = yield* choice.takeMany(200)
      const refused = first.filter((key) => key.startsWith("b"))
      expect(refused).toHaveLength(150)
      yield* choice.refused(refused)
      const taken = new Set<string>()
      for (let times = 0; times < 300; times++) taken.add(yield* next(choice))
      for (let times = 0; times < 30; times++) {
        for (const key of yield* choice.takeMany(10)) taken.add(key)
        for (const key of yield* choice.takeMany(1, "a's guard")) taken.add(key)
      }
      expect([...taken].filter((key) => !key.startsWith("a"))).toEqual([])
      expect(taken.size).toBeGreaterThan(400)
      yield* TestClock.adjust("1 seconds")
      const later = yield* choice.takeMany(5_000)
      expect(later).toEqual(expect.arrayContaining(refused))
    })
  )

  it.scoped("uses up no keys where all databases refuse links, or those that answer", () =>
    Effect.gen(function* () {
      for (const open of [["a", "b"], ["b"]]) {
        const { buffer, made } = endless(2)
        const choice = yield* over(buffer, open)
        for (let times = 0; times < 3_000; times++) {
          const keys = times % 2 === 0 ? [yield* next(choice)] : yield* choice.takeMany(20)
          expect(keys.every((key) => open.includes(key[0]!))).toBe(true)
          yield* choice.refused(keys)
        }
        expect(made()).toBeLessThan(300)
      }
    })
  )

  it.scoped("looks seldom for keys of a database that has no buckets, while the other refuses links", () =>
    Effect.gen(function* () {
      const { buffer, made } = endless(Number.POSITIVE_INFINITY)
      buffer.takeNow()
      const choice = yield* over(buffer, ["a", "b"])
      for (let times = 0; times < 1_000; times++) {
        yield* choice.refused([yield* next(choice)])
        if (times % 20 === 0) yield* TestClock.adjust("20 millis")
      }
      expect(made()).toBeLessThan(1_000)
    })
  )
})
