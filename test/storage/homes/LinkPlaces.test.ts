import { describe, expect, it } from "vitest"
import { bucketCount, bucketOf, bucketOfName } from "../../../src/keys/Buckets.ts"
import { placesOf } from "../../../src/storage/homes/LinkHomes.ts"
import * as PlacementCache from "../../../src/storage/homes/PlacementCache.ts"
import type { Place } from "../../../src/storage/links/buckets/BucketPlacement.ts"

/** Which databases do not answer, where each bucket is, and whether it is being moved. */
interface Given {
  readonly away?: ReadonlyArray<number>
  readonly places: (bucket: number) => Place
}

const databases = [0, 1, 2]

const given = ({ away = [], places }: Given) =>
  placesOf(
    databases.map((number) => ({ isAway: () => away.includes(number) })),
    {
      current: () =>
        PlacementCache.knownOf(
          { places: Array.from({ length: bucketCount }, (_, bucket) => places(bucket)), epochs: new Map() },
          databases.length
        )
    }
  )

/** A name in each bucket, whether it is a key or a guard's. */
const namesBy = (bucketOf: (name: string) => number): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let n = 0; names.filter(Boolean).length < bucketCount; n++) names[bucketOf(`name${n}`)] ??= `name${n}`
  return names
}
const keys = namesBy(bucketOf)
const guards = namesBy(bucketOfName)

/** The buckets whose keys are open. */
const open = (places: Given) => {
  const { isOpen } = given(places)
  return keys.flatMap((key, bucket) => (isOpen(key) ? [bucket] : []))
}

const all = keys.map((_, bucket) => bucket)
const stays = (home: number): Place => ({ home, movingTo: null })
const moves = (home: number, movingTo: number): Place => ({ home, movingTo })

describe("keys whose links can be bound", () => {
  it("are those of buckets that stay, in databases that answer", () => {
    const places = (bucket: number) => (bucket < 10 ? moves(0, 1) : stays(bucket < 100 ? 1 : 0))
    expect(open({ places })).toEqual(all.slice(10))
    expect(open({ places, away: [1] })).toEqual(all.slice(100))
  })

  it("are all where every bucket is being moved: they wait for its end", () => {
    expect(open({ places: () => moves(0, 1) })).toEqual(all)
  })

  it("are those that are being moved where no other database answers", () => {
    const places = (bucket: number) => (bucket < 10 ? moves(0, 2) : stays(1))
    expect(open({ places, away: [1] })).toEqual(all.slice(0, 10))
  })

  it("are all where no database that has a bucket answers", () => {
    const places = (bucket: number) => (bucket < 10 ? moves(0, 2) : stays(1))
    expect(open({ places, away: [0, 1] })).toEqual(all)
  })

  it("are wanted beside a guard in its database, or where the guard is going to", () => {
    const places = (bucket: number) =>
      bucket < 10 ? moves(0, 1) : bucket < 20 ? stays(0) : bucket < 30 ? stays(1) : moves(2, 1)
    const { isOpenBeside } = given({ places })
    const beside = (bucket: number) => all.filter((key) => isOpenBeside(keys[key]!, guards[bucket]!))
    expect(beside(15)).toEqual(all.slice(10, 20))
    expect(beside(25)).toEqual(all.slice(20, 30))
    expect(beside(5)).toEqual([...all.slice(0, 10), ...all.slice(20)])
  })
})
