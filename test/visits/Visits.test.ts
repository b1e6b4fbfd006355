import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, LogLevel, Record, Scope, TestClock } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Visits from "../../src/visits/Visits.ts"
import * as Metered from "../../src/telemetry/Metered.ts"
import { LinkPlaces } from "../../src/storage/homes/LinkPlaces.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import { Unwritten, type VisitBatch, VisitStore } from "../../src/storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "../../src/sim/stores/VisitStoreMemory.ts"
import { subjectOfLink, subjectOfOrphans, subjectOfOwner } from "../../src/model/Visit.ts"
import { VisitEvents, type VisitNewsService } from "../../src/webhooks/VisitEvents.ts"
import { firefox, link, visitOf } from "../support/samples/SomeVisits.ts"

const ringMax = 16_384

const options = { ownHost: "sho.rt", writer: "w1", batchCountsMax: Visits.batchCountsMax.sqlite }

/** How the database behaves: it answers, it is away, or it does what it is asked and the answer is lost. */
type Mood = "well" | "slow" | "away" | "lost answers" | "silent" | "broken"

const error = (applied: "no" | "unknown") =>
  new StorageError({ operation: "VisitStore.write", applied, reason: "test" })

type Write = (typeof VisitStore.Service)["write"]

/** A node's counting of visits over a store in memory, to which it writes as `writing` says; what was counted since it began. */
const countingWith = Effect.fnUntraced(function* (writing: (write: Write) => Write) {
  const store = yield* VisitStoreMemory.make
  const world = { mood: "well" as Mood, batches: [] as Array<VisitBatch> }
  const write = (batch: VisitBatch) =>
    Effect.suspend(() => {
      world.batches.push(batch)
      switch (world.mood) {
        case "well":
          return store.write(batch)
        case "slow":
          return Effect.delay(store.write(batch), "3 seconds")
        case "broken":
          return Effect.dieMessage("test")
        case "away":
          return error("no")
        case "lost answers":
          return Effect.zipRight(store.write(batch), error("unknown"))
        case "silent":
          return Effect.never
      }
    })
  const scope = yield* Scope.make()
  const { record } = yield* Visits.make(options).pipe(
    Effect.provideService(
      VisitStore,
      VisitStore.of({ ...store, write: (batch) => Effect.suspend(() => writing(write)(batch)) })
    ),
    Scope.extend(scope)
  )
  const metrics = Effect.sync(() => {
    const shedBy = Record.map(Visits.visitsShed, (counter) => Metered.read(counter).count)
    const shed = Object.values(shedBy).reduce((sum, visits) => sum + visits, 0)
    return { recorded: Metered.read(Visits.visitsRecorded).count, shed, shedBy }
  })
  const before = yield* metrics
  return {
    record,
    world,
    store,
    total: Effect.map(store.totals([subjectOfLink(link)]), ([total]) => total!.nonBots + total!.bots),
    counted: Effect.map(metrics, ({ recorded, shed }) => ({
      recorded: recorded - before.recorded,
      shed: shed - before.shed
    })),
    /** Why visits were shed, and how many. */
    shedBy: Effect.map(metrics, ({ shedBy }) =>
      Record.filter(
        Record.map(shedBy, (visits, reason) => visits - before.shedBy[reason]),
        (visits) => visits > 0
      )
    ),
    waiting: () => Metered.read(Visits.visitsWaiting).value,
    stop: Scope.close(scope, Exit.void)
  }
})

const counting = countingWith((write) => write)

/** Three databases of links and a lane for what is being moved. Owners are in the first. */
const placesWith = (laneOf: (key: string) => number) => ({
  databases: 3,
  lanes: 4,
  laneOf,
  laneOfName: () => 0,
  isOpen: () => true,
  isOpenBeside: () => true
})

const quiet = Effect.provide(Logger.minimumLogLevel(LogLevel.None))

const records = (record: (visit: ReturnType<typeof visitOf>) => void, count: number) => {
  for (let n = 0; n < count; n++) record(visitOf())
}

describe("Visits", () => {
  it.effect("are in the store within a second, of the link and of its owner, bots apart", () =>
    Effect.gen(function* () {
      const { counted, record, store } = yield* counting
      const at = 5 * 3_600_000
      record(visitOf({ at, referrer: "https://news.example/item" }))
      record(visitOf({ at, userAgent: "curl/8" }))
      record(visitOf({ at: at + 3_600_000, link: { ...link, key: "other" } }))
      yield* TestClock.adjust("1 second")
      const all = { from: 0, to: 100 }
      expect(yield* store.totals([subjectOfLink(link), subjectOfOwner("usr_1")])).toEqual([
        { nonBots: 1, bots: 1 },
        { nonBots: 2, bots: 1 }
      ])
      expect(yield* store.series({ subject: subjectOfOwner("usr_1"), ...all }, "hour")).toEqual([
        { hour: 5, nonBots: 1, bots: 1 },
        { hour: 6, nonBots: 1, bots: 0 }
      ])
      expect(yield* store.top({ subject: subjectOfLink(link), ...all }, 5)).toEqual([
        { dimension: "referrers", value: "direct", visits: 1 },
        { dimension: "referrers", value: "news.example", visits: 1 },
        { dimension: "countries", value: "unknown", visits: 2 },
        { dimension: "browsers", value: "Firefox", visits: 1 },
        { dimension: "browsers", value: "bot", visits: 1 },
        { dimension: "os", value: "Linux", visits: 1 },
        { dimension: "os", value: "bot", visits: 1 },
        { dimension: "devices", value: "bot", visits: 1 },
        { dimension: "devices", value: "desktop", visits: 1 }
      ])
      expect(yield* counted).toEqual({ recorded: 3, shed: 0 })
    })
  )

  it.effect("that no link redirected are those of their domain, together and for each reason", () =>
    Effect.gen(function* () {
      const { counted, record, store, waiting } = yield* counting
      const { link: _, ...source } = visitOf()
      record({ ...source, domain: 0, reason: "unknown" })
      record({ ...source, domain: 3, reason: "unknown", userAgent: "curl/8" })
      record({ ...source, domain: 3, reason: "expired" })
      yield* TestClock.adjust("1 second")
      const subjects = [
        subjectOfOrphans(0),
        subjectOfOrphans(3),
        subjectOfOrphans(3, "unknown"),
        subjectOfOrphans(3, "expired"),
        subjectOfOrphans(3, "home")
      ]
      expect(yield* store.totals(subjects)).toEqual([
        { nonBots: 1, bots: 0 },
        { nonBots: 1, bots: 1 },
        { nonBots: 0, bots: 1 },
        { nonBots: 1, bots: 0 },
        { nonBots: 0, bots: 0 }
      ])
      expect(yield* counted).toEqual({ recorded: 3, shed: 0 })
      expect(waiting()).toBe(0)
    })
  )

  it.effect("are told to those who listen to events, bots apart", () =>
    Effect.gen(function* () {
      const noted: Array<readonly [key: string, isBot: boolean]> = []
      const note: VisitNewsService["note"] = ({ key }, isBot) => void noted.push([key, isBot])
      const { record } = yield* Effect.provideService(counting, VisitEvents, { note })
      record(visitOf())
      record(visitOf({ userAgent: "curl/8", link: { ...link, key: "other" } }))
      yield* TestClock.adjust("1 second")
      expect(noted).toEqual([
        [link.key, false],
        ["other", true]
      ])
    })
  )

  it.effect("of a key that was bound again are not those of its former link", () =>
    Effect.gen(function* () {
      const { record, store, total } = yield* counting
      record(visitOf())
      const again = { ...link, createdAt: link.createdAt + 1 }
      record(visitOf({ link: again }))
      record(visitOf({ link: again }))
      yield* TestClock.adjust("1 second")
      expect(yield* total).toBe(1)
      expect(yield* store.totals([subjectOfLink(again)])).toEqual([{ nonBots: 2, bots: 0 }])
    })
  )

  it.effect(
    "of a database that is away wait alone: the others are written, and what is beyond its share is shed",
    () =>
      Effect.gen(function* () {
        const world = { isAway: true }
        // Links whose keys begin with `b` are in the second database.
        const { counted, record, shedBy, store, waiting } = yield* Effect.provideService(
          countingWith(
            (write) => (batch) => (world.isAway && batch.writer === "w1/1" ? error("no") : write(batch))
          ),
          LinkPlaces,
          placesWith((key) => (key.startsWith("b") ? 1 : 0))
        )
        const [here, there] = [
          { ...link, key: "a" },
          { ...link, key: "b" }
        ]
        const visits = (subject: typeof link) =>
          Effect.map(store.totals([subjectOfLink(subject)]), ([total]) => total!.nonBots)
        record(visitOf({ link: here }))
        record(visitOf({ link: there }))
        yield* TestClock.adjust("1 second")
        expect([yield* visits(here), yield* visits(there), waiting()]).toEqual([1, 0, 1])

        const share = 500_000 / 4
        for (let left = share + 10; left > 0; left -= 10_000) {
          for (let n = 0; n < Math.min(left, 10_000); n++) record(visitOf({ link: there }))
          record(visitOf({ link: here }))
          yield* TestClock.adjust("1 second")
        }
        expect(yield* shedBy).toEqual({ full: 11 })
        expect([yield* visits(here), waiting()]).toEqual([14, share])

        world.isAway = false
        yield* TestClock.adjust("5 seconds")
        expect([yield* visits(there), waiting()]).toEqual([share, 0])
        expect(yield* counted).toEqual({ recorded: share + 11 + 14, shed: 11 })
        const [owner] = yield* store.totals([subjectOfOwner("usr_1")])
        expect(owner!.nonBots).toBe(share + 11 + 14)

        // Now that it answers, its lane may use more than its share again.
        for (let n = 0; n < share + 15_000; n++) {
          record(visitOf({ link: there }))
          // The ring has room for 16,384, and is emptied by a thousand each millisecond.
          if (n === 15_000) yield* TestClock.adjust("50 millis")
          else if (n > 15_000 && n % 1_000 === 0) yield* TestClock.adjust("1 millis")
        }
        yield* TestClock.adjust("20 millis")
        expect(waiting()).toBe(share + 15_000)
        expect(yield* shedBy).toEqual({ full: 11 })
      }).pipe(quiet)
  )

  /** Counting where visits of one link, whose bucket has begun to move, are left open; and whether this is known. */
  const beside = Effect.gen(function* () {
    const moving = { ...link, key: "m" }
    const world = { isKnown: false, applied: "no" as "no" | "unknown" }
    const isOpen = ({ subject }: { readonly subject: string }) => subject === subjectOfLink(moving)
    const writing = (write: Write) => (batch: VisitBatch) => {
      const open = batch.hours.filter(isOpen)
      if (open.length === 0 || !world.isKnown) return write(batch)
      const { applied } = world
      const left = new Unwritten({ operation: "VisitStore.write", applied, reason: "test", open })
      // Under a name of its own: the batch is not written.
      const part = {
        ...batch,
        writer: `${batch.writer}, a part`,
        hours: batch.hours.filter((hour) => !isOpen(hour))
      }
      return Effect.zipRight(write(part), left)
    }
    const node = yield* Effect.provideService(
      countingWith(writing),
      LinkPlaces,
      placesWith((key) => (key === "m" && world.isKnown ? 3 : 0))
    )
    const totals = Effect.map(
      node.store.totals([moving, link].map(subjectOfLink).concat(subjectOfOwner("usr_1"))),
      (all) => all.map(({ nonBots }) => nonBots)
    )
    node.record(visitOf({ link: moving }))
    node.record(visitOf())
    // They are counted, and not written yet.
    yield* TestClock.adjust("100 millis")
    world.isKnown = true
    return { ...node, moving, totals, known: world }
  })

  it.effect("that a batch leaves open do not hold up those that come after it", () =>
    Effect.gen(function* () {
      const { counted, known, moving, record, totals, waiting, world } = yield* beside
      yield* TestClock.adjust("1 second")
      expect([yield* totals, waiting()]).toEqual([[0, 1, 2], 1])
      record(visitOf({ link: moving, userAgent: `${firefox} other` }))
      record(visitOf())
      yield* TestClock.adjust("5 seconds")
      expect([yield* totals, waiting()]).toEqual([[0, 2, 4], 2])
      expect(new Set(world.batches.slice(-2).map(({ writer }) => writer))).toEqual(new Set(["w1/3, a part"]))
      known.isKnown = false
      yield* TestClock.adjust("3 seconds")
      expect([yield* totals, waiting()]).toEqual([[2, 2, 4], 0])
      expect(yield* counted).toEqual({ recorded: 4, shed: 0 })
    }).pipe(quiet)
  )

  it.effect("are shed alone, after ten minutes, of a batch of which the others are written", () =>
    Effect.gen(function* () {
      const { counted, known, shedBy, totals, waiting } = yield* beside
      known.applied = "unknown"
      yield* TestClock.adjust("1 second")
      expect([yield* totals, waiting()]).toEqual([[0, 1, 2], 1])
      yield* TestClock.adjust("11 minutes")
      expect([yield* totals, waiting(), yield* shedBy]).toEqual([[0, 1, 2], 0, { unwritten: 1 }])
      expect(yield* counted).toEqual({ recorded: 2, shed: 1 })
    }).pipe(quiet)
  )

  it.effect(
    "count once where it is not known whether they were written, and their bucket has begun to move since",
    () =>
      Effect.gen(function* () {
        const moving = { ...link, key: "m" }
        let lost = 0
        const writing = (write: Write) => (batch: VisitBatch) => {
          const open = batch.hours.filter(({ subject }) => subject === subjectOfLink(moving))
          if (open.length === 0 || lost > 0) return write(batch)
          lost++
          const left = new Unwritten({
            operation: "VisitStore.write",
            applied: "unknown",
            reason: "test",
            open
          })
          return Effect.zipRight(write(batch), left)
        }
        const { counted, record, store } = yield* Effect.provideService(
          countingWith(writing),
          LinkPlaces,
          placesWith((key) => (key === "m" && lost > 0 ? 3 : 0))
        )
        record(visitOf({ link: moving }))
        record(visitOf())
        yield* TestClock.adjust("10 seconds")
        const all = yield* store.totals([moving, link].map(subjectOfLink).concat(subjectOfOwner("usr_1")))
        expect([lost, ...all.map(({ nonBots }) => nonBots)]).toEqual([1, 1, 1, 2])
        expect(yield* counted).toEqual({ recorded: 2, shed: 0 })
      }).pipe(quiet)
  )

  it.effect("are shed alone by a stop, of a batch of which the others are written", () =>
    Effect.gen(function* () {
      const { shedBy, stop, totals } = yield* beside
      yield* TestClock.adjust("1 second")
      const stopping = yield* Effect.fork(stop)
      yield* TestClock.adjust("5 seconds")
      yield* stopping.await
      expect([yield* totals, yield* shedBy]).toEqual([[0, 1, 2], { stopped: 1 }])
    }).pipe(quiet)
  )

  it.effect("that are missing in the sums of owners and of domains alone wait, and are shed as well", () =>
    Effect.gen(function* () {
      // Owners and domains are in the first database, these links and reasons in the second.
      const { record, shedBy, stop, store, waiting } = yield* Effect.provideService(
        countingWith((write) => (batch) => (batch.writer === "w1" ? Effect.never : write(batch))),
        LinkPlaces,
        { ...placesWith(() => 1), laneOfName: (name) => (name.split(":").length === 3 ? 1 : 0) }
      )
      record(visitOf())
      record(visitOf())
      const { link: _, ...visitor } = visitOf()
      record({ ...visitor, domain: 0, reason: "unknown" })
      yield* TestClock.adjust("1 second")
      const subjects = [subjectOfLink(link), subjectOfOrphans(0, "unknown"), subjectOfOwner("usr_1")]
      expect((yield* store.totals(subjects)).map(({ nonBots }) => nonBots)).toEqual([2, 1, 0])
      expect(waiting()).toBe(3)
      const stopping = yield* Effect.fork(stop)
      yield* TestClock.adjust("5 seconds")
      yield* stopping.await
      expect([yield* shedBy, waiting()]).toEqual([{ stopped: 3 }, 0])
    }).pipe(quiet)
  )

  it.effect("are shed, and counted as such, when more come at once than the ring holds", () =>
    Effect.gen(function* () {
      const { counted, record, total } = yield* counting
      records(record, ringMax + 100)
      yield* TestClock.adjust("2 seconds")
      expect(yield* counted).toEqual({ recorded: ringMax, shed: 100 })
      expect(yield* total).toBe(ringMax)
      records(record, 5)
      yield* TestClock.adjust("1 second")
      expect(yield* total).toBe(ringMax + 5)
    }).pipe(quiet)
  )

  it.effect("are all written by an orderly stop, however young they are", () =>
    Effect.gen(function* () {
      const { counted, record, stop, total } = yield* counting
      records(record, 2_500)
      yield* stop
      expect(yield* total).toBe(2_500)
      expect(yield* counted).toEqual({ recorded: 2_500, shed: 0 })
    })
  )

  it.effect("are counted once by a stop that comes amid a write whose answer does not", () =>
    Effect.gen(function* () {
      const { record, stop, total, world } = yield* counting
      world.mood = "lost answers"
      records(record, 10)
      yield* TestClock.adjust("600 millis")
      expect(yield* total).toBe(10)
      records(record, 3)
      world.mood = "well"
      yield* stop
      expect(yield* total).toBe(13)
    }).pipe(quiet)
  )

  it.effect("are written by a stop that comes amid a write that fails, also where no others wait", () =>
    Effect.gen(function* () {
      const { counted, record, stop, total, world } = yield* counting
      world.mood = "away"
      records(record, 10)
      yield* TestClock.adjust("600 millis")
      expect(world.batches.length).toBeGreaterThan(0)
      world.mood = "well"
      yield* stop
      expect(yield* total).toBe(10)
      expect((yield* counted).shed).toBe(0)
    }).pipe(quiet)
  )

  it.effect("do not hold a stop up for longer than 5 s where the database is silent", () =>
    Effect.gen(function* () {
      const { record, stop, world } = yield* counting
      world.mood = "silent"
      records(record, 10)
      const stopping = yield* Effect.fork(stop)
      yield* TestClock.adjust("5 seconds")
      yield* stopping.await
    }).pipe(quiet)
  )

  it.effect("wait for a database that is away, and are written once when it is back", () =>
    Effect.gen(function* () {
      const { counted, record, total, world } = yield* counting
      world.mood = "away"
      for (let second = 0; second < 60; second++) {
        records(record, 10)
        yield* TestClock.adjust("1 second")
      }
      expect(yield* total).toBe(0)
      world.mood = "lost answers"
      yield* TestClock.adjust("3 seconds")
      expect(yield* total).toBeGreaterThan(0)
      world.mood = "well"
      yield* TestClock.adjust("10 seconds")
      expect(yield* total).toBe(600)
      expect(yield* counted).toEqual({ recorded: 600, shed: 0 })
      // What came meanwhile was added up, not kept one by one.
      expect(world.batches.at(-1)!.hours).toHaveLength(2)
    }).pipe(quiet)
  )

  it.effect("are dropped, and counted as such, when they could not be written for ten minutes", () =>
    Effect.gen(function* () {
      const { counted, record, total, world } = yield* counting
      world.mood = "away"
      records(record, 10)
      yield* TestClock.adjust("11 minutes")
      world.mood = "well"
      records(record, 4)
      yield* TestClock.adjust("5 seconds")
      expect(yield* total).toBe(4)
      expect(yield* counted).toEqual({ recorded: 14, shed: 10 })
    }).pipe(quiet)
  )

  it.effect("are held within bounds while the database is away: then they are shed", () =>
    Effect.gen(function* () {
      const { counted, record, store, world } = yield* counting
      world.mood = "away"
      // Each has counts of its own: six of the link; the owner's are few.
      const distinct = 60_000
      for (let n = 0; n < distinct; n++) {
        record(visitOf({ link: { ...link, key: `k${n}` } }))
        if (n % 10_000 === 9_999) yield* TestClock.adjust("500 millis")
      }
      world.mood = "well"
      yield* TestClock.adjust("30 seconds")
      const { recorded, shed } = yield* counted
      expect(recorded + shed).toBe(distinct)
      // 100,000 counts wait, and the ring's visits.
      expect(recorded).toBeGreaterThan(100_000 / 6 + ringMax - 100)
      expect(recorded).toBeLessThan(100_000 / 6 + ringMax + 1_100)
      expect(yield* store.totals([subjectOfOwner("usr_1")])).toEqual([{ nonBots: recorded, bots: 0 }])
      for (const { hours } of world.batches) {
        expect(hours.reduce((counts, { values }) => counts + 1 + values.length, 0)).toBeLessThanOrEqual(
          options.batchCountsMax
        )
      }
    }).pipe(quiet)
  )

  it("are held within the bounds that the documents tell", () => {
    const read = (file: string) => readFileSync(join(import.meta.dirname, "../..", file), "utf8")
    const { batchCountsMax, waitingCountsMax, waitingMax } = Visits
    const { postgres, sqlite } = batchCountsMax
    const [small, large, counts, visits] = [sqlite, postgres, waitingCountsMax, waitingMax].map((bound) =>
      bound.toLocaleString("en")
    )
    // The batch that is under way, and all that wait.
    const [most, fewest] = [sqlite, postgres].map((batch) => 1 + Math.ceil(waitingCountsMax / batch))
    const operations = read("docs/operations.md")
    for (const told of [
      `never more than ${visits} visits`,
      `or ${counts} counts (`,
      `does not take a batch (${small} counts on SQLite, ${large} on PostgreSQL) in ten minutes`,
      `after ${most} writes when ${counts} counts wait (${fewest} on PostgreSQL)`
    ]) {
      expect(operations).toContain(told)
    }
    const ring = ringMax.toLocaleString("en")
    const classified = (waitingMax - ringMax).toLocaleString("en")
    expect(read("ARCHITECTURE.md")).toContain(
      `| ${ring}; ${classified}, ${counts}; ${small} on SQLite, ${large} on PostgreSQL | \`visits/Visits\` |`
    )
  })

  it.effect(
    "wait in a number that is bounded while each write takes 3 s, however few links they are of",
    () =>
      Effect.gen(function* () {
        const { record, shedBy, total, waiting, world } = yield* counting
        world.mood = "slow"
        const happened = 40 * ringMax
        let most = 0
        for (let turn = 0; turn < 40; turn++) {
          records(record, ringMax)
          yield* TestClock.adjust("70 millis")
          // The first write takes 3 s; then nothing is answered any more.
          if (turn === 20) world.mood = "silent"
          most = Math.max(most, waiting())
        }
        expect(most).toBeLessThanOrEqual(Visits.waitingMax)
        const { full } = yield* shedBy
        expect(full).toBeGreaterThan(0)
        expect((yield* total) + waiting() + full!).toBe(happened)
      }).pipe(quiet)
  )

  it.effect("are written within the time of a few writes, where each takes 3 s", () =>
    Effect.gen(function* () {
      const { counted, record, total, waiting, world } = yield* counting
      world.mood = "slow"
      for (let second = 0; second < 30; second++) {
        records(record, 1_000)
        yield* TestClock.adjust("1 second")
        // What came while one batch was written goes with the next.
        expect(waiting()).toBeLessThanOrEqual(8_000)
      }
      yield* TestClock.adjust("7 seconds")
      expect([yield* total, waiting()]).toEqual([30_000, 0])
      expect(yield* counted).toEqual({ recorded: 30_000, shed: 0 })
    })
  )

  it.effect("that a stop could not write are counted as shed, and told with their number", () =>
    Effect.gen(function* () {
      const told: Array<unknown> = []
      const logger = Logger.make(({ message }) => void told.push(...[message].flat()))
      yield* Effect.gen(function* () {
        const { counted, record, shedBy, stop, waiting, world } = yield* counting
        world.mood = "silent"
        records(record, 10)
        yield* TestClock.adjust("1 second")
        records(record, 7)
        const stopping = yield* Effect.fork(stop)
        yield* TestClock.adjust("5 seconds")
        yield* stopping.await
        expect(yield* shedBy).toEqual({ stopped: 17 })
        expect(yield* counted).toEqual({ recorded: 17, shed: 17 })
        expect(waiting()).toBe(0)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(
        told.filter((line) => String(line).startsWith("Dropped 17 visits: the process stopped"))
      ).toHaveLength(1)
    })
  )

  it.effect("are counted as shed where the store breaks, and go on being counted", () =>
    Effect.gen(function* () {
      const { record, shedBy, total, world } = yield* counting
      world.mood = "broken"
      records(record, 10)
      yield* TestClock.adjust("1 second")
      world.mood = "well"
      records(record, 4)
      yield* TestClock.adjust("2 seconds")
      expect([yield* total, yield* shedBy]).toEqual([4, { broken: 10 }])
    }).pipe(quiet)
  )

  it.effect("come with texts of any length", () =>
    Effect.gen(function* () {
      const { record, store } = yield* counting
      record(
        visitOf({
          userAgent: `${firefox}${" ".repeat(1_024)}`,
          referrer: `https://a.example/${"a".repeat(3_000)}`
        })
      )
      record(visitOf({ referrer: `https://a.example/${"a".repeat(2_000)}` }))
      yield* TestClock.adjust("1 second")
      const subject = subjectOfLink(link)
      expect(yield* store.totals([subject])).toEqual([{ nonBots: 1, bots: 1 }])
      const top = yield* store.top({ subject, from: 0, to: 1 }, 5)
      expect(top.filter(({ dimension }) => dimension === "referrers")).toEqual([
        { dimension: "referrers", value: "a.example", visits: 1 }
      ])
    })
  )

  it.effect("are counted by whatever the layer is built with", () =>
    Effect.gen(function* () {
      const { record } = yield* Visits.Visits
      const { totals } = yield* VisitStore
      record(visitOf())
      yield* TestClock.adjust("1 second")
      expect(yield* totals([subjectOfLink(link)])).toEqual([{ nonBots: 1, bots: 0 }])
    }).pipe(Effect.provide(Visits.layer(options).pipe(Layer.provideMerge(VisitStoreMemory.layer))))
  )
})
