import { pairOf } from "../report/Meetings.ts"
import type { Occasional, SimOptions } from "./Options.ts"
import type { SeedReport } from "./SeedReport.ts"
import type { Summary } from "./Summary.ts"

/** What decides which operations there are in a run. */
const shapeOf = ({ keyOrder, keyStock, nodes, workload }: SimOptions): string =>
  [keyStock, keyOrder, workload.withAccount > 0, workload.withMaxVisits > 0, nodes > 1].join(" ")

const isOccasional = (fault: object): fault is Occasional => "perMinute" in fault

/** What the fault is called that strikes at calls. */
const pointOf = ({ faults }: SimOptions): string => (faults.crashPoint.stops ? "stop point" : "crash point")

/** How likely a fault strikes in a run, or so. */
const likelihood = (options: SimOptions, fault: string): number => {
  const { crashPoint } = options.faults
  if (fault === pointOf(options)) return Math.min(1, 100 * crashPoint.probability)
  const configured = options.faults[fault as keyof SimOptions["faults"]]
  return typeof configured === "object" && isOccasional(configured)
    ? Math.min(1, configured.perMinute / 3)
    : 0
}

/** Prefers seeds whose options may bring faults and operations together that have not met yet. */
export class Steering {
  readonly #operations = new Map<string, Set<string>>()
  readonly #optionsOf: (seed: number) => SimOptions

  constructor(optionsOf: (seed: number) => SimOptions) {
    this.#optionsOf = optionsOf
  }

  /** Learns which operations runs of this kind have. */
  learn({ operations, seed }: SeedReport) {
    const shape = shapeOf(this.#optionsOf(seed))
    this.#operations.set(shape, new Set([...(this.#operations.get(shape) ?? []), ...operations]))
  }

  /** The `count` seeds among `seeds` of which most is to be expected, in the order of their numbers. */
  choose(seeds: ReadonlyArray<number>, count: number, summary: Summary): ReadonlyArray<number> {
    const score = (seed: number) => {
      const options = this.#optionsOf(seed)
      const operations = this.#operations.get(shapeOf(options)) ?? new Set(summary.operations)
      const { at } = options.faults.crashPoint
      let sum = 0
      for (const fault of Object.keys(summary.faults)) {
        const likely = likelihood(options, fault)
        if (likely === 0) continue
        for (const operation of operations) {
          const isAimed = fault !== pointOf(options) || at === null || at.includes(operation)
          if (isAimed && summary.met[pairOf(fault, operation)] === undefined) sum += likely
        }
      }
      return sum
    }
    return seeds
      .map((seed) => ({ seed, score: score(seed) }))
      .toSorted((one, other) => other.score - one.score || one.seed - other.seed)
      .slice(0, count)
      .map(({ seed }) => seed)
      .toSorted((one, other) => one - other)
  }
}
