import type { OrphanVisit, Visit } from "../model/Visit.ts"

/** A first-in, first-out ring of at most `capacity` visits, in an array that grows with the greatest number of visits so far. */
export class VisitRing {
  readonly #capacity: number
  readonly #slots: Array<Visit | OrphanVisit | undefined> = []
  #first = 0
  #size = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Visits that are in it. */
  get size(): number {
    return this.#size
  }

  /** Puts a visit in; `false`, and nothing done, when it is full. */
  push(visit: Visit | OrphanVisit): boolean {
    if (this.#size === this.#capacity) return false
    this.#slots[(this.#first + this.#size) % this.#capacity] = visit
    this.#size++
    return true
  }

  /** Takes the oldest visit out; `undefined` when it is empty. */
  shift(): Visit | OrphanVisit | undefined {
    if (this.#size === 0) return undefined
    const visit = this.#slots[this.#first]
    this.#slots[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#capacity
    this.#size--
    return visit
  }
}
