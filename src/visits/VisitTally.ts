import { registersMax, VisitorSketch } from "../storage/visits/VisitorSketch.ts"
import type { HourCount, ValueCount } from "../storage/visits/VisitStore.ts"
import type { Link } from "../model/Link.ts"
import {
  type Dimension,
  dimensions,
  isLinkSubject,
  linkOfSubject,
  subjectOfLink,
  type VisitClass,
  valuesMax
} from "../model/Visit.ts"

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
  /** Its visitors, where some are told apart. */
  sketch: VisitorSketch | undefined
}

/** The subjects of an hour. Links are found by their keys: to make the name of a link's subject takes longer than all else. */
interface Subjects {
  readonly links: Map<string, { readonly createdAt: number; readonly entry: Entry }>
  readonly others: Map<string, Entry>
}

/** Values of an hour that are searched one by one: most links have one visit in an hour, for which maps would be the greater part. */
const unindexedMax = 16

const indexOf = (values: ReadonlyArray<Counted>) => {
  const maps = dimensions.map(() => new Map<string, Counted>())
  for (const counted of values) maps[dimensions.indexOf(counted.dimension)]!.set(counted.value, counted)
  return maps
}

/** Where a value of an hour is counted that is searched one by one. */
const find = (values: ReadonlyArray<Counted>, dimension: Dimension, value: string): Counted | undefined => {
  for (const counted of values) {
    if (counted.dimension === dimension && counted.value === value) return counted
  }
  return undefined
}

/** Registers of visitors that are one count: to write a register takes a fraction of what a value takes. */
const registersACount = 16

const countsOf = ({ hour, sketch }: Entry): number =>
  1 + hour.values.length + (sketch === undefined ? 0 : Math.floor(sketch.size / registersACount))

/** Counts of one hour at most. */
export const hourCountsMax: number = 1 + dimensions.length * valuesMax + registersMax / registersACount

/** Visits added up by subject, hour and value, until they are written. A visit allocates no strings. */
export class VisitTally {
  readonly #hours = new Map<number, Subjects>()
  #counts = 0

  /** Counts that wait to be written: one for each hour of a subject, and one for each value of it. */
  get counts(): number {
    return this.#counts
  }

  /** Adds a visit of a link. */
  addLink(link: Link, hour: number, visit: VisitClass) {
    this.#count(this.#entryOfLink(link, hour), visit)
  }

  /** Adds a visit of another subject. */
  add(subject: string, hour: number, visit: VisitClass) {
    this.#count(this.#entryOfOther(subject, hour), visit)
  }

  /** Adds a subject's hour that was taken before, from this tally or another one. */
  put({ bots, hour, nonBots, subject, values, visitors }: HourCount) {
    const entry = isLinkSubject(subject)
      ? this.#entryOfLink(linkOfSubject(subject), hour)
      : this.#entryOfOther(subject, hour)
    entry.hour.bots += bots
    entry.hour.nonBots += nonBots
    for (const visitor of visitors ?? []) this.#addVisitor(entry, visitor)
    for (const { dimension, value, visits } of values)
      this.#addValue(entry, dimensions.indexOf(dimension), value, visits)
  }

  #entryOfLink(link: Pick<Link, "createdAt" | "key">, hour: number): Entry {
    const { links } = this.#subjectsOf(hour)
    const present = links.get(link.key)
    if (present?.createdAt === link.createdAt) return present.entry
    // Its key has been bound again within the hour.
    if (present !== undefined) return this.#entryOfOther(subjectOfLink(link), hour)
    const entry = this.#newEntry(subjectOfLink(link), hour)
    links.set(link.key, { createdAt: link.createdAt, entry })
    return entry
  }

  #entryOfOther(subject: string, hour: number): Entry {
    const { others } = this.#subjectsOf(hour)
    let entry = others.get(subject)
    if (entry === undefined) others.set(subject, (entry = this.#newEntry(subject, hour)))
    return entry
  }

  #count(entry: Entry, { isBot, values, visitor }: VisitClass) {
    if (isBot) entry.hour.bots++
    else entry.hour.nonBots++
    if (visitor !== undefined) this.#addVisitor(entry, visitor)
    for (let index = 0; index < values.length; index++) {
      const value = values[index]
      if (value !== undefined) this.#addValue(entry, index, value, 1)
    }
  }

  #addVisitor(entry: Entry, visitor: number) {
    const sketch = (entry.sketch ??= new VisitorSketch())
    const before = sketch.size
    sketch.add(visitor)
    if (sketch.size !== before && sketch.size % registersACount === 0) this.#counts++
  }

  #addValue(entry: Entry, index: number, value: string, visits: number) {
    const dimension = dimensions[index]!
    const { values } = entry.hour
    const map = entry.index?.[index]
    const present = map === undefined ? find(values, dimension, value) : map.get(value)
    if (present !== undefined) return void (present.visits += visits)
    if (map?.size === valuesMax) return
    const counted = { dimension, value, visits }
    values.push(counted)
    map?.set(value, counted)
    if (values.length === unindexedMax) entry.index = indexOf(values)
    this.#counts++
  }

  #subjectsOf(hour: number): Subjects {
    const present = this.#hours.get(hour)
    if (present !== undefined) return present
    const subjects: Subjects = { links: new Map(), others: new Map() }
    this.#hours.set(hour, subjects)
    return subjects
  }

  #newEntry(subject: string, hour: number): Entry {
    this.#counts++
    return { hour: { subject, hour, nonBots: 0, bots: 0, values: [] }, index: undefined, sketch: undefined }
  }

  /** Removes and gives subjects' hours of at most `countsMax` counts together, the earliest first. `countsMax` must be at least `hourCountsMax`. */
  take(countsMax: number): ReadonlyArray<HourCount> {
    const taken: Array<HourCount> = []
    let counts = 0
    /** Whether there is room for an hour, which is taken then. */
    const isTaken = (entry: Entry) => {
      const more = countsOf(entry)
      if (counts + more > countsMax) return false
      counts += more
      const { hour, sketch } = entry
      taken.push(sketch === undefined ? hour : { ...hour, visitors: sketch.entries() })
      return true
    }
    const takeSome = (): void => {
      for (const [at, { links, others }] of this.#hours) {
        for (const [key, { entry }] of links) {
          if (!isTaken(entry)) return
          links.delete(key)
        }
        for (const [subject, entry] of others) {
          if (!isTaken(entry)) return
          others.delete(subject)
        }
        this.#hours.delete(at)
      }
    }
    takeSome()
    this.#counts -= counts
    return taken
  }
}
