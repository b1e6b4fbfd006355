import type { Contestant } from "./Contestants.ts"
import { optionsOf } from "./Contestants.ts"
import * as KeySpace from "../../keys/KeySpace.ts"
import { noFaults } from "../presets/Faults.ts"
import { run } from "../Run.ts"

/** Keys that the guesser is given, in the order in which they were bound; as many come next, and as many guesses it has. */
export const given = 1_000

const { characters, radix } = KeySpace.make("base62", 7)

const numberOf = (key: string) =>
  Array.from(key).reduce((number, character) => number * radix + characters.indexOf(character), 0)

const keyOf = (number: number, length: number) => {
  let key = ""
  for (let rest = number; key.length < length; rest = Math.floor(rest / radix))
    key = characters[rest % radix]! + key
  return key
}

/** Guesses of what comes next: the keys nearest to those that are known, of base62, above them first. */
export const guesses = (known: ReadonlyArray<string>, count: number): ReadonlySet<string> => {
  const seen = new Set(known)
  const guessed = new Set<string>()
  const length = known[0]?.length ?? 0
  const numbers = known.map(numberOf)
  const last = radix ** length - 1
  for (let distance = 1; guessed.size < count && distance <= count; distance++) {
    for (const number of numbers) {
      for (const near of [number + distance, number - distance]) {
        if (guessed.size >= count || near < 0 || near > last) continue
        const key = keyOf(near, length)
        if (!seen.has(key)) guessed.add(key)
      }
    }
  }
  return guessed
}

/** How many of the next keys a guesser told beforehand: the share of its guesses that came true. */
export const shareGuessed = (keys: ReadonlyArray<string>): number => {
  const right = guesses(keys.slice(0, given), given)
  const next = keys.slice(given, 2 * given)
  return next.length === 0 ? 0 : next.filter((key) => right.has(key)).length / next.length
}

/** What decides on the order of a contestant's keys. What is broken about one does not. */
export const orderOf = ({ options }: Contestant): string => JSON.stringify(options)

/** The same of a contestant's keys, in a run in which nothing goes wrong and with nothing that is broken. */
export const guessed = (contestant: Contestant, seed: number): number => {
  const options = optionsOf(contestant)
  const { evidence } = run(seed, {
    ...options,
    bufferCapacity: 64,
    poolLow: 100,
    poolHigh: 400,
    faulty_s: 1,
    calm_s: 11,
    workload: {
      ...options.workload,
      clients: 60,
      think_ms: 100,
      created: 1,
      deleted: 0,
      changed: 0,
      withAlias: 0,
      withKey: 0,
      reused: 0,
      bulk: 0
    },
    faults: noFaults
  })
  return shareGuessed(
    evidence.journal.flatMap((entry) => (entry.tag === "bound" && !entry.link.custom ? [entry.link.key] : []))
  )
}
