import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { HourCount, VisitBatch, VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import type { LinkRank } from "../../../src/storage/links/LinkStore.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import { estimate, rankFactor } from "../../../src/storage/visits/VisitorSketch.ts"
import { type Dimension, valuesMax } from "../../../src/model/Visit.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

type Store = VisitStore["Type"]

const link = "aZ3k9Qx@m1"
const day = 20_000 * 24

/** Visits by value, for one dimension. */
export const valuesOf = (dimension: Dimension, counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([value, visits]) => ({ dimension, value, visits }))

/** An hour of a subject with visits that are no bots', by referrer. */
const hourOf = (hour: number, referrers: Readonly<Record<string, number>>, subject = link): HourCount => ({
  subject,
  hour,
  nonBots: Object.values(referrers).reduce((sum, visits) => sum + visits, 0),
  bots: 0,
  values: valuesOf("referrers", referrers)
})

const batchOf = (sequence: number, ...hours: ReadonlyArray<HourCount>): VisitBatch => ({
  writer: "w1",
  sequence,
  at: 1_000 + sequence,
  hours
})

const always = { subject: link, from: 0, to: 1_000_000 }

/** All that the store tells of one subject. */
const told = (store: Store, subject = link) =>
  Effect.all({
    totals: Effect.map(store.totals([subject]), ([totals]) => totals),
    hours: store.series({ ...always, subject }, "hour"),
    days: store.series({ ...always, subject }, "day"),
    visitors: store.visitors({ ...always, subject }, "day"),
    top: store.top({ ...always, subject }, 100)
  })

/** An hour with visitors: entries of registers, each with a rank. */
const withVisitors = (
  hour: HourCount,
  ...visitors: ReadonlyArray<readonly [register: number, rank: number]>
) => ({
  ...hour,
  visitors: visitors.map(([register, rank]) => register * rankFactor + rank)
})

/** As many visitors as registers have these ranks. */
const estimated = (...ranks: ReadonlyArray<number>) => estimate(ranks.map((rank) => rankFactor + rank))

/** Different referrers, the first the most frequent. */
const manyReferrers = (count: number, name: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${name}${index}.example`, 2 * count - index])
  )

/** All ranks that a store hands on now, the last of each link. */
const ranksOf = (visits: Store, until: number, max: number) =>
  Effect.gen(function* () {
    const ranks = new Map<string, LinkRank>()
    const handOn = (given: ReadonlyArray<LinkRank>) =>
      Effect.sync(() => {
        expect(given.length).toBeLessThanOrEqual(max)
        for (const rank of given) ranks.set(`${rank.key}@${rank.createdAt.toString(36)}`, rank)
      })
    yield* Effect.repeat(visits.rank(until, max, handOn), { until: (more) => !more })
    return Object.fromEntries(ranks)
  })

/** The laws of `VisitStore`, as tests of one backend. */
export const visitStoreLaws = (title: string, open: Open<Store>): void => {
  const store = Effect.flatten(open)

  describe(`${title}: writing`, () => {
    it.scopedLive("adds the visits of batches, hours and values up", () =>
      Effect.gen(function* () {
        const visits = yield* store
        yield* visits.write(batchOf(1, hourOf(day + 1, { "a.example": 2, "b.example": 5 })))
        const bots = { subject: link, hour: day + 1, nonBots: 1, bots: 3, values: valuesOf("os", { bot: 3 }) }
        yield* visits.write(batchOf(2, hourOf(day + 25, { "a.example": 4 }), bots))
        expect(yield* told(visits)).toEqual({
          totals: { nonBots: 12, bots: 3 },
          hours: [
            { hour: day + 1, nonBots: 8, bots: 3 },
            { hour: day + 25, nonBots: 4, bots: 0 }
          ],
          days: [
            { hour: day, nonBots: 8, bots: 3 },
            { hour: day + 24, nonBots: 4, bots: 0 }
          ],
          visitors: [],
          top: [...valuesOf("referrers", { "a.example": 6, "b.example": 5 }), ...valuesOf("os", { bot: 3 })]
        })
      })
    )

    it.scopedLive("keeps subjects apart, and answers their totals in the order of the question", () =>
      Effect.gen(function* () {
        const visits = yield* store
        const [other, none] = ["aZ3k9Qx@m2", "aZ3k9Qx"]
        yield* visits.write(batchOf(1, hourOf(day, { a: 1 }), hourOf(day, { b: 2 }, other)))
        expect(yield* visits.totals([other, none, link, other])).toEqual([
          { nonBots: 2, bots: 0 },
          { nonBots: 0, bots: 0 },
          { nonBots: 1, bots: 0 },
          { nonBots: 2, bots: 0 }
        ])
        expect(yield* visits.totals([])).toEqual([])
        expect((yield* told(visits, other)).top).toEqual(valuesOf("referrers", { b: 2 }))
        expect((yield* told(visits, none)).hours).toEqual([])
      })
    )

    it.scopedLive("unites the visitors of batches and hours by the day", () =>
      Effect.gen(function* () {
        const opened = yield* open
        const [visits, another] = [yield* opened, yield* opened]
        const of = (hour: number, ...visitors: ReadonlyArray<readonly [register: number, rank: number]>) =>
          withVisitors(hourOf(hour, { a: 1 }), ...visitors)
        yield* visits.write(
          batchOf(1, of(day, [0, 1], [1_023, 31]), of(day + 1, [0, 9]), of(day + 24, [7, 2]))
        )
        yield* visits.write(
          batchOf(2, of(day, [0, 5], [5, 4]), withVisitors(hourOf(day, { a: 1 }, "s@0"), [1, 1]))
        )
        yield* visits.write(batchOf(2, of(day, [900, 1])))
        yield* visits.write(batchOf(3, hourOf(day, { a: 1 }), of(day + 1, [0, 2])))
        const all = Array.from({ length: 1_024 }, (_, register) => [register, 1 + (register % 31)] as const)
        yield* visits.write(batchOf(4, of(day + 48, ...all)))
        yield* another.write({
          ...batchOf(4, of(day + 48, ...all.map(([at]) => [at, 7] as const))),
          writer: "w2"
        })
        const ofAll = estimated(...all.map(([, rank]) => Math.max(rank, 7)))
        expect(yield* visits.visitors(always, "day")).toEqual([
          { hour: day, visitors: estimated(9, 4, 31) },
          { hour: day + 24, visitors: estimated(2) },
          { hour: day + 48, visitors: ofAll }
        ])
        expect(yield* visits.visitors({ ...always, subject: "s@0" }, "day")).toEqual([
          { hour: day, visitors: estimated(1) }
        ])
        const range = { subject: link, from: day + 1, to: day + 25 }
        expect(yield* visits.visitors(range, "hour")).toEqual([
          { hour: day, visitors: estimated(9) },
          { hour: day + 24, visitors: estimated(2) }
        ])
        expect(yield* visits.visitors({ ...range, to: range.from }, "hour")).toEqual([])
      })
    )

    it.scopedLive("adds a batch once, however often it comes, also at the same moment", () =>
      Effect.gen(function* () {
        const opened = yield* open
        const [one, another] = [yield* opened, yield* opened]
        const first = batchOf(1, hourOf(day, { a: 1 }))
        yield* atOnce([one, another, one, another].map((visits) => visits.write(first)))
        yield* one.write(batchOf(2, hourOf(day, { a: 10 })))
        yield* one.write(batchOf(2, hourOf(day, { a: 10 })))
        yield* one.write(first)
        expect((yield* told(one)).totals).toEqual({ nonBots: 11, bots: 0 })
        expect((yield* told(one)).top).toEqual(valuesOf("referrers", { a: 11 }))
      })
    )

    it.scopedLive(
      "counts the batches of each writer by themselves, also those of the same hour at once",
      () =>
        Effect.gen(function* () {
          const opened = yield* open
          const writers = Array.from({ length: 6 }, (_, index) => `w${index}`)
          yield* atOnce(
            writers.map((writer, index) =>
              Effect.gen(function* () {
                const visits = yield* opened
                for (let sequence = 1; sequence <= 5; sequence++) {
                  const hours = ["s1@0", "s2@0", link].map((subject) => hourOf(day, { a: 1, b: 2 }, subject))
                  yield* visits.write({
                    writer,
                    sequence,
                    at: 0,
                    hours: index % 2 === 0 ? hours : hours.toReversed()
                  })
                }
              })
            )
          )
          const visits = yield* opened
          expect(yield* visits.totals([link, "s1@0"])).toEqual([
            { nonBots: 90, bots: 0 },
            { nonBots: 90, bots: 0 }
          ])
          expect((yield* told(visits)).top).toEqual(valuesOf("referrers", { b: 60, a: 30 }))
        })
    )

    it.scopedLive(
      "adds what two write to the same hours at once, neither waiting for the other for ever",
      () =>
        Effect.gen(function* () {
          const opened = yield* open
          const subjects = Array.from({ length: 600 }, (_, index) => `s${index}@0`)
          const batches = 8
          yield* atOnce(
            ["w1", "w2"].map((writer) =>
              Effect.gen(function* () {
                const visits = yield* opened
                for (let sequence = 1; sequence <= batches; sequence++) {
                  const own = `${writer}-${sequence}`
                  const hours = subjects.map((subject) => hourOf(day, { a: 1, [own]: 2 }, subject))
                  yield* visits.write({
                    writer,
                    sequence,
                    at: 0,
                    hours: writer === "w1" ? hours : hours.toReversed()
                  })
                }
              })
            )
          )
          const visits = yield* opened
          const all = { nonBots: 2 * batches * 3, bots: 0 }
          expect(yield* visits.totals(subjects)).toEqual(subjects.map(() => all))
          for (const subject of [...subjects.slice(0, 3), ...subjects.slice(-3)]) {
            const { hours, top } = yield* told(visits, subject)
            expect(hours).toEqual([{ hour: day, ...all }])
            expect(top.map(({ visits }) => visits)).toEqual([
              2 * batches,
              ...Array.from({ length: 2 * batches }, () => 2)
            ])
          }
        })
    )

    it.scopedLive("forgets only writers that have not written since", () =>
      Effect.gen(function* () {
        const visits = yield* store
        yield* visits.write(batchOf(1, hourOf(day, { a: 1 })))
        yield* visits.dropWriters(1_001)
        yield* visits.write(batchOf(1, hourOf(day, { a: 1 })))
        expect((yield* told(visits)).totals!.nonBots).toBe(1)
        yield* visits.dropWriters(1_002)
        yield* visits.write(batchOf(1, hourOf(day, { a: 1 })))
        expect((yield* told(visits)).totals!.nonBots).toBe(2)
      })
    )

    it.scopedLive(`keeps ${valuesMax} values of an hour and dimension, and counts on those it has`, () =>
      Effect.gen(function* () {
        const visits = yield* store
        const first = manyReferrers(valuesMax - 10, "first")
        const second = manyReferrers(30, "second")
        yield* visits.write(batchOf(1, hourOf(day, first)))
        yield* visits.write(batchOf(2, hourOf(day, { ...second, "first0.example": 1 })))
        yield* visits.write(batchOf(3, hourOf(day, { "third.example": 1_000, "second0.example": 1 })))
        yield* visits.write(batchOf(4, hourOf(day + 1, { "third.example": 7 })))
        const { hours, top } = yield* told(visits)
        const kept = new Map(top.map(({ value, visits }) => [value, visits]))
        expect(kept.size).toBe(valuesMax + 1)
        expect(kept.get("first0.example")).toBe(first["first0.example"]! + 1)
        expect(kept.get("second0.example")).toBe(second["second0.example"]! + 1)
        expect(kept.get("second9.example")).toBe(second["second9.example"])
        expect(kept.has("second10.example")).toBe(false)
        expect(kept.get("third.example")).toBe(7)
        const all = [first, second].flatMap((counts) => Object.values(counts))
        expect(hours[0]!.nonBots).toBe(all.reduce((sum, visits) => sum + visits, 0) + 1_002)
      })
    )
  })

  describe(`${title}: reading`, () => {
    it.scopedLive("counts hours from the first on and before the last", () =>
      Effect.gen(function* () {
        const visits = yield* store
        const hours = [0, 1, 2, 3].map((hour) => hourOf(day + hour, { [`h${hour}`]: 1 }))
        yield* visits.write(batchOf(1, ...hours))
        const range = { subject: link, from: day + 1, to: day + 3 }
        expect((yield* visits.series(range, "hour")).map(({ hour }) => hour)).toEqual([day + 1, day + 2])
        expect((yield* visits.top(range, 5)).map(({ value }) => value)).toEqual(["h1", "h2"])
        expect(yield* visits.series({ ...range, to: range.from }, "day")).toEqual([])
      })
    )

    it.scopedLive("gives the most frequent values of each dimension", () =>
      Effect.gen(function* () {
        const visits = yield* store
        const values = [
          ...valuesOf("referrers", { b: 2, a: 2, c: 3, d: 1 }),
          ...valuesOf("devices", { mobile: 5, desktop: 3 })
        ]
        yield* visits.write(batchOf(1, { subject: link, hour: day, nonBots: 8, bots: 0, values }))
        expect(yield* visits.top(always, 2)).toEqual([
          ...valuesOf("referrers", { c: 3, a: 2 }),
          ...valuesOf("devices", { mobile: 5, desktop: 3 })
        ])
      })
    )
  })

  describe(`${title}: forgetting`, () => {
    it.scopedLive("forgets subjects wholly, and no others", () =>
      Effect.gen(function* () {
        const visits = yield* store
        yield* visits.write(batchOf(1, hourOf(day, { a: 1 }), hourOf(day, { a: 1 }, "kept@0")))
        yield* visits.forget([link, "unknown@0"])
        expect(yield* told(visits)).toEqual({
          totals: { nonBots: 0, bots: 0 },
          hours: [],
          days: [],
          visitors: [],
          top: []
        })
        expect((yield* told(visits, "kept@0")).totals).toEqual({ nonBots: 1, bots: 0 })
      })
    )
  })
}

/** What is handed on of links to rank them: not in the simulation, which lists none. */
export const visitRankLaws = (title: string, open: Open<Store>): void => {
  const store = Effect.flatten(open)

  describe(`${title}: ranking`, () => {
    it.scopedLive("hands on how often links were visited in hours that are over, once", () =>
      Effect.gen(function* () {
        const visits = yield* store
        const rank = (key: string, createdAt: number, visits: number, lastVisit: number) => ({
          key,
          createdAt,
          visits,
          lastVisit
        })
        expect(yield* ranksOf(visits, day, 2)).toEqual({})
        yield* visits.write(
          batchOf(
            1,
            hourOf(day + 1, { a: 3 }),
            hourOf(day + 2, { a: 1 }),
            hourOf(day + 2, { a: 2 }, "s1@z"),
            hourOf(day + 2, { a: 5 }, "s1@10"),
            hourOf(day + 2, { a: 9 }, "usr_1")
          )
        )
        const [one, former, latter] = ["aZ3k9Qx", "s1", "s1"]
        expect(yield* ranksOf(visits, day + 2, 1)).toEqual({ [link]: rank(one, 22 * 36 + 1, 4, day + 1) })
        expect(yield* ranksOf(visits, day + 3, 3)).toEqual({
          [link]: rank(one, 22 * 36 + 1, 4, day + 2),
          "s1@z": rank(former, 35, 2, day + 2),
          "s1@10": rank(latter, 36, 5, day + 2)
        })
        expect(yield* ranksOf(visits, day + 3, 3)).toEqual({})
        const bots = { subject: "s1@z", hour: day + 4, nonBots: 0, bots: 6, values: [] }
        yield* visits.write(batchOf(2, bots))
        const error = new StorageError({ operation: "test", applied: "no", reason: "test" })
        yield* Effect.ignore(visits.rank(day + 5, 3, () => error))
        expect(yield* ranksOf(visits, day + 5, 3)).toEqual({ "s1@z": rank(former, 35, 8, day + 4) })
      })
    )
  })
}

/** The laws of `VisitStore` that are for stores which outlive a day. */
export const visitUpkeepLaws = (title: string, open: Open<Store>): void => {
  const store = Effect.flatten(open)

  const rollUpAll = (visits: Store, before: number, max = 50) =>
    Effect.repeat(visits.rollUp(before, max), { until: (more) => !more })
  const dropAll = (visits: Store, before: { readonly hours: number; readonly days: number }) =>
    Effect.repeat(visits.drop(before, 50), { until: (more) => !more })

  /** Of 80 days from 2024-10-04 on every fourth, and those at the beginnings of months and where tests divide them: the others have no visits. */
  const visitedDays = Array.from({ length: 80 }, (_, index) => index).filter(
    (index) => index % 4 === 0 || [27, 29, 39, 49, 57, 58, 59, 79].includes(index)
  )

  /** Visits of those days, six hours each, of two subjects. */
  const fill = (visits: Store) =>
    visits.write(
      batchOf(
        1,
        ...visitedDays.flatMap((index) =>
          [0, 1, 5, 12, 22, 23].flatMap((hour) =>
            [link, "other@0"].map((subject) =>
              withVisitors(
                hourOf(day + index * 24 + hour, { a: 1, [`r${hour % 3}`]: 2, [`d${index % 7}`]: 1 }, subject),
                [0, 1 + (hour % 31)],
                [hour, 1 + (index % 31)],
                [100 + index, 1]
              )
            )
          )
        )
      )
    )

  /** What the store tells of ranges that begin and end anywhere. */
  const toldOfRanges = (visits: Store) => {
    const bounds = [
      day - 1,
      day,
      day + 1,
      day + 23,
      day + 24,
      day + 24 * 20,
      day + 24 * 33 + 5,
      day + 24 * 90
    ]
    const ranges = bounds.flatMap((from) =>
      bounds.filter((to) => to > from).map((to) => ({ subject: link, from, to }))
    )
    return Effect.all({
      totals: visits.totals([link, "other@0"]),
      visitors: visits.visitors(always, "hour"),
      ranges: Effect.forEach(ranges, (range) =>
        Effect.all([
          visits.series(range, "hour"),
          visits.series(range, "day"),
          visits.visitors(range, "day"),
          visits.top(range, 100)
        ])
      )
    })
  }

  describe(`${title}: upkeep`, () => {
    it.scopedLive("rolls days and months up, a few rows at a time, and changes no answer", () =>
      Effect.gen(function* () {
        const visits = yield* store
        yield* fill(visits)
        const before = yield* toldOfRanges(visits)
        expect(yield* visits.rollUp(day + 24 * 40 + 7, 5)).toBe(true)
        expect(yield* toldOfRanges(visits)).toEqual(before)
        yield* rollUpAll(visits, day + 24 * 40 + 7, 25)
        expect(yield* visits.rollUp(day + 24 * 40 + 7, 5)).toBe(false)
        expect(yield* toldOfRanges(visits)).toEqual(before)
        yield* rollUpAll(visits, day + 24 * 79, 1_000)
        expect(yield* toldOfRanges(visits)).toEqual(before)
      })
    )

    it.scopedLive("counts what is written to days that are rolled up in their hours and in the totals", () =>
      Effect.gen(function* () {
        const visits = yield* store
        yield* fill(visits)
        yield* rollUpAll(visits, day + 24 * 50)
        const [before, other] = [yield* told(visits), yield* told(visits, "other@0")]
        const late = [hourOf(day, { a: 1 }), hourOf(day + 2, { a: 2 }), hourOf(day + 24 * 60, { a: 4 })]
        yield* visits.write(batchOf(2, ...late, hourOf(day + 24 * 40, { a: 8 }, "new@0")))
        yield* visits.write(batchOf(3, hourOf(day + 1, { a: 16 })))
        const after = yield* told(visits)
        expect(after.totals!.nonBots).toBe(before.totals!.nonBots + 23)
        expect(after.hours.reduce((sum, { nonBots }) => sum + nonBots, 0)).toBe(after.totals!.nonBots)
        const rolledUp = (days: typeof after.days) => days.filter(({ hour }) => hour < day + 24 * 50)
        expect(rolledUp(after.days)).toEqual(rolledUp(before.days))
        expect((yield* told(visits, "new@0")).totals).toEqual({ nonBots: 8, bots: 0 })
        expect(yield* told(visits, "other@0")).toEqual(other)

        yield* rollUpAll(visits, day + 24 * 80)
        yield* dropAll(visits, { hours: day + 24 * 80, days: day + 24 * 45 })
        expect((yield* told(visits)).totals).toEqual(after.totals)
        expect((yield* told(visits, "new@0")).totals).toEqual({ nonBots: 8, bots: 0 })
        yield* visits.forget(["new@0"])
        expect((yield* told(visits, "new@0")).totals).toEqual({ nonBots: 0, bots: 0 })
      })
    )

    it.scopedLive("counts what is written to a day of which some rows are rolled up", () =>
      Effect.gen(function* () {
        const visits = yield* store
        const subjects = ["a@0", "b@0", "c@0"]
        const late = "a0@0"
        const hours = (start: number) => subjects.map((subject) => hourOf(start, { a: 1 }, subject))
        const counts = Effect.all({
          // Of this one nothing was there when the roll-up passed its place.
          late: visits.totals([late]),
          totals: visits.totals(subjects),
          days: Effect.forEach(subjects, (subject) => visits.series({ ...always, subject }, "day"))
        })
        yield* visits.write(batchOf(1, ...hours(day), ...hours(day + 24)))
        expect(yield* visits.rollUp(day + 48, 2)).toBe(true)
        yield* visits.write(batchOf(2, ...hours(day + 1), ...hours(day + 25), hourOf(day, { a: 1 }, late)))
        yield* visits.write(batchOf(3, hourOf(day, { a: 2 }, late)))
        const before = yield* counts
        expect(before.late).toEqual([{ nonBots: 3, bots: 0 }])
        expect(before.totals).toEqual(subjects.map(() => ({ nonBots: 4, bots: 0 })))
        yield* rollUpAll(visits, day + 48, 2)
        expect(yield* counts).toEqual(before)
      })
    )

    it.scopedLive(
      "hands on how often links were visited in months and days whose hours are dropped, too",
      () =>
        Effect.gen(function* () {
          const visits = yield* store
          yield* fill(visits)
          yield* visits.write(batchOf(2, hourOf(day, { a: 7 }, "old@0")))
          yield* rollUpAll(visits, day + 24 * 80)
          yield* dropAll(visits, { hours: day + 24 * 70, days: day + 24 * 40 })
          const ranks = yield* ranksOf(visits, day + 24 * 80, 50)
          expect(ranks).toMatchObject({
            [link]: { visits: visitedDays.length * 6 * 4, lastVisit: day + 24 * 79 + 23 },
            "other@0": {
              key: "other",
              createdAt: 0,
              visits: visitedDays.length * 6 * 4,
              lastVisit: day + 24 * 79 + 23
            },
            "old@0": { visits: 7 }
          })
          // No later than the visit itself, of which no more than the month is known.
          expect(ranks["old@0"]!.lastVisit).toBeLessThanOrEqual(day)
          expect(yield* ranksOf(visits, day + 24 * 80, 50)).toEqual({})
        })
    )

    it.scopedLive("drops what stands in coarser periods, and nothing else", () =>
      Effect.gen(function* () {
        const visits = yield* store
        yield* fill(visits)
        const all = yield* told(visits)
        yield* dropAll(visits, { hours: day + 24 * 60, days: day + 24 * 60 })
        expect(yield* told(visits)).toEqual(all)

        yield* rollUpAll(visits, day + 24 * 50)
        yield* dropAll(visits, { hours: day + 24 * 60, days: 0 })
        const dropped = yield* told(visits)
        expect({ ...dropped, hours: [] }).toEqual({ ...all, hours: [] })
        expect(dropped.hours).toEqual(all.hours.filter(({ hour }) => hour >= day + 24 * 50))

        // The first day is 2024-10-04, so that October and November are months of which all is there.
        const november = day + 24 * 28
        yield* dropAll(visits, { hours: 0, days: day + 24 * 45 })
        const { days, top, totals } = yield* told(visits)
        expect({ top, totals }).toEqual({ top: all.top, totals: all.totals })
        expect(days).toEqual(all.days.filter(({ hour }) => hour >= november))
        const visitors = all.visitors.filter(({ hour }) => hour >= november)
        expect(yield* told(visits, "other@0")).toEqual({ ...dropped, days, visitors })
      })
    )

    it.scopedLive(`keeps the ${valuesMax} most frequent values of a day`, () =>
      Effect.gen(function* () {
        const visits = yield* store
        const first = hourOf(day, manyReferrers(valuesMax, "x"))
        const second = hourOf(day + 1, { ...manyReferrers(valuesMax - 1, "y"), "x0.example": 9 })
        yield* visits.write(batchOf(1, first, second))
        const before = yield* told(visits)
        expect(before.top).toHaveLength(2 * valuesMax - 1)
        yield* rollUpAll(visits, day + 24)
        const after = yield* told(visits)
        expect(after.top).toEqual(before.top.slice(0, valuesMax))
        expect(after.days).toEqual(before.days)
      })
    )

    it.scopedLive("is done by one node at a time, and loses nothing when several try", () =>
      Effect.gen(function* () {
        const opened = yield* open
        const nodes = [yield* opened, yield* opened, yield* opened]
        yield* fill(nodes[0]!)
        const before = yield* toldOfRanges(nodes[0]!)
        yield* atOnce(nodes.map((visits) => rollUpAll(visits, day + 24 * 80, 20)))
        yield* rollUpAll(nodes[0]!, day + 24 * 80, 20)
        yield* atOnce(nodes.map((visits) => dropAll(visits, { hours: day, days: 0 })))
        expect(yield* toldOfRanges(nodes[0]!)).toEqual(before)
      })
    )
  })
}
