import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"

/** Where they ask from: two addresses are of one network (/48), which has a limit of its own. */
const addresses = ["192.0.2.7", "2001:db8:1:1::7", "2001:db8:1:2::7"] as const

/** Look-ups that one of them begins at once, at most. */
const atOnceMax = 12

/** How likely they ask for a link that exists. */
const rightShare = 0.2

/** A look-up by somebody who guesses: of a link that exists, or of a text of no link. */
export interface Guess {
  readonly from: string
  readonly key: string
  readonly isRight: boolean
}

/** People who try texts at random to find links. They come from other machines, so that their look-ups that lead nowhere are counted. */
export class Guessers {
  readonly #chance: Chance
  #count = 0

  constructor(world: World) {
    this.#chance = world.chance("guessers")
  }

  /** Whether a turn of a client is one of theirs. */
  happens(share: number): boolean {
    return this.#chance.happens(share)
  }

  /** The look-ups of one of them, which begin at once. `popular`: a link that exists. */
  guesses(popular: (chance: Chance) => string | undefined): ReadonlyArray<Guess> {
    const chance = this.#chance
    const from = chance.pick(addresses)
    return Array.from({ length: chance.between(1, atOnceMax) }, () => {
      const right = chance.happens(rightShare) ? popular(chance) : undefined
      return { from, key: right ?? `nobody-${++this.#count}`, isRight: right !== undefined }
    })
  }
}
