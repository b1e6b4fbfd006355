import { Effect, Layer } from "effect"
import { dimensions, isLinkSubject, linkOfSubject, valuesMax } from "../../model/Visit.ts"
import * as VisitorSketch from "../../storage/visits/VisitorSketch.ts"
import {
  type DayVisitors,
  type HourRange,
  type Point,
  type ValueCount,
  type VisitBatch,
  VisitStore
} from "../../storage/visits/VisitStore.ts"
import * as RankStep from "../../storage/visits/RankStep.ts"
import { startOf } from "../../storage/visits/VisitPeriods.ts"

interface Count {
  nonBots: number
  bots: number
}

interface Hour extends Count {
  /** Visits by value, for each dimension in their order. */
  readonly values: ReadonlyArray<Map<string, number>>
  /** Entries of its sketch, by register. */
  readonly visitors: Map<number, number>
}

/** A row of an hour. */
export interface Row {
  readonly hour: number
  readonly subject: string
}

/** What comes before all of them. */
export const beginning: Row = { hour: 0, subject: "" }

/** The tables: an hour's row by subject and hour. */
export interface Tables {
  readonly totals: Map<string, Count>
  readonly hours: Map<string, Map<number, Hour>>
  readonly writers: Map<string, { readonly sequence: number; readonly at: number }>
  /** The last hour of which the links were ranked. */
  readonly ranked: { last: Row }
}

/** Empty tables. */
export const emptyTables = (): Tables => ({
  totals: new Map(),
  hours: new Map(),
  writers: new Map(),
  ranked: { last: beginning }
})

/** The same rows, in tables of their own. */
export const cloned = (tables: Tables): Tables => structuredClone(tables)

/** How the rows are that a batch changes: gives what makes them so again. */
export const remembered = ({ hours, totals, writers }: Tables, batch: VisitBatch): (() => void) => {
  const subjects = Array.from(new Set(batch.hours.map(({ subject }) => subject)))
  const before = subjects.map((subject) =>
    structuredClone([totals.get(subject), hours.get(subject)] as const)
  )
  const writer = writers.get(batch.writer)
  const put = <K, V>(map: Map<K, V>, key: K, value: V | undefined) =>
    value === undefined ? map.delete(key) : map.set(key, value)
  return () => {
    subjects.forEach((subject, index) => {
      put(totals, subject, before[index]![0])
      put(hours, subject, before[index]![1])
    })
    put(writers, batch.writer, writer)
  }
}

const entry = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}

const zero = (): Count => ({ nonBots: 0, bots: 0 })

const add = (count: Count, { bots, nonBots }: Readonly<Count>) => {
  count.nonBots += nonBots
  count.bots += bots
}

const addTo = (map: Map<string, number>, value: string, visits: number) =>
  map.set(value, (map.get(value) ?? 0) + visits)

/** The most frequent first, equal ones in the order of their characters. */
const byFrequency = (map: ReadonlyMap<string, number>) =>
  [...map].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))

const raise = (visitors: Map<number, number>, entry: number) => {
  const register = Math.floor(entry / VisitorSketch.rankFactor)
  visitors.set(register, Math.max(entry, visitors.get(register) ?? 0))
}

const write = ({ hours, totals, writers }: Tables, batch: VisitBatch) => {
  const last = writers.get(batch.writer)
  if (last !== undefined && last.sequence >= batch.sequence) return
  writers.set(batch.writer, { sequence: batch.sequence, at: batch.at })
  for (const count of batch.hours) {
    const rows = entry(hours, count.subject, () => new Map<number, Hour>())
    const row = entry(rows, count.hour, () => ({
      ...zero(),
      values: dimensions.map(() => new Map()),
      visitors: new Map()
    }))
    add(entry(totals, count.subject, zero), count)
    add(row, count)
    for (const visitor of count.visitors ?? []) raise(row.visitors, visitor)
    dimensions.forEach((dimension, index) => {
      const kept = row.values[index]!
      const added = count.values.filter((value) => value.dimension === dimension)
      for (const [value, visits] of byFrequency(new Map(added.map(({ value, visits }) => [value, visits])))) {
        if (kept.has(value) || kept.size < valuesMax) addTo(kept, value, visits)
      }
    })
  }
}

const within = ({ hours }: Tables, { from, subject, to }: HourRange) =>
  [...(hours.get(subject) ?? [])]
    .filter(([hour]) => hour >= from && hour < to)
    .toSorted(([one], [other]) => one - other)

const series = (tables: Tables, range: HourRange, interval: "hour" | "day"): ReadonlyArray<Point> => {
  const points = new Map<number, Count & { readonly hour: number }>()
  for (const [at, row] of within(tables, range)) {
    const hour = startOf(interval, at)
    add(
      entry(points, hour, () => ({ hour, ...zero() })),
      row
    )
  }
  return [...points.values()]
}

const visitorsOf = (tables: Tables, range: HourRange): ReadonlyArray<DayVisitors> => {
  const days = new Map<number, Map<number, number>>()
  for (const [at, { visitors }] of within(tables, range)) {
    const day = entry(days, startOf("day", at), () => new Map<number, number>())
    for (const one of visitors.values()) raise(day, one)
  }
  return [...days]
    .filter(([, visitors]) => visitors.size > 0)
    .map(([hour, visitors]) => ({
      hour,
      visitors: VisitorSketch.estimate(VisitorSketch.countsOf(visitors.values()))
    }))
}

const top = (tables: Tables, range: HourRange, max: number): ReadonlyArray<ValueCount> => {
  const rows = within(tables, range)
  return dimensions.flatMap((dimension, index) => {
    const sums = new Map<string, number>()
    for (const [, { values }] of rows)
      for (const [value, visits] of values[index]!) addTo(sums, value, visits)
    return byFrequency(sums)
      .slice(0, max)
      .map(([value, visits]) => ({ dimension, value, visits }))
  })
}

const inOrder = (one: Row, other: Row) =>
  one.hour - other.hour || (one.subject < other.subject ? -1 : one.subject > other.subject ? 1 : 0)

/** Hours of which the links are to be ranked next: with which ranks, and where they begin and end. */
export interface RankedRows extends RankStep.RankStep {
  readonly before: Row
  readonly last: Row
}

/** The next step of `VisitStore.rank`, which looks at every hour once; `undefined`: there is none. */
export const nextRanks = (
  { hours: rows, ranked: { last: before }, totals }: Tables,
  until: number,
  max: number
): RankedRows | undefined => {
  const next = [...rows]
    .flatMap(([subject, hours]) => [...hours.keys()].map((hour): Row => ({ hour, subject })))
    .filter((row) => row.hour < until && inOrder(row, before) > 0)
    .toSorted(inOrder)
    .slice(0, max)
  const last = next.at(-1)
  if (last === undefined) return undefined
  const hours = new Map(next.map(({ hour, subject }) => [subject, hour]))
  const ranks = [...hours]
    .filter(([subject]) => isLinkSubject(subject))
    .map(([subject, hour]) => {
      // Of a link that has left for another database the totals may be deleted already.
      const { bots, nonBots } = totals.get(subject) ?? zero()
      return { ...linkOfSubject(subject), visits: nonBots + bots, lastVisit: hour }
    })
  return { ranks, before, last }
}

/** Notes that a step was handed on, unless another one has meanwhile: gives what undoes that, if it was noted. */
export const noteRanked = (
  { ranked }: Tables,
  { before, last }: Pick<RankedRows, "before" | "last">
): (() => void) | undefined => {
  if (inOrder(ranked.last, before) !== 0) return undefined
  ranked.last = last
  return () => {
    ranked.last = before
  }
}

/** Has all hours ranked once more: some have come that were not, or were somewhere else. */
export const rankAgain = ({ ranked }: Tables) => {
  ranked.last = beginning
}

const ranking =
  (tables: Tables): (typeof VisitStore.Service)["rank"] =>
  (until, max, handOn) =>
    RankStep.take(
      Effect.sync(() => nextRanks(tables, until, max)),
      handOn,
      (step) => Effect.sync(() => noteRanked(tables, step))
    )

/** `VisitStore` over tables. It keeps every hour, so that there is nothing to roll up or to drop. */
export const makeOver = (tables: Tables): typeof VisitStore.Service =>
  VisitStore.of({
    write: (batch) => Effect.sync(() => write(tables, batch)),
    totals: (subjects) =>
      Effect.sync(() => subjects.map((subject) => ({ ...zero(), ...tables.totals.get(subject) }))),
    series: (range, interval) => Effect.sync(() => series(tables, range, interval)),
    visitors: (range) => Effect.sync(() => visitorsOf(tables, range)),
    top: (range, max) => Effect.sync(() => top(tables, range, max)),
    rollUp: () => Effect.succeed(false),
    rank: ranking(tables),
    drop: () => Effect.succeed(false),
    dropWriters: (before) =>
      Effect.sync(() => {
        for (const [writer, { at }] of tables.writers) if (at < before) tables.writers.delete(writer)
      }),
    forget: (subjects) =>
      Effect.sync(() => {
        for (const subject of subjects) {
          tables.totals.delete(subject)
          tables.hours.delete(subject)
        }
      })
  })

/** `VisitStore` in this process's memory: the reference that other backends are compared with. Nothing survives it. */
export const make = Effect.sync(() => makeOver(emptyTables()))

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<VisitStore> = Layer.effect(VisitStore, make)
