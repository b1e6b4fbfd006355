import { Clock, Effect, Either, Number as Numbers, Struct } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import type { Link } from "../../model/Link.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { standardError } from "../../storage/visits/VisitorSketch.ts"
import { type DayVisitors, type Point, type ValueCount, VisitStore } from "../../storage/visits/VisitStore.ts"
import {
  dayHours,
  type Dimension,
  dimensions,
  hour_ms,
  hourOf,
  type OrphanReason,
  orphanReasons,
  seldomDimensions,
  subjectOfLink,
  subjectOfOrphans,
  subjectOfOwner
} from "../../model/Visit.ts"
import {
  firstDayKept,
  firstHourKept,
  VisitRetention,
  type VisitRetentionService
} from "../../visits/VisitRetention.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { Domains } from "../domains/Domains.ts"
import { json } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import * as ManagedLink from "../links/ManagedLink.ts"
import * as LookUps from "../redirects/LookUps.ts"
import * as VisitTotals from "../links/VisitTotals.ts"
import * as Problem from "../exchange/Problem.ts"
import * as StatsTable from "./StatsTable.ts"
import type { Request } from "../exchange/Request.ts"
import { namedMax, pointsMax, type StatsBody, type StatsParameters } from "../contract/StatsSchemas.ts"
import type { Message } from "../../model/Messages.ts"

/** What is asked for: whole hours or days, from hour `from` to before hour `to`, with or without bots. */
interface Asked {
  readonly interval: "hour" | "day"
  readonly from: number
  readonly to: number
  readonly bots: "include" | "exclude"
  readonly format: "json" | "csv"
}

/** The dimensions in which a bot counts as `bot`. */
const botsApart: ReadonlySet<Dimension> = new Set(["browsers", "os", "devices"])

/** Hours of a point. */
const hoursOf = { hour: 1, day: dayHours } as const

/** Points of a range without `from`. */
const pointsByDefault = { hour: 24, day: 30 } as const

const keptBy = {
  hour: {
    first: firstHourKept,
    text: ({ hours_days }: VisitRetentionService): Message =>
      `lies too far back: visits are kept by the hour for ${hours_days} days: ask for interval=day`
  },
  day: {
    first: firstDayKept,
    text: ({ days_days }: VisitRetentionService): Message =>
      `lies too far back: visits are kept by the day for ${days_days} days`
  }
} as const

/** Checks the query parameters at `now` (milliseconds since the Unix epoch): gives what is asked for, or the problem to answer. */
const check = (
  parameters: typeof StatsParameters.Type,
  now: number,
  kept: VisitRetentionService
): Either.Either<Asked, Problem.Problem> =>
  Either.gen(function* () {
    const { bots, format, fromMoment, interval, toMoment } = yield* Problem.collectFaults((fault) => {
      const momentOf = (path: "from" | "to") => {
        const text = parameters[path]
        if (text === undefined) return undefined
        const moment = typeof text === "string" ? Iso8601.parseMoment(text) : undefined
        if (moment === undefined || moment < 0)
          fault(path, "must be an RFC 3339 date-time since 1970 such as 2027-01-01T00:00:00Z")
        return moment
      }
      const [fromMoment, toMoment = now] = [momentOf("from"), momentOf("to")]
      const oneOf = <A extends string>(
        path: "interval" | "bots" | "format",
        choices: readonly [A, A],
        orElse: A,
        message: Message
      ): A => {
        const { [path]: text = orElse } = parameters
        const found = choices.find((choice) => choice === text)
        if (found === undefined) fault(path, message)
        return found ?? orElse
      }
      return {
        fromMoment,
        toMoment,
        interval: oneOf("interval", ["hour", "day"], "day", "must be hour or day"),
        bots: oneOf("bots", ["include", "exclude"], "include", "must be include or exclude"),
        format: oneOf("format", ["json", "csv"], "json", "must be json or csv")
      }
    })
    const refuse = (path: string, message: Message) => Problem.oneFault("invalid-request", path, message)
    const hours = hoursOf[interval]
    const to = Math.ceil(toMoment / (hour_ms * hours)) * hours
    const from =
      fromMoment === undefined
        ? to - pointsByDefault[interval] * hours
        : Math.floor(fromMoment / (hour_ms * hours)) * hours
    if (fromMoment !== undefined && fromMoment >= toMoment) yield* refuse("from", "must lie before to")
    if (from < keptBy[interval].first(kept, hourOf(now))) yield* refuse("from", keptBy[interval].text(kept))
    if ((to - from) / hours > pointsMax)
      yield* refuse("to", `must lie within ${pointsMax} ${interval}s of from`)
    return { interval, from, to, bots, format }
  })

/** Every point of the range, from those with visits. */
const seriesOf = ({ bots: asked, from, interval, to }: Asked, points: ReadonlyArray<Point>) => {
  const visits = new Map(
    points.map(({ bots, hour, nonBots }) => [hour, asked === "include" ? bots + nonBots : nonBots])
  )
  const hours = hoursOf[interval]
  return Array.from({ length: (to - from) / hours }, (_, index) => {
    const hour = from + index * hours
    return { at: Iso8601.formatMoment(hour * hour_ms), visits: visits.get(hour) ?? 0 }
  })
}

/** Every day of the range, from those with visitors; nothing where there are none. */
const uniqueVisitorsOf = (
  { from, to }: Asked,
  counted: ReadonlyArray<DayVisitors>
): Pick<StatsBody, "uniqueVisitors"> => {
  if (counted.length === 0) return {}
  const visitors = new Map(counted.map((day) => [day.hour, day.visitors]))
  const first = from - (from % dayHours)
  const days = Array.from({ length: Math.ceil((to - first) / dayHours) }, (_, index) => {
    const hour = first + index * dayHours
    return { at: Iso8601.formatMoment(hour * hour_ms), visitors: visitors.get(hour) ?? 0 }
  })
  const sumOfDays = Numbers.sumAll(days.map((day) => day.visitors))
  return { uniqueVisitors: { sumOfDays, standardError, days } }
}

/** A dimension's named values, and `other` for all other visits. */
const valuesOf = (dimension: Dimension, top: ReadonlyArray<ValueCount>, total: number) => {
  const named = top.filter((value) => value.dimension === dimension)
  // Visits may have been written between the two reads.
  const rest = Math.max(0, total - Numbers.sumAll(named.map(({ visits }) => visits)))
  return [
    ...named.map(({ value, visits }) => ({ value, visits })),
    ...(rest > 0 ? [{ value: "other", visits: rest }] : [])
  ]
}

const bodyOf = (asked: Asked, points: ReadonlyArray<Point>, top: ReadonlyArray<ValueCount>): StatsBody => {
  const nonBots = Numbers.sumAll(points.map((point) => point.nonBots))
  const bots = Numbers.sumAll(points.map((point) => point.bots))
  const shown = dimensions.filter(
    (dimension) => !seldomDimensions.has(dimension) || top.some((value) => value.dimension === dimension)
  )
  const all = nonBots + bots
  const people = top.filter(({ dimension, value }) => !(botsApart.has(dimension) && value === "bot"))
  const values = shown.map((dimension) => [
    dimension,
    asked.bots === "exclude" && botsApart.has(dimension)
      ? valuesOf(dimension, people, nonBots)
      : valuesOf(dimension, top, all)
  ])
  return {
    total: asked.bots === "include" ? all : nonBots,
    nonBots,
    bots,
    series: seriesOf(asked, points),
    ...(Object.fromEntries(values) as Pick<StatsBody, Dimension>)
  }
}

/** What is shown to nobody but those who may manage a link: how its rules and campaigns are named, and cities, which say the most of single visitors. */
const ownersAlone = ["targets", "utmSources", "utmMediums", "utmCampaigns", "cities"] as const

/** The link of a row, if anybody may see its statistics. */
const publicOf = (row: Link | null): Link | null => {
  const link = ManagedLink.present(row)
  return link?.extras?.publicStats === true ? link : null
}

/**
 * Whether a key is no guess of a caller's. Only its row tells, so that it is read before anything is counted: who manages a link is neither counted nor refused, also where it is deleted,
 * or the caller's key has too few scopes. Administrators manage every link, and have nothing to guess.
 */
const manages = (caller: KnownCaller, row: Link | null): boolean =>
  Caller.mayManage(caller, row === null ? null : row.owner)

/** Answers with the statistics of links. */
export const make = Effect.gen(function* () {
  const find = yield* ManagedLink.makeFinder
  const { lookUp } = yield* LookUps.make
  const store = yield* VisitStore
  const identify = yield* Caller.make
  const known = yield* Domains
  const kept = yield* VisitRetention

  const count = Effect.fnUntraced(function* (subject: string, asked: Asked) {
    const { from, interval, to } = asked
    const range = { subject, from, to }
    const [points, top, visitors] = yield* Problem.orUnavailable(
      Effect.all([store.series(range, interval), store.top(range, namedMax), store.visitors(range, interval)])
    )
    return { ...bodyOf(asked, points, top), ...uniqueVisitorsOf(asked, visitors) }
  })

  const answer = (body: StatsBody, { format, interval }: Asked) =>
    format === "csv" ? StatsTable.answer(body, interval) : json(body)

  const respond = (subject: string, asked: Asked) =>
    Effect.map(count(subject, asked), (body) => answer(body, asked))

  const respondOf = Effect.fnUntraced(function* (link: Link, asked: Asked, who: "manager" | "anybody") {
    const all = yield* count(subjectOfLink(link), asked)
    const counted = who === "manager" ? all : Struct.omit(all, ...ownersAlone)
    const body =
      link.importedVisits === undefined ? counted : { ...counted, imported: VisitTotals.importedOf(link) }
    return answer(body, asked)
  })

  /** The link of a key to a client who does not manage it: links whose statistics are not public are as good as missing, so that nothing is learnt of them. */
  const lookUpPublic = (request: Request, found: ReturnType<typeof find>) =>
    lookUp(request, undefined, Effect.map(found, publicOf))

  const mayRead = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "stats:read"))

  return {
    ofLink: Effect.fn("stats.ofLink")(function* (request, { domain, key, ...parameters }) {
      const now = yield* Clock.currentTimeMillis
      const caller = yield* identify(request)
      const reader = Caller.requireScope(caller, "stats:read")
      const found = find({ domain, key })
      if (Either.isLeft(reader)) {
        const link =
          caller === "anonymous"
            ? yield* lookUpPublic(request, found)
            : yield* Effect.flatMap(found, (row) =>
                manages(caller, row)
                  ? Effect.succeed(publicOf(row))
                  : lookUpPublic(request, Effect.succeed(row))
              )
        if (link === null) return yield* Effect.fail(reader.left)
        return yield* respondOf(link, yield* check(parameters, now, kept), "anybody")
      }
      const asked = yield* check(parameters, now, kept)
      const row = yield* found
      if (manages(reader.right, row)) {
        const managed = ManagedLink.present(row)
        return yield* managed === null
          ? Effect.fail(ManagedLink.noLink)
          : respondOf(managed, asked, "manager")
      }
      const link = yield* lookUpPublic(request, Effect.succeed(row))
      return link === null ? yield* Effect.fail(ManagedLink.noLink) : yield* respondOf(link, asked, "anybody")
    }),

    ofDomain: Effect.fn("stats.ofDomain")(function* (request, { host, reason, ...parameters }) {
      const caller = yield* mayRead(request)
      yield* Caller.requireScope(caller, "admin")
      const asked = yield* check(parameters, yield* Clock.currentTimeMillis, kept)
      const number = known.numberAt(host)
      if (number === undefined)
        return yield* Problem.refuse("not-found", "There is no domain with this host.")
      const isKnown = (text: typeof reason): text is OrphanReason => orphanReasons.some((one) => one === text)
      if (reason !== undefined && !isKnown(reason)) {
        return yield* Problem.oneFault(
          "invalid-request",
          "reason",
          `must be one of ${orphanReasons.join(", ")}`
        )
      }
      return yield* respond(subjectOfOrphans(number, reason), asked)
    }),

    ofOwner: Effect.fn("stats.ofOwner")(function* (request, parameters) {
      const { userId } = yield* mayRead(request)
      const asked = yield* check(parameters, yield* Clock.currentTimeMillis, kept)
      return yield* respond(subjectOfOwner(userId), asked)
    })
  } satisfies OperationsOf<"stats">
})
