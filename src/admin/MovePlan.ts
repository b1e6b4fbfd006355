import { Either } from "effect"
import { bucketCount } from "../keys/Buckets.ts"
import type { Move, Place } from "../storage/links/buckets/BucketPlacement.ts"

/** What an operator asks to be moved. */
export interface Wanted {
  readonly to: number
  /** From this database alone. */
  readonly from: number | undefined
  /** These and no others. */
  readonly buckets: ReadonlyArray<number> | undefined
  /** So many. */
  readonly count: number | undefined
}

/** The buckets that a text such as `0-31,40` names, each once, in order; or what is wrong with it. */
export const parseBuckets = (text: string): Either.Either<ReadonlyArray<number>, string> => {
  const found = new Set<number>()
  for (const part of text.split(",")) {
    const [, first, last = first] = /^\s*(\d{1,3})(?:-(\d{1,3}))?\s*$/.exec(part) ?? []
    const [from, to] = [Number(first), Number(last)]
    if (!(from <= to && to < bucketCount)) {
      return Either.left(
        `--buckets must be a list such as 0-31,40 of buckets from 0 to ${bucketCount - 1}, not "${text}".`
      )
    }
    for (let bucket = from; bucket <= to; bucket++) found.add(bucket)
  }
  return Either.right([...found].toSorted((one, other) => one - other))
}

/** The buckets of each database, in order. */
const byHome = (places: ReadonlyArray<Place>, databases: number): ReadonlyArray<Array<number>> => {
  const buckets: Array<Array<number>> = Array.from({ length: databases }, () => [])
  places.forEach(({ home }, bucket) => buckets[home]?.push(bucket))
  return buckets
}

/** How many buckets each database has where all have as many as can be; those with the most have one more where they must. */
const quotasOf = (buckets: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> => {
  const least = Math.floor(bucketCount / buckets.length)
  const fullest = [...buckets.keys()].toSorted((one, other) => buckets[other]!.length - buckets[one]!.length)
  const more = new Set(fullest.slice(0, bucketCount - least * buckets.length))
  return buckets.map((_, home) => least + (more.has(home) ? 1 : 0))
}

/** The fewest moves after which each of so many databases has as many buckets as the others, or one more. */
export const even = (places: ReadonlyArray<Place>, databases: number): ReadonlyArray<Move> => {
  const buckets = byHome(places, databases)
  const quotas = quotasOf(buckets)
  const spare = buckets.map((own, home) => own.slice(quotas[home]))
  return buckets.flatMap((own, to) => {
    let wanted = quotas[to]! - own.length
    return spare.flatMap((left, from): ReadonlyArray<Move> => {
      if (wanted <= 0 || left.length === 0) return []
      const some = left.splice(0, wanted)
      wanted -= some.length
      return [{ from, to, buckets: some }]
    })
  })
}

/**
 * The moves that are asked for, each from one database; or what is wrong. Without `buckets` they come from `from`, or else from the database with the most; without `count` as well, so many that
 * the target has its even share.
 */
export const chosen = (
  { buckets, count, from, to }: Wanted,
  places: ReadonlyArray<Place>,
  databases: number
): Either.Either<ReadonlyArray<Move>, string> => {
  for (const [name, number] of [
    ["--to", to],
    ["--from", from]
  ] as const) {
    if (number !== undefined && !(number >= 0 && number < databases)) {
      return Either.left(
        `${name} must be a database from 0 to ${databases - 1}: LINK_DATABASE_URLS names those after 0.`
      )
    }
  }
  if (from === to) return Either.left("--from and --to must be two databases.")
  if (buckets !== undefined && count !== undefined) return Either.left("Give --buckets or --count, not both.")
  const homes = byHome(places, databases)
  if (buckets !== undefined) {
    const wanted = new Set(buckets)
    const elsewhere = buckets.find(
      (bucket) => from !== undefined && ![from, to].includes(places[bucket]!.home)
    )
    if (elsewhere !== undefined) {
      return Either.left(`Bucket ${elsewhere} is in database ${places[elsewhere]!.home}, not in ${from}.`)
    }
    return Either.right(
      homes.flatMap((own, home): ReadonlyArray<Move> => {
        const some = own.filter((bucket) => wanted.has(bucket))
        return home === to || some.length === 0 ? [] : [{ from: home, to, buckets: some }]
      })
    )
  }
  let left = count ?? Math.max(0, quotasOf(homes)[to]! - homes[to]!.length)
  if (count !== undefined && !(count >= 1 && count <= bucketCount)) {
    return Either.left(`--count must be 1 to ${bucketCount}, not ${count}.`)
  }
  const moves = new Map<number, Array<number>>()
  while (left-- > 0) {
    const [fullest] = [...homes.keys()]
      .filter((home) => home !== to && (from === undefined || home === from) && homes[home]!.length > 0)
      .toSorted((one, other) => homes[other]!.length - homes[one]!.length)
    if (fullest === undefined) break
    moves.set(fullest, [...(moves.get(fullest) ?? []), homes[fullest]!.pop()!])
  }
  return Either.right(
    [...moves].map(([home, some]) => ({
      from: home,
      to,
      buckets: some.toSorted((one, other) => one - other)
    }))
  )
}
