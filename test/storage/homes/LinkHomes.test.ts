import { expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { describe } from "vitest"
import * as LinkCache from "../../../src/actors/links/LinkCache.ts"
import { bucketCount, bucketOf } from "../../../src/keys/Buckets.ts"
import type { Link } from "../../../src/model/Link.ts"
import { changesOf } from "../../../src/storage/homes/LinkHomes.ts"
import * as PlacementCache from "../../../src/storage/homes/PlacementCache.ts"
import type { Place } from "../../../src/storage/links/buckets/BucketPlacement.ts"
import {
  LinkInvalidations,
  type LinkChangesSubscriber
} from "../../../src/storage/links/LinkInvalidations.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"

const key = "moved"

/** Another bucket's key. */
const other = "other"

const away = new StorageError({ operation: "BucketPlacement.read", applied: "no", reason: "no answer" })

/** The news of three databases, and where a node believes buckets to be: all in the first, until they move and it reads that. */
const setUp = Effect.gen(function* () {
  const databases = Array.from({ length: 3 }, () => ({
    isFresh: true,
    epoch: 0,
    subscribers: new Set<LinkChangesSubscriber>()
  }))
  const places = Array.from({ length: bucketCount }, (): Place => ({ home: 0, movingTo: null }))
  const raised = databases.map(() => 0)
  let isReachable = true
  const placement = yield* PlacementCache.make(
    {
      read: Effect.suspend(() =>
        isReachable ? Effect.succeed({ places: [...places], epochs: new Map(raised.entries()) }) : away
      ),
      begin: () => Effect.succeed(false),
      end: () => Effect.succeed(false)
    },
    databases.length
  )
  const changes = changesOf(
    databases.map((database) => ({
      isFresh: () => database.isFresh,
      epoch: () => database.epoch,
      awayFor: () => undefined,
      subscribe: (subscriber) => Effect.sync(() => void database.subscribers.add(subscriber))
    })),
    placement
  )
  const cache = yield* LinkCache.make<never>({
    level: "l2",
    max: 10,
    maxBytes: 1_000_000,
    readAge_ms: 0,
    staleMax_ms: 0,
    read: (key, answer) => answer(Exit.succeed(linkOf(key)))
  }).pipe(Effect.provideService(LinkInvalidations, changes))
  for (const each of [key, other]) yield* LinkCache.get(cache, each)
  const bucket = bucketOf(key)
  return {
    databases,
    /** Whether the control database answers. */
    reach: (isSo: boolean) => void (isReachable = isSo),
    read: placement.read,
    cached: (each = key): Link | undefined => cache.getNow(each),
    /** The key's bucket is marked as moving, and its home is fenced. */
    begin: (to: number) => {
      const { home } = places[bucket]!
      places[bucket] = { home, movingTo: to }
      databases[home]!.epoch = ++raised[home]!
    },
    end: () => {
      const { home, movingTo } = places[bucket]!
      places[bucket] = { home: movingTo ?? home, movingTo: null }
    }
  }
})

describe("a cached link of several databases", () => {
  it.scoped("stays cached, whatever the others' news, while its bucket stays", () =>
    Effect.gen(function* () {
      const { cached, databases, read } = yield* setUp
      databases[1]!.isFresh = databases[2]!.isFresh = false
      yield* read
      expect(cached()).toEqual(linkOf(key))
    })
  )

  it.scoped(
    "is forgotten when its bucket has come to another home: news of the former one may be missing",
    () =>
      Effect.gen(function* () {
        const { begin, cached, databases, end, read } = yield* setUp
        databases[0]!.isFresh = false
        begin(1)
        yield* read
        end()
        expect(cached()).toBeUndefined()
        yield* read
        expect(cached()).toBeUndefined()
        databases[0]!.isFresh = true
        expect(cached()).toBeUndefined()
      })
  )

  it.scoped("is forgotten when its bucket has left, and come back, since the placement was read", () =>
    Effect.gen(function* () {
      const { begin, cached, end, read } = yield* setUp
      for (const to of [1, 0]) {
        begin(to)
        end()
      }
      yield* read
      expect(cached()).toBeUndefined()
    })
  )

  it.scoped("stays cached when buckets begin to move, and is forgotten once when they have", () =>
    Effect.gen(function* () {
      const { begin, cached, end, read } = yield* setUp
      begin(1)
      yield* read
      expect([cached(), cached(other)]).toEqual([linkOf(key), linkOf(other)])
      end()
      yield* read
      expect([cached(), cached(other)]).toEqual([undefined, undefined])
    })
  )

  it.scoped("is not used while it moves, unless the news of both databases are fresh", () =>
    Effect.gen(function* () {
      const { begin, cached, databases, read } = yield* setUp
      begin(1)
      yield* read
      databases[1]!.isFresh = false
      expect([cached(), cached(other)]).toEqual([undefined, linkOf(other)])
      databases[1]!.isFresh = true
      expect(cached()).toEqual(linkOf(key))
    })
  )

  it.scoped("is not used when its database says that buckets have left since the placement was read", () =>
    Effect.gen(function* () {
      const { begin, cached, databases, end, reach, read } = yield* setUp
      reach(false)
      databases[1]!.isFresh = false
      yield* Effect.exit(read)
      expect(cached()).toEqual(linkOf(key))
      begin(1)
      end()
      yield* Effect.exit(read)
      expect(cached()).toBeUndefined()
      reach(true)
      yield* read
      expect(cached()).toBeUndefined()
    })
  )

  it.scoped("is not used when it has moved twice since the placement showed the first move", () =>
    Effect.gen(function* () {
      const { begin, cached, databases, end, reach, read } = yield* setUp
      begin(1)
      yield* read
      reach(false)
      end()
      expect(cached()).toEqual(linkOf(key))
      begin(2)
      end()
      databases[2]!.isFresh = false
      expect(cached()).toBeUndefined()
    })
  )
})
