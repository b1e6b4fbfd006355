import type { HourCount, ValueCount } from "../storage/visits/VisitStore.ts"
import { dimensions, type VisitClass, valuesMax } from "../model/Visit.ts"

interface Counted extends ValueCount {
  visits: number
}

interface Hour extends HourCount {
  nonBots: number
  bots: number
  /** In order of arrival. */
  readonly values: Array<Counted>
}

interface Entry {
  readonly hour: Hour
  /** Its values by dimension, in their order, where they are too many to search one by one. */
  index: ReadonlyArray<Map<string, Counted>> | undefined
}

/** Values of an hour that are searched one by one: most links have one visit in an hour, for which maps would be the greater part. */
const unindexedMax = 16

const indexOf = (values: ReadonlyArray<Counted>) => {
  const maps = dimensions.map(() => new Map<string, Counted>())
  for (const counted of values) maps[dimensions.indexOf(counted.dimension)]!.set(counted.value, counted)
  return maps
}

const countsOf = ({ values }: Hour): number => 1 + values.length

/** Counts of one hour at most. */
export const hourCountsMax = 1 + dimensions.length * valuesMax

/** Visits added up by subject, hour and value, until they are written. A visit allocates no strings. */
export class VisitTally {
  readonly #hours = new Map<number, Map<string, Entry>>()
  #counts = 0

  /** Counts that wait to be written: one for each hour of a subject, and one for each value of it. */
  get counts(): number {
    return this.#counts
  }

  add(subject: string, hour: number, { isBot, values }: VisitClass) {
    const entry = this.#entryOf(subject, hour)
    if (isBot) entry.hour.bots++
    else entry.hour.nonBots++
    for (let index = 0; index < values.length; index++) {
      const value = values[index]
      if (value !== undefined) this.#addValue(entry, index, value)
    }
  }

  #addValue(entry: Entry, index: number, value: string) {
    const dimension = dimensions[index]!
    const { values } = entry.hour
    const map = entry.index?.[index]
    const present =
      map === undefined
        ? values.find((counted) => counted.dimension === dimension && counted.value === value)
        : map.get(value)
    if (present !== undefined) return void present.visits++
    if (map?.size === valuesMax) return
    const counted = { dimension, value, visits: 1 }
    values.push(counted)
    map?.set(value, counted)
    if (values.length === unindexedMax) entry.index = indexOf(values)
    this.#counts++
  }

  #entryOf(subject: string, hour: number): Entry {
    let subjects = this.#hours.get(hour)
    if (subjects === undefined) this.#hours.set(hour, (subjects = new Map()))
    const present = subjects.get(subject)
    if (present !== undefined) return present
    const entry: Entry = { hour: { subject, hour, nonBots: 0, bots: 0, values: [] }, index: undefined }
    subjects.set(subject, entry)
    this.#counts++
    return entry
  }

  /** Removes and gives subjects' hours of at most `countsMax` counts together, the earliest first. `countsMax` must be at least `hourCountsMax`. */
  take(countsMax: number): ReadonlyArray<HourCount> {
    const taken: Array<HourCount> = []
    let counts = 0
    for (const [at, subjects] of this.#hours) {
      for (const [subject, { hour }] of subjects) {
        const more = countsOf(hour)
        if (counts + more > countsMax) {
          this.#counts -= counts
          return taken
        }
        counts += more
        taken.push(hour)
        subjects.delete(subject)
      }
      this.#hours.delete(at)
    }
    this.#counts -= counts
    return taken
  }
}
