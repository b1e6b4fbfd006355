import {
  Cause,
  Clock,
  Context,
  Duration,
  Effect,
  Fiber,
  Layer,
  Metric,
  Option,
  type Scope,
  Struct
} from "effect"
import * as Metered from "../telemetry/Metered.ts"
import * as RetrySchedule from "../fibers/RetrySchedule.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { LinkPlaces } from "../storage/homes/LinkPlaces.ts"
import { VisitPlaces } from "../storage/homes/VisitDatabaseList.ts"
import { type HourCount, Unwritten, type VisitBatch, VisitStore } from "../storage/visits/VisitStore.ts"
import {
  dimensions,
  hourOf,
  isLinkSubject,
  isVisitSubject,
  linkOfSubject,
  type OrphanVisit,
  subjectOfOrphans,
  subjectOfOwner,
  type Visit,
  type VisitClass
} from "../model/Visit.ts"
import { VisitEvents } from "../webhooks/VisitEvents.ts"
import * as UserAgent from "./UserAgent.ts"
import * as VisitClassifier from "./VisitClassifier.ts"
import { VisitOptOut } from "./VisitOptOut.ts"
import { VisitorHash } from "./VisitorHash.ts"
import { VisitRing } from "./VisitRing.ts"
import { VisitTally } from "./VisitTally.ts"

/**
 * Counts visits, off the path of redirects. A kill loses those that wait: the visits of the last second while the database writes each batch within 400 ms, and never more than {@link waitingMax};
 * `linkmint_visits_waiting` says how many. A graceful shutdown writes them. All other visits that are dropped are counted by reason (`linkmint_visits_shed_total`) and logged.
 */
export class Visits extends Context.Tag("linkmint/Visits")<
  Visits,
  {
    /** Records a visit: a plain call that allocates nothing, and never waits or fails. */
    readonly record: (visit: Visit | OrphanVisit) => void
  }
>() {}

/** Visits that are recorded and not classified yet, at most: they wait some 50 ms. */
const ringMax = 16_384

/** Visits that are classified in one turn of the event loop: a few milliseconds of work. */
const sliceMax = 1_000

/** How long visits are gathered before they are classified, and before they are written: together well below the second that a kill may lose. */
const classifyEvery = Duration.millis(50)
const writeEvery = Duration.millis(500)

/** Counts (an hour of a link, each value of it, and 16 registers of its visitors) that wait to be written at most, some 14 MB, and 16 MB of sketches; then the ring fills, and visits are shed. */
export const waitingCountsMax = 100_000

/** Visits that wait to be written at most, however few links they are of; then the ring fills. */
const classifiedMax = 500_000

/** Visits that are recorded and not written, in one process at most. */
export const waitingMax = classifiedMax + ringMax

/** How often dropped visits are logged. */
const tellEvery = Duration.seconds(1)

/**
 * Counts of one batch at most: 100 visits of as many links, and 200 on PostgreSQL. It holds SQLite's writer, or the rows of its links on PostgreSQL, for some milliseconds. A transaction on
 * PostgreSQL takes five round trips and more, which are then shared by more visits.
 */
export const batchCountsMax = { sqlite: 600, postgres: 1_200 }

/** How long a graceful shutdown tries to write the rest. */
export const stopMax = Duration.seconds(5)

/** Visits that were recorded and will be written. */
export const visitsRecorded = Metered.counter("linkmint_visits_recorded_total", "Visits taken note of")

/** Why visits are dropped, and what the log says then. */
const reasons = {
  full: "more came than can be counted, or wait to be written",
  unwritten: "the database did not take them for ten minutes",
  stopped: "the process stopped, and the database did not take them in 5 s",
  broken: "counting them failed"
} as const
type Reason = keyof typeof reasons

/** Visits that are not counted anywhere. */
export const visitsShed = Metered.countersBy(
  "linkmint_visits_shed_total",
  "Visits that were dropped: too many came, the database was away, the process stopped meanwhile, or a fault of the program",
  "reason",
  Struct.keys(reasons)
)

/** Visits that are recorded and not written: what a kill would lose. */
export const visitsWaiting = Metered.gauge(
  "linkmint_visits_waiting",
  "Visits that wait to be written, and would be lost if the process were killed"
)

/** Visits that wait to be written to one database, and the batch that may not be written yet. Those of several do not wait for each other. */
interface Lane {
  /** Each lane numbers its batches by itself. */
  readonly writer: string
  readonly tally: VisitTally
  readonly isCounted: Effect.Latch
  sequence: number
  batch: Option.Option<VisitBatch>
  /** Its hours that may not be written yet. */
  open: ReadonlyArray<HourCount>
  /** Visits that are out of the ring and not written. */
  classified: number
  /** Those that are not written of owners and domains: their links can be in other databases. */
  summed: number
  /** Whether the last attempt to write failed. */
  isFailing: boolean
}

/** What counting needs of the node. */
export interface VisitsOptions {
  /** The host of short URLs: visits from there are internal. */
  readonly ownHost: string
  /** A text that no other process has, or ever had. */
  readonly writer: string
  /** Counts of one batch at most, and no fewer than `VisitTally`'s `hourCountsMax`. */
  readonly batchCountsMax: number
}

const visitsOf = (isMeant: (subject: string) => boolean) => (hours: ReadonlyArray<HourCount>) =>
  hours.filter(({ subject }) => isMeant(subject)).reduce((sum, { bots, nonBots }) => sum + bots + nonBots, 0)

const visitsIn = visitsOf(isVisitSubject)

/** Those of owners and of domains, which are counted among all visits of these. */
const sumsIn = visitsOf((subject) => !isVisitSubject(subject))

/** A visit that a rule or a variant led, for its link alone: another link's rules may have the same names. */
const aimed = ({ isBot, values, visitor }: VisitClass, target: string): VisitClass => ({
  isBot,
  visitor,
  values: values.with(dimensions.indexOf("targets"), target)
})

const isShort = (text: string | undefined, max: number) => text === undefined || text.length <= max

/** A visit without overlong texts, which say nothing, so that the ring's memory is bounded: 97 MB at worst. */
const bounded = <V extends Visit | OrphanVisit>(visit: V): V =>
  isShort(visit.userAgent, UserAgent.lengthMax) &&
  isShort(visit.referrer, 2_048) &&
  isShort(visit.url, 2_048) &&
  isShort(visit.forwardedFor, 1_024) &&
  isShort(visit.country, 64)
    ? visit
    : {
        ...visit,
        userAgent: isShort(visit.userAgent, UserAgent.lengthMax) ? visit.userAgent : undefined,
        referrer: isShort(visit.referrer, 2_048) ? visit.referrer : "too long",
        url: isShort(visit.url, 2_048) ? visit.url : "",
        forwardedFor: isShort(visit.forwardedFor, 1_024) ? visit.forwardedFor : undefined,
        country: isShort(visit.country, 64) ? visit.country : undefined
      }

export const make = (
  options: VisitsOptions
): Effect.Effect<typeof Visits.Service, never, VisitStore | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* VisitStore
    const classify = VisitClassifier.make(
      options.ownHost,
      yield* VisitClassifier.VisitorCountry,
      yield* VisitorHash
    )
    const news = yield* VisitEvents
    const { isFromThere } = yield* VisitOptOut
    const ring = new VisitRing(ringMax)
    const places = (yield* VisitPlaces) ?? (yield* LinkPlaces)
    const lanes = Array.from({ length: places.lanes }, (_, number): Lane => ({
      writer: number === 0 ? options.writer : `${options.writer}/${number}`,
      tally: new VisitTally(),
      isCounted: Effect.unsafeMakeLatch(),
      sequence: 0,
      batch: Option.none(),
      open: [],
      classified: 0,
      summed: 0,
      isFailing: false
    }))
    const isRecorded = Effect.unsafeMakeLatch()
    const isShed = Effect.unsafeMakeLatch()
    const untold = new Map<Reason, number>()

    const shed = (reason: Reason, visits: number) => {
      if (visits === 0) return
      Metered.add(visitsShed[reason], visits)
      untold.set(reason, (untold.get(reason) ?? 0) + visits)
      isShed.unsafeOpen()
    }

    const dropped = { visits: 0, sums: 0 }

    /** Drops visits, and visits of owners and of domains: one that is dropped for its link and for its owner, one after the other, is one. */
    const drop = (reason: Reason, visits: number, sums: number) => {
      const before = Math.max(dropped.visits, dropped.sums)
      dropped.visits += visits
      dropped.sums += sums
      shed(reason, Math.max(dropped.visits, dropped.sums) - before)
    }

    const counts = () => lanes.reduce((sum, { tally }) => sum + tally.counts, 0)

    const classified = () => lanes.reduce((sum, lane) => sum + lane.classified, 0)

    const isFull = () => counts() >= waitingCountsMax || classified() >= classifiedMax

    /** A lane that cannot be written may use its share of the memory alone, so that the others always have theirs. */
    const hasRoom = ({ classified, isFailing, tally }: Lane) =>
      !isFailing ||
      (tally.counts < waitingCountsMax / lanes.length && classified < classifiedMax / lanes.length)

    const summed = () => lanes.reduce((sum, lane) => sum + lane.summed, 0)

    // One that waits for its link and for its owner is one.
    const waiting = () => ring.size + Math.max(classified(), summed())

    const showWaiting = () => visitsWaiting.unsafeUpdate(waiting(), [])

    const tellShed = Effect.suspend(() => {
      const told = [...untold]
      untold.clear()
      isShed.unsafeClose()
      return Effect.forEach(
        told,
        ([reason, visits]) => Effect.logWarning(`Dropped ${visits} visits: ${reasons[reason]}`),
        { discard: true }
      )
    })

    const record = (visit: Visit | OrphanVisit) => {
      if (ring.push(bounded(visit))) isRecorded.unsafeOpen()
      else shed("full", 1)
    }

    /** Counts a visit, and gives it to the lanes of its link and of its owner. Gives false where one of them has no room for it. */
    const count = (visit: Visit): boolean => {
      const { key, owner } = visit.link
      const { target } = visit
      const hour = hourOf(visit.at)
      const visitClass = classify(visit)
      const ofLink = lanes[places.laneOf(key)]!
      const ofOwner = owner === null ? ofLink : lanes[places.laneOfName(owner)]!
      const [isLinkCounted, isOwnerCounted] = [hasRoom(ofLink), hasRoom(ofOwner)]
      if (isLinkCounted) {
        ofLink.tally.addLink(visit.link, hour, target === undefined ? visitClass : aimed(visitClass, target))
        ofLink.classified++
      }
      if (owner !== null && isOwnerCounted) {
        ofOwner.tally.add(subjectOfOwner(owner), hour, visitClass)
        ofOwner.summed++
      }
      news.note(visit.link, visitClass.isBot)
      return isLinkCounted && isOwnerCounted
    }

    /** The same for a visit that no link redirected. */
    const countOrphan = (visit: OrphanVisit): boolean => {
      const { domain, reason } = visit
      const hour = hourOf(visit.at)
      const visitClass = classify(visit)
      const [ofReason, ofAll] = [subjectOfOrphans(domain, reason), subjectOfOrphans(domain)]
      const laneOfAll = lanes[places.laneOfName(ofAll)]!
      const laneOfReason = lanes[places.laneOfName(ofReason)]!
      const [isReasonCounted, isAllCounted] = [hasRoom(laneOfReason), hasRoom(laneOfAll)]
      if (isReasonCounted) {
        laneOfReason.tally.add(ofReason, hour, visitClass)
        laneOfReason.classified++
      }
      if (isAllCounted) {
        laneOfAll.tally.add(ofAll, hour, visitClass)
        laneOfAll.summed++
      }
      return isReasonCounted && isAllCounted
    }

    /** Moves some visits from the ring to the tally, unless that is full. */
    const classifySome = Effect.suspend(() => {
      let taken = 0
      let leftOut = 0
      while (taken < sliceMax && !isFull()) {
        const visit = ring.shift()
        if (visit === undefined) break
        taken++
        try {
          if (isFromThere?.(visit) === true) leftOut++
          else if (!("link" in visit ? count(visit) : countOrphan(visit))) shed("full", 1)
        } catch {
          shed("broken", 1)
        }
      }
      if (ring.size === 0) isRecorded.unsafeClose()
      for (const { isCounted, tally } of lanes) if (tally.counts > 0) isCounted.unsafeOpen()
      showWaiting()
      return Metric.incrementBy(visitsRecorded, taken - leftOut)
    })

    /** The batch that may not be written yet, or else the next one. Its number makes it count once, however often it is written. */
    const nextBatch = (lane: Lane) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        const batch = Option.getOrElse(lane.batch, () => ({
          writer: lane.writer,
          sequence: ++lane.sequence,
          at,
          hours: (lane.open = lane.tally.take(options.batchCountsMax))
        }))
        lane.batch = Option.some(batch)
        return batch
      })

    /** Of the lane's batch these hours are left. */
    const leaveOpen = (lane: Lane, open: ReadonlyArray<HourCount>) => {
      lane.classified -= visitsIn(lane.open) - visitsIn(open)
      lane.summed -= sumsIn(lane.open) - sumsIn(open)
      lane.open = open
      showWaiting()
    }

    /** The batch is written, given up, or handed over. */
    const end = (lane: Lane) => {
      leaveOpen(lane, [])
      lane.batch = Option.none()
      if (lane.tally.counts === 0) lane.isCounted.unsafeClose()
    }

    const laneOf = ({ subject }: HourCount): Lane =>
      lanes[isLinkSubject(subject) ? places.laneOf(linkOfSubject(subject).key) : places.laneOfName(subject)]!

    /** Whether hours that a batch leaves open belong to other lanes by now, which can have them: their buckets have begun to move, or have moved, since they were counted. */
    const areOfOthers = (lane: Lane, error: StorageError) =>
      error instanceof Unwritten && error.applied === "no" && error.open.some((hour) => laneOf(hour) !== lane)

    const handOver = (lane: Lane) =>
      Effect.sync(() => {
        for (const hour of lane.open) {
          const other = laneOf(hour)
          other.tally.put(hour)
          other.classified += visitsIn([hour])
          other.summed += sumsIn([hour])
          other.isCounted.unsafeOpen()
        }
        end(lane)
      })

    const writeSome = Effect.fnUntraced(function* (lane: Lane) {
      const batch = yield* nextBatch(lane)
      let isForOthers = false
      const giveUp = (reason: Reason) =>
        Effect.sync(() => {
          drop(reason, visitsIn(lane.open), sumsIn(lane.open))
          end(lane)
        })
      yield* store.write(batch).pipe(
        Effect.tapBoth({
          onFailure: (error) => {
            lane.isFailing = true
            if (error instanceof Unwritten) leaveOpen(lane, error.open)
            isForOthers = areOfOthers(lane, error)
            return Effect.logWarning(`Visits wait to be written: ${error.message}`)
          },
          onSuccess: () =>
            Effect.sync(() => {
              lane.isFailing = false
              end(lane)
            })
        }),
        Effect.retry({ schedule: RetrySchedule.patient, until: () => isForOthers }),
        Effect.catchAll(() => (isForOthers ? handOver(lane) : giveUp("unwritten"))),
        Effect.catchAllDefect((defect) =>
          Effect.zipRight(giveUp("broken"), Effect.logError("Visits cannot be written", Cause.die(defect)))
        )
      )
    })

    const classifying = Effect.gen(function* () {
      yield* isRecorded.await
      yield* Effect.sleep(classifyEvery)
      yield* classifySome
      // A timer, since a fiber that only yields would starve requests.
      while (ring.size > 0) {
        yield* Effect.sleep(isFull() ? classifyEvery : Duration.millis(1))
        yield* classifySome
      }
    })

    const writing = (lane: Lane) =>
      Effect.gen(function* () {
        yield* lane.isCounted.await
        yield* Effect.sleep(writeEvery)
        yield* Effect.repeat(writeSome(lane), { while: () => lane.tally.counts > 0 })
      })

    const telling = Effect.zipRight(isShed.await, Effect.delay(tellShed, tellEvery))

    const isIdle = ({ batch, tally }: Lane) => tally.counts === 0 && Option.isNone(batch)

    const writeRest = Effect.forEach(
      lanes,
      (lane) =>
        Effect.gen(function* () {
          // Others can hand some over to it.
          while (ring.size > 0 || !lanes.every(isIdle)) {
            yield* classifySome
            if (!isIdle(lane)) yield* writeSome(lane)
            else if (ring.size > 0) yield* Effect.sleep(Duration.millis(1))
            else if (!lanes.every(isIdle)) yield* Effect.sleep(classifyEvery)
          }
        }),
      { concurrency: "unbounded", discard: true }
    ).pipe(
      Effect.interruptible,
      Effect.timeoutOption(stopMax),
      Effect.ensuring(
        Effect.suspend(() => {
          Metered.add(visitsRecorded, ring.size)
          drop("stopped", ring.size + classified(), ring.size + summed())
          visitsWaiting.unsafeUpdate(0, [])
          return tellShed
        })
      )
    )

    yield* Effect.acquireRelease(
      Effect.forEach([classifying, ...lanes.map(writing), telling], (loop) =>
        Effect.forkDaemon(Effect.interruptible(Effect.forever(loop)))
      ),
      (fibers) => Effect.zipRight(Fiber.interruptAll(fibers), writeRest)
    )
    return { record }
  })

/** See {@link make}. */
export const layer = (options: VisitsOptions): Layer.Layer<Visits, never, VisitStore> =>
  Layer.scoped(Visits, make(options))
