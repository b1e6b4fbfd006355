import { expect, it } from "@effect/vitest"
import { Effect, Either, Exit, Fiber, Scope, TestClock } from "effect"
import { KeyBuffer } from "../../../src/actors/keys/KeyBuffer.ts"
import * as LinkCreates from "../../../src/actors/links/LinkCreates.ts"
import { type BindOutcome, LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import { silent } from "../../../src/actors/links/OwnersAway.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import type { Link } from "../../../src/model/Link.ts"
import { LinkPlaces, type LinkPlacesService } from "../../../src/storage/homes/LinkPlaces.ts"
import { bufferOver, draft, freshStores, joinInTime, others, startNode } from "../../support/TestNode.ts"

/** Creates over a buffer of their own, whose links are bound, or not, when the test says so. */
const setUp = Effect.gen(function* () {
  const stores = yield* freshStores()
  const node = yield* startNode(stores)
  const scope = yield* Scope.make()
  const buffer = yield* bufferOver(stores, node, 8).pipe(Scope.extend(scope))
  yield* buffer.held
  const asked: Array<{
    readonly link: Link
    readonly key: string
    readonly answer: (outcome: BindOutcome) => void
  }> = []
  const owners = {
    bindThen: (links, answer) =>
      void asked.push({ link: links[0]!, key: links[0]!.key, answer: (outcome) => answer([outcome]) }),
    bindGuarded: () => Effect.succeed(["superseded" as const])
  } as Partial<typeof LocalOwners.Service> as typeof LocalOwners.Service
  const creates = yield* LinkCreates.make.pipe(
    Effect.provideService(KeyBuffer, buffer),
    Effect.provideService(LocalOwners, owners)
  )
  return {
    buffer,
    closeBuffer: Scope.close(scope, Exit.void),
    creates,
    asked,
    pooled: Effect.map(stores.pool.lease(0, 1_000), toStrings)
  }
})

const failed = (applied: "no" | "unknown") => Exit.fail(new Unavailable({ reason: "for the test", applied }))

it.scoped("A link's key is in the buffer again only where the link was certainly not bound", () =>
  Effect.gen(function* () {
    const { asked, buffer, creates } = yield* setUp
    const levelAfter = Effect.fnUntraced(function* (applied: "no" | "unknown") {
      const creating = yield* Effect.fork(Effect.flip(creates.create(draft())))
      yield* others
      asked.pop()!.answer(failed(applied))
      expect(yield* Fiber.join(creating)).toMatchObject({ applied })
      return yield* buffer.level
    })
    expect(yield* levelAfter("no")).toBe(8)
    expect(yield* levelAfter("unknown")).toBe(7)
  })
)

it.scoped(
  "An alias is asked for as the same create again, which may have been applied, when its owner was away",
  () =>
    Effect.gen(function* () {
      const { asked, creates } = yield* setUp
      const creating = yield* Effect.fork(creates.create(draft("sale")))
      yield* others
      asked[0]!.answer(Exit.fail(silent()))
      yield* others
      yield* TestClock.adjust("1 seconds")
      expect(asked.map(({ link }) => link)).toEqual([asked[0]!.link, asked[0]!.link])
      asked[1]!.answer(Exit.succeed("bound"))
      expect(yield* Fiber.join(creating)).toEqual(asked[0]!.link)
    })
)

it.scoped("The key of a create that a newer one has superseded is in the buffer again", () =>
  Effect.gen(function* () {
    const { buffer, creates } = yield* setUp
    const guarding = { guards: [{ name: "idempotency:a", token: 1 }], answerOf: () => "" }
    const before = yield* buffer.level
    expect(yield* Effect.flip(creates.createGuarded(draft(), guarding))).toMatchObject({ _tag: "Superseded" })
    yield* others
    expect(yield* buffer.level).toBe(before)
  })
)

it.scoped(
  "A refused link's key goes to its pool where the buffer has closed, though nobody waits any more",
  () =>
    Effect.gen(function* () {
      const { asked, closeBuffer, creates, pooled } = yield* setUp
      const creating = yield* Effect.fork(creates.create(draft()))
      yield* others
      yield* Fiber.interrupt(creating)
      yield* closeBuffer
      asked[0]!.answer(failed("no"))
      yield* others
      expect(yield* pooled).toContain(asked[0]!.key)
    })
)

const laneOf = (key: string) => key.charCodeAt(key.length - 1) % 2

/** Both databases answer. */
const twoPlaces: LinkPlacesService = {
  databases: 2,
  lanes: 3,
  laneOf,
  laneOfName: Number,
  isOpen: () => true,
  isOpenBeside: (key, name) => laneOf(key) === Number(name)
}

/** Creates over a buffer of their own, and two databases, of which some refuse links. */
const overTwo = Effect.gen(function* () {
  const sizes = { capacity: 200, low: 500, high: 2_000 }
  const stores = yield* freshStores(sizes)
  const node = yield* startNode(stores, sizes)
  const real = yield* bufferOver(stores, node, sizes.capacity)
  let takenFromBuffer = 0
  const buffer: typeof real = {
    ...real,
    takeNow: () => {
      const key = real.takeNow()
      if (key !== undefined) takenFromBuffer++
      return key
    },
    takeMany: (count) => Effect.tap(real.takeMany(count), ({ length }) => void (takenFromBuffer += length)),
    putBack: (keys) =>
      Effect.zipRight(
        Effect.sync(() => (takenFromBuffer -= keys.length)),
        real.putBack(keys)
      )
  }
  yield* buffer.held
  const refusing = new Set<number>()
  const bound = new Map<string, number>()
  const bind = ({ key }: Link, away: boolean) => {
    if (refusing.has(laneOf(key)))
      return Exit.fail(new Unavailable({ reason: "the disk is full", applied: "no", away }))
    bound.set(key, laneOf(key))
    return Exit.succeed("bound" as const)
  }
  const owners = {
    bindThen: (links, answer) => answer(links.map((link) => bind(link, true))),
    bindGuarded: (links) => Effect.map(bind(links[0]!.link, false), (outcome) => [outcome])
  } as Partial<typeof LocalOwners.Service> as typeof LocalOwners.Service
  const creates = yield* LinkCreates.make.pipe(
    Effect.provideService(KeyBuffer, buffer),
    Effect.provideService(LocalOwners, owners),
    Effect.provideService(LinkPlaces, twoPlaces)
  )
  /** Links that were made by `count` creates, up to the first that failed. */
  const made = Effect.fnUntraced(function* (count: number) {
    let made = 0
    for (let times = 0; times < count; times++) {
      const creating = yield* Effect.fork(
        Effect.async<boolean>((resume) =>
          creates.createThen(draft(), (exit) => resume(Effect.succeed(Exit.isSuccess(exit))))
        )
      )
      for (let turns = 0; turns < 20 && creating.unsafePoll() === null; turns++) yield* Effect.yieldNow()
      if (yield* creating.unsafePoll() === null ? joinInTime(creating) : Fiber.join(creating)) made++
      else return made
      if (times % 100 === 0) yield* TestClock.adjust("200 millis")
    }
    return made
  })
  const madeTogether = (count: number) =>
    Effect.map(
      Effect.flatMap(
        Effect.fork(creates.createMany(Array.from({ length: count }, () => draft()))),
        joinInTime
      ),
      (all) => all.filter(Either.isRight).length
    )
  const guardedIn = (lane: number) =>
    creates.createGuarded(draft(), { guards: [{ name: String(lane), token: 1 }], answerOf: () => "" })
  const boundIn = (lane: number) => [...bound.values()].filter((its) => its === lane).length
  return { boundIn, guardedIn, made, madeTogether, refusing, taken: () => takenFromBuffer }
})

it.scoped(
  "Where one of two databases refuses all links, though it answers, creates take keys of the other one",
  () =>
    Effect.gen(function* () {
      const { boundIn, guardedIn, made, madeTogether, refusing } = yield* overTwo
      refusing.add(1)
      expect(yield* made(2_000)).toBe(2_000)
      for (let times = 0; times < 10; times++) {
        expect(yield* madeTogether(50)).toBe(50)
        yield* TestClock.adjust("400 millis")
      }
      for (let times = 0; times < 200; times++) yield* guardedIn(0)
      expect(yield* Effect.flip(guardedIn(1))).toMatchObject({ applied: "no" })
      expect([boundIn(0), boundIn(1)]).toEqual([2_700, 0])
      refusing.clear()
      yield* TestClock.adjust("1 seconds")
      expect(yield* made(200)).toBe(200)
      expect(boundIn(1)).toBeGreaterThan(100)
    })
)

it.scoped("Where all databases refuse links, creates use up no keys", () =>
  Effect.gen(function* () {
    const { boundIn, made, madeTogether, refusing, taken } = yield* overTwo
    refusing.add(0).add(1)
    expect(yield* made(1)).toBe(0)
    for (let times = 0; times < 10; times++) expect(yield* madeTogether(100)).toBe(0)
    expect([boundIn(0), boundIn(1)]).toEqual([0, 0])
    expect(taken()).toBeLessThan(600)
    refusing.clear()
    yield* TestClock.adjust("1 seconds")
    expect(yield* madeTogether(50)).toBe(50)
  })
)
