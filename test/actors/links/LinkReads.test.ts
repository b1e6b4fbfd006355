import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, TestClock } from "effect"
import * as LinkReads from "../../../src/actors/links/LinkReads.ts"
import { LinkReader } from "../../../src/actors/links/LinkReader.ts"
import { LocalOwners } from "../../../src/actors/links/LocalOwners.ts"
import * as RedirectCache from "../../../src/actors/links/RedirectCache.ts"
import { Unavailable } from "../../../src/actors/Unavailable.ts"
import { LinkInvalidations } from "../../../src/storage/links/LinkInvalidations.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { plainRow } from "../../support/Plain.ts"

const row = { ...plainRow, key: "k", url: "https://a.example/", custom: false, createdAt: 1, updatedAt: 1 }

/** Reads of a link that the node has cached, over a store that answers no more. */
const reading = Effect.gen(function* () {
  const world = { reads: 0, answers: true, awayFor: undefined as number | undefined }
  const cache = yield* RedirectCache.make(10, Duration.minutes(1)).pipe(
    Effect.provideService(LocalOwners, { of: () => undefined } as unknown as typeof LocalOwners.Service),
    Effect.provideService(LinkReader, {
      readThen: (_, answer) => {
        world.reads++
        answer(
          world.answers
            ? Exit.succeed(row)
            : Exit.fail(new Unavailable({ reason: "the store is gone", applied: "no" }))
        )
      }
    }),
    Effect.provideService(LinkInvalidations, {
      isFresh: () => world.answers,
      awayFor: () => world.awayFor,
      epoch: () => undefined,
      subscribe: () => Effect.void
    } as unknown as typeof LinkInvalidations.Service)
  )
  const reads = yield* LinkReads.make.pipe(
    Effect.provideService(RedirectCache.RedirectCache, cache),
    Effect.provideService(LinkStore, { findMany: () => Effect.never } as unknown as typeof LinkStore.Service)
  )
  yield* reads.findToRedirect("k")
  world.answers = false
  world.reads = 0
  return { ...reads, world }
})

it.scoped("A redirect is read again until it is known that the database is away, and is stale then", () =>
  Effect.gen(function* () {
    const { findToRedirect, world } = yield* reading
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
      const { findToRedirect, world } = yield* reading
      world.awayFor = 60_001
      const refused = yield* Effect.fork(Effect.flip(findToRedirect("k")))
      yield* TestClock.adjust("1 millis")
      expect((yield* refused).reason).toBe("the store is gone")
      expect(world.reads).toBe(1)
    })
)
