import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Option, TestClock } from "effect"
import * as LinkReads from "../../../src/actors/links/LinkReads.ts"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import { LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import * as RedirectCache from "../../../src/actors/links/RedirectCache.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import type { Link } from "../../../src/model/Link.ts"
import { LinkInvalidations } from "../../../src/storage/links/LinkInvalidations.ts"
import { LinkReplicas } from "../../../src/storage/links/LinkReplicas.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { plainRow } from "../../support/Plain.ts"

const row = { ...plainRow, key: "k", url: "https://a.example/", custom: false, createdAt: 1, updatedAt: 1 }

/** What a replica has of a link, which need not be what the node has cached. */
const replicated = { ...row, url: "https://replica.example/" }

type Found = Exit.Exit<Link | null, Unavailable>

const gone: Found = Exit.fail(new Unavailable({ reason: "the store is gone", applied: "no" }))

interface Options {
  /** What the node has cached of "k"; nothing is cached of other keys. */
  readonly cached?: Link
  /** What a replica has of any key; without it, there is none. */
  readonly replica?: Link | null
}

/** Reads of a link that the node has cached, over a store that answers no more. */
const reading = ({ cached = row, replica }: Options = {}) =>
  Effect.gen(function* () {
    const world = {
      reads: 0,
      replicaReads: 0,
      /** What the store answers to read number `reads`; `undefined`: nothing, before `late` is called. */
      answer: (_read: number): Found | undefined => Exit.succeed(cached),
      /** Answers the reads that got no answer. */
      late: (found: Found) => waiting.splice(0).forEach((answer) => answer(found)),
      isFresh: true,
      awayFor: undefined as number | undefined
    }
    const waiting: Array<(found: Found) => void> = []
    const cache = yield* RedirectCache.make(10, Duration.minutes(1)).pipe(
      Effect.provideService(LocalOwners, { of: () => undefined } as unknown as typeof LocalOwners.Service),
      Effect.provideService(LinkReader, {
        readThen: (_, answer) => {
          const found = world.answer(++world.reads)
          if (found === undefined) waiting.push(answer)
          else answer(found)
        }
      }),
      Effect.provideService(LinkInvalidations, {
        isFresh: () => world.isFresh,
        awayFor: () => world.awayFor,
        epoch: () => undefined,
        subscribe: () => Effect.void
      } as unknown as typeof LinkInvalidations.Service)
    )
    const reads = yield* LinkReads.make.pipe(
      Effect.provideService(RedirectCache.RedirectCache, cache),
      Effect.provideService(LinkStore, {
        findMany: () => Effect.never
      } as unknown as typeof LinkStore.Service),
      Effect.provideService(
        LinkReplicas,
        replica === undefined
          ? Option.none()
          : Option.some((keys: ReadonlyArray<string>) =>
              Effect.sync(() => {
                world.replicaReads++
                return keys.map(() => replica)
              })
            )
      )
    )
    yield* reads.findToRedirect("k")
    world.answer = () => gone
    world.isFresh = false
    world.reads = 0
    /** Each answer to a redirect that is asked for now. */
    const answersOf = (key: string) => {
      const answers: Array<Found> = []
      reads.findToRedirectThen(key, (found) => void answers.push(found))
      return answers
    }
    return { ...reads, answersOf, world }
  })

it.scoped("A redirect is read again until it is known that the database is away, and is stale then", () =>
  Effect.gen(function* () {
    const { findToRedirect, world } = yield* reading()
    const found = yield* Effect.fork(findToRedirect("k"))
    yield* TestClock.adjust("250 millis")
    world.awayFor = 800
    yield* TestClock.adjust("100 millis")
    expect(yield* found).toEqual(row)
    expect(world.reads).toBeLessThan(5)
  })
)

it.scoped(
  "A redirect is refused at once when the database has been away for longer than stale ones may be",
  () =>
    Effect.gen(function* () {
      const { findToRedirect, world } = yield* reading()
      world.awayFor = 60_001
      const refused = yield* Effect.fork(Effect.flip(findToRedirect("k")))
      yield* TestClock.adjust("1 millis")
      expect((yield* refused).reason).toBe("the store is gone")
      expect(world.reads).toBe(1)
    })
)

for (const failing of [1, 2, 3]) {
  it.scoped(
    `A redirect is stale where it becomes known during read ${failing} that the database is away`,
    () =>
      Effect.gen(function* () {
        const { answersOf, world } = yield* reading()
        world.answer = (read) => {
          if (read === failing) world.awayFor = 800
          return gone
        }
        const answers = answersOf("k")
        yield* TestClock.adjust("1 second")
        expect(answers).toEqual([Exit.succeed(row)])
        expect(world.reads).toBe(failing)
      })
  )

  it.scoped(
    `A link that is not cached is read from a replica where it becomes known during read ${failing} that the database is away`,
    () =>
      Effect.gen(function* () {
        const { answersOf, world } = yield* reading({ replica: replicated })
        world.answer = (read) => {
          if (read === failing) world.awayFor = 800
          return gone
        }
        const answers = answersOf("cold")
        yield* TestClock.adjust("1 second")
        expect(answers).toEqual([Exit.succeed(replicated)])
        expect(world.reads).toBe(failing)
      })
  )

  it.scoped(
    `A redirect whose read ${failing} gets no answer is stale as soon as it is known that the database is away, and answered once`,
    () =>
      Effect.gen(function* () {
        const { answersOf, world } = yield* reading()
        world.answer = (read) => (read < failing ? gone : undefined)
        const answers = answersOf("k")
        yield* TestClock.adjust("1500 millis")
        expect(answers).toEqual([])
        world.awayFor = 1_500
        yield* TestClock.adjust("100 millis")
        expect(answers).toEqual([Exit.succeed(row)])
        world.late(Exit.succeed(null))
        yield* TestClock.adjust("5 seconds")
        expect(answers).toHaveLength(1)
        expect(world.reads).toBe(failing)
      })
  )
}

it.scoped("A redirect that waits is answered as soon, though an earlier one has waited for its read", () =>
  Effect.gen(function* () {
    const { answersOf, world } = yield* reading()
    world.answer = () => undefined
    const first = answersOf("k")
    yield* TestClock.adjust("250 millis")
    world.late(Exit.succeed(row))
    yield* TestClock.adjust("5 seconds")
    expect(first).toEqual([Exit.succeed(row)])
    const second = answersOf("k")
    yield* TestClock.adjust("950 millis")
    expect(second).toEqual([])
    world.awayFor = 1_500
    yield* TestClock.adjust("100 millis")
    expect(second).toEqual([Exit.succeed(row)])
  })
)

it.scoped(
  "All redirects that wait for a read are answered together once it is known that the database is away, each by its row or a replica's",
  () =>
    Effect.gen(function* () {
      const { answersOf, world } = yield* reading({ replica: replicated })
      world.answer = () => undefined
      const cached = Array.from({ length: 50 }, () => answersOf("k"))
      yield* TestClock.adjust("950 millis")
      const cold = Array.from({ length: 50 }, () => answersOf("cold"))
      world.awayFor = 1_500
      yield* TestClock.adjust("100 millis")
      expect(cached).toEqual(cached.map(() => [Exit.succeed(row)]))
      expect(cold).toEqual(cold.map(() => [Exit.succeed(replicated)]))
      expect(world.replicaReads).toBe(1)
    })
)

it.scoped("A redirect that waits is answered by its read where that comes first", () =>
  Effect.gen(function* () {
    const { answersOf, world } = yield* reading({ replica: replicated })
    world.answer = () => undefined
    const answers = answersOf("cold")
    yield* TestClock.adjust("250 millis")
    world.late(Exit.succeed(row))
    expect(answers).toEqual([Exit.succeed(row)])
    world.awayFor = 800
    yield* TestClock.adjust("5 seconds")
    expect(answers).toHaveLength(1)
    expect(world.replicaReads).toBe(0)
  })
)

it.scoped("A redirect that waits is still answered by its read where no replica can answer", () =>
  Effect.gen(function* () {
    const { answersOf, world } = yield* reading({ replica: null })
    world.answer = () => undefined
    const [found, failed] = [answersOf("cold"), answersOf("colder")]
    world.awayFor = 1_500
    yield* TestClock.adjust("1 second")
    expect(world.replicaReads).toBe(1)
    expect([found, failed]).toEqual([[], []])
    world.late(Exit.succeed(row))
    yield* TestClock.adjust("1 second")
    expect(found).toEqual([Exit.succeed(row)])
  })
)

it.scoped(
  "A redirect that waits is not answered by a stale row while two heartbeats have not failed, as after a pause of this process",
  () =>
    Effect.gen(function* () {
      const { answersOf, world } = yield* reading({ replica: replicated })
      world.answer = () => undefined
      const answers = answersOf("k")
      yield* TestClock.adjust("10 seconds")
      expect(answers).toEqual([])
      expect(world.replicaReads).toBe(0)
      world.late(Exit.succeed(replicated))
      expect(answers).toEqual([Exit.succeed(replicated)])
    })
)

for (const [what, cached] of [
  ["counts its visits", { ...row, maxVisits: 5, visitsLeft: 5 }],
  ["has a password", { ...row, passwordHash: "hash" }]
] as const) {
  it.scoped(`A redirect of a link that ${what} is never stale, nor a replica's`, () =>
    Effect.gen(function* () {
      const { findToRedirect, answersOf, world } = yield* reading({ cached, replica: cached })
      world.answer = (read) => (read === 1 ? gone : undefined)
      const waiting = yield* Effect.fork(Effect.flip(findToRedirect("k")))
      yield* TestClock.adjust("250 millis")
      const alsoWaiting = answersOf("k")
      world.awayFor = 800
      yield* TestClock.adjust("1 second")
      expect(waiting.unsafePoll()).toBeNull()
      expect(alsoWaiting).toEqual([])
      const later = answersOf("k")
      yield* TestClock.adjust("100 millis")
      expect(later.map(Exit.isFailure)).toEqual([true])
      world.late(gone)
      yield* TestClock.adjust("1 second")
      expect(alsoWaiting.map(Exit.isFailure)).toEqual([true])
      yield* Fiber.join(waiting)
    })
  )
}
