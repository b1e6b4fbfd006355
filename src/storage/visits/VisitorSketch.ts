// HyperLogLog: how many different visitors there were, from the greatest rank of a hash in each of some registers.

/** Bits of a hash that choose its register. */
const registerBits = 10

/** Registers of a sketch. */
export const registersMax = 2 ** registerBits

/** The greatest rank: ranks come from 30 bits of a hash, of which all may be 0. */
const rankMax = 31

/** The relative standard error of an estimate. */
export const standardError: number = Math.round((1.04 / Math.sqrt(registersMax)) * 1_000) / 1_000

/** What multiplies the first part of an entry: beside it is a rank, which is less. */
export const rankFactor = 32

/**
 * What is kept of a visitor's hash, of which `high` and `low` are the halves (32 bits each, signed): the number of its register, times {@link rankFactor}, and its rank, which is the place of the first 1 among the
 * bits of the other half, or {@link rankMax}.
 */
export const entryOf = (high: number, low: number): number =>
  (high >>> (32 - registerBits)) * rankFactor + Math.min(Math.clz32(low) + 1, rankMax)

/** Registers that are searched one by one: most links have few visitors in an hour. */
const fewMax = 32

/** A sketch of visitors: to add one that is there already changes nothing. At most some 1.2 KB. */
export class VisitorSketch {
  /** Entries of different registers, where these are few. */
  #few: Array<number> = []
  /** The rank of each register, 0 where it has none, where they are many. */
  #ranks: Uint8Array | undefined
  #size = 0

  /** Registers that have an entry. */
  get size(): number {
    return this.#size
  }

  /** Adds an entry of {@link entryOf}. */
  add(entry: number) {
    const register = Math.floor(entry / rankFactor)
    if (this.#ranks !== undefined) return this.#raise(this.#ranks, register, entry % rankFactor)
    for (let place = 0; place < this.#few.length; place++) {
      const present = this.#few[place]!
      if (Math.floor(present / rankFactor) !== register) continue
      if (entry > present) this.#few[place] = entry
      return
    }
    this.#few.push(entry)
    this.#size++
    if (this.#few.length > fewMax) this.#becomeMany()
  }

  #raise(ranks: Uint8Array, register: number, rank: number) {
    const present = ranks[register]!
    if (present === 0) this.#size++
    if (rank > present) ranks[register] = rank
  }

  #becomeMany() {
    const ranks = new Uint8Array(registersMax)
    for (const entry of this.#few) ranks[Math.floor(entry / rankFactor)] = entry % rankFactor
    this.#ranks = ranks
    this.#few = []
  }

  /** Its entries, each register once. */
  entries(): ReadonlyArray<number> {
    if (this.#ranks === undefined) return this.#few
    const entries: Array<number> = []
    this.#ranks.forEach((rank, register) => {
      if (rank > 0) entries.push(register * rankFactor + rank)
    })
    return entries
  }
}

/** The sum of 2^(k − 1) x^(2^k) over k from 1 on, and x. */
const sigma = (x: number): number => {
  if (x === 1) return Number.POSITIVE_INFINITY
  let [power, weight, sum] = [x, 1, x]
  for (;;) {
    power *= power
    const next = sum + power * weight
    if (next === sum) return sum
    sum = next
    weight *= 2
  }
}

/** A third of 1 − x − the sum of 2^−k (1 − x^(2^−k))² over k from 1 on. */
const tau = (x: number): number => {
  if (x === 0 || x === 1) return 0
  let [root, weight, rest] = [x, 1, 1 - x]
  for (;;) {
    root = Math.sqrt(root)
    weight /= 2
    const next = rest - (1 - root) ** 2 * weight
    if (next === rest) return rest / 3
    rest = next
  }
}

/**
 * How many different visitors a sketch is of, from the number of its registers with each rank: `counts` has, for each rank, that number times {@link rankFactor}, and the rank. After O. Ertl, New cardinality
 * estimation algorithms for HyperLogLog sketches (2017), algorithm 6, which needs no correction for small numbers.
 */
export const estimate = (counts: Iterable<number>): number => {
  const registers = Array.from({ length: rankMax + 1 }, () => 0)
  registers[0] = registersMax
  for (const entry of counts) {
    const count = Math.floor(entry / rankFactor)
    registers[entry % rankFactor]! += count
    registers[0] -= count
  }
  let sum = registersMax * tau(1 - registers[rankMax]! / registersMax)
  for (let rank = rankMax - 1; rank >= 1; rank--) sum = (sum + registers[rank]!) / 2
  sum += registersMax * sigma(registers[0] / registersMax)
  return Math.round((registersMax * registersMax) / (2 * Math.LN2) / sum)
}

/** How many registers of a sketch have each rank, as {@link estimate} takes it, from its entries. */
export const countsOf = (entries: Iterable<number>): ReadonlyArray<number> => {
  const counts = new Map<number, number>()
  for (const entry of entries) {
    const rank = entry % rankFactor
    counts.set(rank, (counts.get(rank) ?? 0) + 1)
  }
  return [...counts].map(([rank, count]) => count * rankFactor + rank)
}
