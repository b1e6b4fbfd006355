import { Clock, Effect, Number as Numbers } from "effect"
import * as Iso8601 from "../../model/Iso8601.ts"
import { type Point, type ValueCount, VisitStore } from "../../storage/visits/VisitStore.ts"
import { type Dimension, dimensions, hour_ms, subjectOfLink, subjectOfOwner } from "../../model/Visit.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { json } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import * as ManagedLink from "../links/ManagedLink.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as StatsRequest from "./StatsRequest.ts"
import { namedMax, type StatsBody } from "../contract/StatsSchemas.ts"

/** Every point of the range, from those with visits. */
const seriesOf = ({ from, interval, to }: StatsRequest.StatsRange, points: ReadonlyArray<Point>) => {
  const visits = new Map(points.map(({ bots, hour, nonBots }) => [hour, bots + nonBots]))
  const hours = StatsRequest.hoursOf[interval]
  return Array.from({ length: (to - from) / hours }, (_, index) => {
    const hour = from + index * hours
    return { at: Iso8601.formatMoment(hour * hour_ms), visits: visits.get(hour) ?? 0 }
  })
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

const bodyOf = (
  range: StatsRequest.StatsRange,
  points: ReadonlyArray<Point>,
  top: ReadonlyArray<ValueCount>
): StatsBody => {
  const nonBots = Numbers.sumAll(points.map((point) => point.nonBots))
  const bots = Numbers.sumAll(points.map((point) => point.bots))
  const values = dimensions.map((dimension) => [dimension, valuesOf(dimension, top, nonBots + bots)])
  return {
    total: nonBots + bots,
    nonBots,
    bots,
    series: seriesOf(range, points),
    ...(Object.fromEntries(values) as Pick<StatsBody, Dimension>)
  }
}

/** Answers with the statistics of links. */
export const make = Effect.gen(function* () {
  const manageable = yield* ManagedLink.make
  const store = yield* VisitStore
  const identify = yield* Caller.make

  const respond = Effect.fnUntraced(function* (subject: string, range: StatsRequest.StatsRange) {
    const { from, interval, to } = range
    const [points, top] = yield* Problem.orUnavailable(
      Effect.all([store.series({ subject, from, to }, interval), store.top({ subject, from, to }, namedMax)])
    )
    return json(bodyOf(range, points, top))
  })

  const mayRead = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "stats:read"))

  return {
    ofLink: Effect.fn("stats.ofLink")(function* (request, { key, ...parameters }) {
      const caller = yield* mayRead(request)
      const range = yield* StatsRequest.check(parameters, yield* Clock.currentTimeMillis)
      return yield* respond(subjectOfLink(yield* manageable(caller, key)), range)
    }),

    ofOwner: Effect.fn("stats.ofOwner")(function* (request, parameters) {
      const { userId } = yield* mayRead(request)
      const range = yield* StatsRequest.check(parameters, yield* Clock.currentTimeMillis)
      return yield* respond(subjectOfOwner(userId), range)
    })
  } satisfies OperationsOf<"stats">
})
