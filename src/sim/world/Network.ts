import type { Chance } from "./Chance.ts"
import { ms_us } from "./Time.ts"
import type { World } from "./World.ts"

/** How messages fare, whoever sends them. */
export interface NetworkOptions {
  /** How long a message takes at least, and how much longer on average. */
  readonly latency_us: { readonly least: number; readonly mean: number }
  /** How likely a message is to be held up, and for how long at most. */
  readonly delay: { readonly probability: number; readonly max_ms: number }
}

/** How long a message waits before it tries a cut way again, as TCP sends it again. */
const retransmitAfter_us = 200 * ms_us

const wayOf = (from: string, to: string) => `${from} → ${to}`

/** The ways between machines, by their names: how long a message takes, and which ways are cut. */
export class Network {
  readonly #world: World
  readonly #options: NetworkOptions
  readonly #chance: Chance
  readonly #cut = new Map<string, number>()

  constructor(world: World, options: NetworkOptions) {
    this.#world = world
    this.#options = options
    this.#chance = world.chance("network")
  }

  /** Cuts the way from one machine to another for a time, and back too unless `oneWay`. */
  cut(from: string, to: string, { oneWay, for_us }: { readonly oneWay: boolean; readonly for_us: number }) {
    const ways = oneWay ? [wayOf(from, to)] : [wayOf(from, to), wayOf(to, from)]
    for (const way of ways) {
      this.#cut.set(way, (this.#cut.get(way) ?? 0) + 1)
      this.#world.after(for_us, null, () => {
        const left = (this.#cut.get(way) ?? 1) - 1
        if (left > 0) this.#cut.set(way, left)
        else this.#cut.delete(way)
      })
    }
  }

  /** Heals every way. */
  healAll() {
    this.#cut.clear()
  }

  /** Whether nothing gets from one machine to another now. */
  isCut(from: string, to: string): boolean {
    return this.#cut.size > 0 && this.#cut.has(wayOf(from, to))
  }

  /** How long the next message takes. */
  latency_us(): number {
    const { delay, latency_us } = this.#options
    const held_us = this.#chance.happens(delay.probability) ? this.#chance.below(delay.max_ms * ms_us) : 0
    return latency_us.least + this.#chance.waiting(latency_us.mean) + held_us
  }

  /**
   * Has something arrive at the other machine: after the way's latency, and not while the way is cut. `isWanted` tells whether the sender
   * still tries.
   */
  deliver(from: string, to: string, arrive: () => void, isWanted: () => boolean = () => true) {
    const attempt = () => {
      if (!this.isCut(from, to)) return arrive()
      // What stands in the network's buffers may get through when the sender has long given up.
      if (isWanted() || this.#chance.happens(0.5)) this.#world.after(retransmitAfter_us, null, attempt)
    }
    this.#world.after(this.latency_us(), null, attempt)
  }
}
