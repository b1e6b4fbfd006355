import { expect, it } from "@effect/vitest"
import { Context, Effect, Either } from "effect"
import * as LinkReader from "../../../src/actors/links/LinkReader.ts"
import * as LocalOwners from "../../../src/actors/links/LocalOwners.ts"
import { partitionOf } from "../../../src/actors/links/UrlMapping.ts"
import { UrlMappingLive } from "../../../src/actors/links/UrlMappingLive.ts"
import * as VisitTakers from "../../../src/actors/links/VisitTakers.ts"
import { bucketOf } from "../../../src/keys/Buckets.ts"
import { layerEmbedded } from "../../../src/node/Cluster.ts"
import { adding } from "../../../src/node/Adding.ts"
import { placesOf } from "../../../src/storage/homes/LinkHomes.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"
import * as LinkPorts from "../../../src/storage/homes/LinkPorts.ts"
import type { KnownPlacement } from "../../../src/storage/homes/PlacementCache.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import * as LinkGroupCommit from "../../../src/storage/links/LinkGroupCommit.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { raiseEpoch, type SeveralDatabases, severalDatabases } from "../../support/SeveralDatabases.ts"

/** Keys of one partition: two of the first database, of different buckets, and one of the second. */
const keys = Array.from({ length: 10_000 }, (_, n) => `k${n}`).filter((key) => partitionOf(key) === 0)
const stays = keys.find((key) => bucketOf(key) % 2 === 0)!
const moves = keys.find((key) => bucketOf(key) % 2 === 0 && bucketOf(key) !== bucketOf(stays))!
const elsewhere = keys.find((key) => bucketOf(key) % 2 === 1)!

const inFlightMax = 4

/** Takes one visit of each of many keys at once, on a node that knows a placement, and reads it when it is refused. */
const taking = (
  { databases, placement }: Pick<SeveralDatabases, "databases" | "placement">,
  before: KnownPlacement,
  keys: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    let known = before
    const cache = {
      ...placement,
      current: () => known,
      read: Effect.tap(placement.read, (placement) => (known = placement))
    }
    const { guarded, links } = yield* LinkPorts.routed(databases, cache)
    const stores = Context.make(LinkStore, links).pipe(
      Context.add(GuardedCreates, guarded),
      Context.add(LinkPlaces, placesOf(databases, cache))
    )
    const parts = yield* Effect.succeed(stores).pipe(
      adding(LinkGroupCommit.links({ inFlightMax })),
      adding(layerEmbedded),
      adding(LinkReader.layer(inFlightMax)),
      adding(LocalOwners.layer(inFlightMax)),
      adding(UrlMappingLive())
    )
    const { take } = yield* Effect.provide(VisitTakers.make, parts)
    return yield* Effect.forEach(
      keys,
      (key) => Effect.either(Effect.map(take(key), ({ granted }) => granted === 1)),
      { concurrency: "unbounded" }
    )
  })

const visitsLeft = ({ links }: SeveralDatabases) =>
  Effect.map(links.findMany([stays, moves, elsewhere]), (rows) => rows.map((row) => row?.visitsLeft))

describePostgres("visits of limited links of one partition in two databases", () => {
  const open = severalDatabases(2)
  const start = Effect.gen(function* () {
    const node = yield* Effect.flatten(open)
    yield* node.links.insertMany(
      [stays, moves, elsewhere].map((key) => ({ ...linkOf(key), maxVisits: 10, visitsLeft: 10 }))
    )
    return node
  })

  it.scopedLive("are used up by redirects alone while one of the databases refuses writes", () =>
    Effect.gen(function* () {
      const node = yield* start
      const { databases, placement } = node
      const [first, second] = databases
      const takeVisits = () =>
        new StorageError({ operation: "LinkStore.takeVisits", applied: "no", reason: "it is read-only" })
      const refusing = [{ ...first!, links: { ...first!.links, takeVisits } }, second!]
      const visits = yield* taking({ databases: refusing, placement }, placement.current(), [
        stays,
        elsewhere,
        elsewhere,
        moves
      ])
      expect(visits.map(Either.getOrElse(() => "unavailable"))).toEqual([
        "unavailable",
        true,
        true,
        "unavailable"
      ])
      expect(yield* visitsLeft(node)).toEqual([10, 10, 8])
    })
  )

  it.scopedLive("are used up by redirects alone while a bucket is fenced by a move", () =>
    Effect.gen(function* () {
      const node = yield* start
      const before = node.placement.current()
      const move = { from: 0, to: 1, buckets: [bucketOf(moves)] }
      expect(yield* node.store.begin(move)).toBe(true)
      yield* raiseEpoch(node, move.from)
      const visits = yield* taking(node, before, [moves, elsewhere, stays, elsewhere, stays, stays])
      expect(visits.map(Either.getOrElse(() => "unavailable"))).toEqual([
        "unavailable",
        true,
        true,
        true,
        true,
        true
      ])
      expect(yield* visitsLeft(node)).toEqual([7, 10, 8])
    })
  )
})
