import type { Network } from "../../world/Network.ts"
import { ms_us } from "../../world/Time.ts"
import type { World } from "../../world/World.ts"

/** How long what was held up by a cut way waits before it is tried again, as TCP sends it again. */
const retransmitAfter_us = 200 * ms_us

/** One direction of a connection between two machines: what is sent arrives in its order, and not while the way is cut. */
export class Line {
  readonly #world: World
  readonly #network: Network
  readonly #from: string
  readonly #to: string
  #held: Array<() => void> = []
  #lastArrival_us = 0
  #isOpen = true

  constructor(world: World, network: Network, from: string, to: string) {
    this.#world = world
    this.#network = network
    this.#from = from
    this.#to = to
  }

  /** Sends something; `arrive` is what it does at the other end. `late_us`: how much later it is than others, and all that is sent behind it. */
  send(arrive: () => void, late_us = 0) {
    const now_us = this.#world.now_us
    const at_us = Math.max(this.#lastArrival_us + 1, now_us + Math.ceil(this.#network.latency_us()) + late_us)
    this.#lastArrival_us = at_us
    this.#world.after(at_us - now_us, null, () => this.#arrive(arrive))
  }

  /** What has not arrived by now never does. */
  close() {
    this.#isOpen = false
    this.#held = []
  }

  #arrive(arrive: () => void) {
    if (!this.#isOpen) return
    if (this.#held.length === 0 && !this.#network.isCut(this.#from, this.#to)) return arrive()
    this.#held.push(arrive)
    if (this.#held.length === 1) this.#tryAgain()
  }

  #tryAgain() {
    this.#world.after(retransmitAfter_us, null, () => {
      if (!this.#isOpen) return
      if (this.#network.isCut(this.#from, this.#to)) return this.#tryAgain()
      const held = this.#held
      this.#held = []
      // One of them may end the connection.
      for (const arrive of held) if (this.#isOpen) arrive()
    })
  }
}
