import { Clock, Context, Duration, Effect, Fiber, Layer, Metric, Option, type Scope } from "effect"
import * as Metered from "../Metered.ts"
import * as RetrySchedule from "../RetrySchedule.ts"
import type { Link } from "../Link.ts"
import { type VisitBatch, VisitStore } from "../storage/VisitStore.ts"
import { hourOf, isLinkSubject, subjectOfLink, subjectOfOwner, type Visit } from "../Visit.ts"
import { VisitNews } from "../webhooks/VisitNews.ts"
import * as VisitClassifier from "./VisitClassifier.ts"
import { VisitRing } from "./VisitRing.ts"
import { VisitTally } from "./VisitTally.ts"

/**
 * Counts visits, off the path of redirects. Those of the last second at most are lost when the process is killed, none when it is stopped in order. Where
 * visits come faster than they can be counted, or the database is away for long, some are shed, and `linkmint_visits_shed_total` tells how many.
 */
export class Visits extends Context.Tag("linkmint/Visits")<
  Visits,
  {
    /** Takes note of a visit: a plain call that allocates nothing, waits for nothing and never fails. */
    readonly record: (visit: Visit) => void
  }
>() {}

/** Visits that are recorded and not classified yet: they stay for some 50 ms. */
const ringMax = 16_384

/** Visits that are classified in one go, before requests have their turn again: a few milliseconds' worth. */
const sliceMax = 1_000

/** How long visits gather before they are classified, and how long before they are written. Together well below the second that a crash may cost. */
const classifyEvery = Duration.millis(50)
const writeEvery = Duration.millis(500)

/** Counts (an hour of a link, and each value of it) that wait to be written at most, some 14 MB; the ring fills, and sheds, when there are more. */
const waitingCountsMax = 100_000

/** Counts of one batch at most: 500 visits of as many links. To put it together takes the event loop some milliseconds, one statement at a time. */
const batchCountsMax = 3_000

/** How long an orderly stop tries to write what is left. */
const stopMax = Duration.seconds(5)

/** Visits that were recorded and will be written. */
export const visitsRecorded = Metered.counter("linkmint_visits_recorded_total", "Visits taken note of")

/** Visits that are not counted anywhere. */
export const visitsShed = Metered.counter(
  "linkmint_visits_shed_total",
  "Visits that were dropped, because too many came or the database was away"
)

/** What a node's counting of visits needs to know. */
export interface VisitsOptions {
  /** The host of short URLs: visits from there are internal. */
  readonly ownHost: string
  /** A text that no other process has, nor ever had. */
  readonly writer: string
}

const visitsIn = (batch: VisitBatch) =>
  batch.hours
    .filter(({ subject }) => isLinkSubject(subject))
    .reduce((sum, { bots, nonBots }) => sum + bots + nonBots, 0)

const isShort = (text: string | undefined, max: number) => text === undefined || text.length <= max

/** Without texts that are longer than any that tells something, so that the ring's memory is bounded: 65 MB at worst. */
const bounded = (visit: Visit): Visit =>
  isShort(visit.userAgent, 1_024) &&
  isShort(visit.referrer, 2_048) &&
  isShort(visit.forwardedFor, 1_024) &&
  isShort(visit.country, 64)
    ? visit
    : {
        ...visit,
        userAgent: isShort(visit.userAgent, 1_024) ? visit.userAgent : undefined,
        referrer: isShort(visit.referrer, 2_048) ? visit.referrer : "too long",
        forwardedFor: isShort(visit.forwardedFor, 1_024) ? visit.forwardedFor : undefined,
        country: isShort(visit.country, 64) ? visit.country : undefined
      }

export const make = (
  options: VisitsOptions
): Effect.Effect<typeof Visits.Service, never, VisitStore | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* VisitStore
    const classify = VisitClassifier.make(options.ownHost, yield* VisitClassifier.VisitorCountry)
    const news = yield* VisitNews
    const ring = new VisitRing(ringMax)
    const tally = new VisitTally()
    const isRecorded = Effect.unsafeMakeLatch()
    const isCounted = Effect.unsafeMakeLatch()
    const unwritten = { sequence: 0, batch: Option.none<VisitBatch>() }
    let shed = 0

    const record = (visit: Visit) => {
      if (ring.push(bounded(visit))) isRecorded.unsafeOpen()
      else shed++
    }

    /** Links are cached objects, of which many visits have the same. */
    const subjects = new WeakMap<Link, string>()
    const subjectOf = (link: Link): string => {
      const known = subjects.get(link)
      if (known !== undefined) return known
      const subject = subjectOfLink(link)
      subjects.set(link, subject)
      return subject
    }

    const count = (visit: Visit) => {
      const hour = hourOf(visit.at)
      const visitClass = classify(visit)
      tally.add(subjectOf(visit.link), hour, visitClass)
      if (visit.link.owner !== null) tally.add(subjectOfOwner(visit.link.owner), hour, visitClass)
      news.note(visit.link, visitClass.isBot)
    }

    /** Moves some visits on from the ring to the tally, unless that is full. */
    const classifySome = Effect.suspend(() => {
      let classified = 0
      while (classified < sliceMax && tally.counts < waitingCountsMax) {
        const visit = ring.shift()
        if (visit === undefined) break
        count(visit)
        classified++
      }
      if (ring.size === 0) isRecorded.unsafeClose()
      if (tally.counts > 0) isCounted.unsafeOpen()
      const dropped = shed
      shed = 0
      return Effect.zipRight(
        Metric.incrementBy(visitsRecorded, classified),
        dropped === 0 ? Effect.void : countShed(dropped, "more came than can be counted")
      )
    })

    const countShed = (visits: number, reason: string) =>
      Effect.zipRight(
        Metric.incrementBy(visitsShed, visits),
        Effect.logWarning(`Dropped ${visits} visits: ${reason}`)
      )

    /** The batch that is not known to be written, or else the next one. Its number makes it count once, however often it is written. */
    const nextBatch = Effect.map(Clock.currentTimeMillis, (at) => {
      const batch = Option.getOrElse(unwritten.batch, () => ({
        writer: options.writer,
        sequence: ++unwritten.sequence,
        at,
        hours: tally.take(batchCountsMax)
      }))
      unwritten.batch = Option.some(batch)
      return batch
    })

    const isWritten = Effect.sync(() => {
      unwritten.batch = Option.none()
      if (tally.counts === 0) isCounted.unsafeClose()
    })

    const writeSome = Effect.gen(function* () {
      const batch = yield* nextBatch
      yield* store.write(batch).pipe(
        Effect.tapError(({ message }) => Effect.logWarning(`Visits wait to be written: ${message}`)),
        Effect.retry(RetrySchedule.patient),
        Effect.catchAll(() => countShed(visitsIn(batch), "they could not be written"))
      )
      yield* isWritten
    })

    const classifying = Effect.gen(function* () {
      yield* isRecorded.await
      yield* Effect.sleep(classifyEvery)
      yield* classifySome
      // A timer, since a fiber that only yields would let no request in.
      while (ring.size > 0) {
        yield* Effect.sleep(tally.counts < waitingCountsMax ? Duration.millis(1) : classifyEvery)
        yield* classifySome
      }
    })

    const writing = Effect.gen(function* () {
      yield* isCounted.await
      yield* Effect.sleep(writeEvery)
      yield* Effect.repeat(writeSome, { while: () => tally.counts > 0 })
    })

    const isIdle = () => ring.size === 0 && tally.counts === 0 && Option.isNone(unwritten.batch)

    const writeRest = Effect.gen(function* () {
      while (!isIdle()) {
        yield* classifySome
        if (!isIdle()) yield* writeSome
      }
    }).pipe(
      Effect.interruptible,
      Effect.timeoutOption(stopMax),
      Effect.filterOrElse(Option.isSome, () => Effect.logWarning("The last visits could not be written"))
    )

    yield* Effect.acquireRelease(
      Effect.forEach([classifying, writing], (loop) =>
        Effect.forkDaemon(Effect.interruptible(Effect.forever(loop)))
      ),
      (fibers) => Effect.zipRight(Fiber.interruptAll(fibers), writeRest)
    )
    return { record }
  })

/** See {@link make}. */
export const layer = (options: VisitsOptions): Layer.Layer<Visits, never, VisitStore> =>
  Layer.scoped(Visits, make(options))
