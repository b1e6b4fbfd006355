import { PCGRandom } from "effect/Utils"

/** FNV-1a of a text, 32 bits. */
const digest = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash
}

/**
 * A stream of chance that follows from a seed and a subject alone. Each concern has a stream of its own, so that one more draw for the
 * network does not change what the storage does.
 */
export class Chance {
  readonly #random: PCGRandom

  /** `seed`: an integer from 0 to 2^32 − 1. */
  constructor(seed: number, subject: string) {
    this.#random = new PCGRandom(digest(subject), seed, digest(`${subject}/increment`), seed)
  }

  /** At least 0, below 1. */
  fraction(): number {
    return this.#random.number()
  }

  /** An integer from 0 to `count` − 1. */
  below(count: number): number {
    return Math.floor(this.#random.number() * count)
  }

  /** An integer from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** Whether something of this probability happens. */
  happens(probability: number): boolean {
    return probability > 0 && this.#random.number() < probability
  }

  /** How many trials fail before the first one that succeeds, when each does with this probability: one draw for all of them. */
  trials(probability: number): number {
    return probability > 0
      ? Math.floor(Math.log(1 - this.#random.number()) / Math.log(1 - probability))
      : Infinity
  }

  /** One of the items, each as likely. */
  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.below(items.length)]!
  }

  /** A waiting time with this mean, exponentially distributed. */
  waiting(mean: number): number {
    return -Math.log(1 - this.#random.number()) * mean
  }
}
