import { expect, it } from "@effect/vitest"
import { Data, Effect, Fiber, Ref } from "effect"
import { describe } from "vitest"
import { bucketOf } from "../../../../src/keys/Buckets.ts"
import * as BucketMover from "../../../../src/storage/links/moves/BucketMover.ts"
import { hasPrograms } from "../../../support/services/PostgresPair.ts"
import { sharedLogicalServer } from "../../../support/services/PostgresLogical.ts"
import {
  contents,
  databasesOn,
  type Databases,
  fill,
  makeNode,
  placementOf,
  someKeys,
  traces
} from "./MovingDatabases.ts"

/** The mover was killed. */
class Killed extends Data.TaggedError("Killed")<{ readonly place: string }> {}

const half = Array.from({ length: 128 }, (_, n) => 2 * n)

const quiet = { progress: () => Effect.void }

const watching = (places: Array<string>) => ({
  ...quiet,
  at: (place: string) => Effect.sync(() => void places.push(place))
})

/** Ends the mover at the first time that it is at a place. */
const killing = (at: string) => ({
  ...quiet,
  at: (place: string) => (place === at ? new Killed({ place }) : Effect.void)
})

const move = (
  databases: Databases,
  from: number,
  to: number,
  watcher: BucketMover.Watcher<unknown> = watching([])
) =>
  Effect.scoped(
    Effect.flatMap(BucketMover.make(databases, watcher), (mover) => mover.move({ from, to, buckets: half }))
  )

const resume = (databases: Databases) =>
  Effect.scoped(Effect.flatMap(BucketMover.make(databases, watching([])), (mover) => mover.resume))

const homes = (databases: Databases) =>
  Effect.map(placementOf(databases), ({ places }) => half.map((bucket) => places[bucket]!.home))

;(hasPrograms ? describe : describe.skip)("moving buckets between databases", () => {
  const server = sharedLogicalServer()
  const databases = (count: number) => Effect.flatMap(server, (one) => databasesOn([one], count))

  it.scopedLive(
    "moves what lives with their links, and leaves nothing behind, there and back",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(300))
        const before = yield* contents(all)
        const moved = yield* move(all, 0, 1)
        expect(moved).toMatchObject({ from: 0, to: 1, buckets: half })
        expect(yield* homes(all)).toEqual(half.map(() => 1))
        expect(yield* contents(all)).toEqual(before)
        expect(yield* traces(all)).toEqual([])
        const movedKeys = someKeys(300).filter((key) => bucketOf(0, key) % 2 === 0)
        const there = yield* all.get(1)!.sql<{ key: string }>`SELECT key FROM links ORDER BY key`
        expect(there.map(({ key }) => key)).toEqual(movedKeys.toSorted())
        expect(moved.deleted).toBeGreaterThan(4 * movedKeys.length)
        yield* move(all, 1, 0)
        expect(yield* contents(all)).toEqual(before)
        expect(yield* traces(all)).toEqual([])
      }),
    120_000
  )

  it.scopedLive(
    "loses and doubles nothing that nodes write meanwhile",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        const nodes = yield* Effect.all([makeNode(all), makeNode(all), makeNode(all)])
        const isOver = yield* Ref.make(false)
        const writers = yield* Effect.forEach(nodes, (node, index) =>
          Effect.gen(function* () {
            let turn = 0
            while (!(yield* Ref.get(isOver)) || turn < 100) {
              yield* node.write(`n${index}${(turn % 40).toString(36)}`, turn)
              turn++
            }
            return turn
          }).pipe(Effect.fork)
        )
        yield* move(all, 0, 1)
        yield* move(all, 1, 0)
        yield* Ref.set(isOver, true)
        for (const writer of writers) expect(yield* Fiber.join(writer)).toBeGreaterThanOrEqual(100)
        const written = nodes.flatMap((node) => [...node.written])
        expect(yield* contents(all)).toEqual(new Map(written))
      }),
    120_000
  )

  it.scopedLive(
    "goes on wherever it was killed",
    () =>
      Effect.gen(function* () {
        const all = yield* databases(2)
        yield* fill(all, someKeys(60))
        const before = yield* contents(all)
        const places: Array<string> = []
        yield* move(all, 0, 1, watching(places))
        const [distinct, ways] = [[...new Set(places)], [0, 1]]
        expect(distinct.length).toBeGreaterThanOrEqual(25)
        for (const place of distinct) {
          const [to, from] = [ways[0]!, ways[1]!]
          ways.reverse()
          const error = yield* Effect.flip(move(all, from, to, killing(place)))
          expect(error).toEqual(new Killed({ place }))
          const refused = yield* Effect.either(move(all, from, to))
          const resumed = yield* resume(all)
          expect([place, yield* homes(all)]).toEqual([place, half.map(() => to)])
          expect(yield* contents(all)).toEqual(before)
          expect([place, yield* traces(all)]).toEqual([place, []])
          // Only the last place has nothing left to do.
          expect([place, resumed === undefined]).toEqual([place, place === "the next step is done"])
          expect(refused._tag).toBe("Left")
        }
      }),
    600_000
  )
})
