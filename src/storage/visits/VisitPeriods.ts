import { DateTime } from "effect"
import { hour_ms } from "../../model/Visit.ts"

/** The periods by which visits are counted, the finest first: a grain's number is its position here. Periods begin in UTC. */
export const grains = ["hour", "day", "month"] as const
/** See {@link grains}. */
export type Grain = (typeof grains)[number]

/** The grain whose periods one of this grain is the sum of. */
export const finerThan = { day: "hour", month: "day" } as const

/** Periods of one grain that begin from hour `from` to before hour `to`. */
export interface Segment {
  readonly grain: Grain
  readonly from: number
  readonly to: number
}

/** Up to which hour all visits are there as days, and as months. */
export interface RolledUp {
  readonly day: number
  readonly month: number
}

const startMomentOf = (grain: Grain, hour: number) =>
  DateTime.startOf(DateTime.unsafeMake(hour * hour_ms), grain)

const hourOfMoment = (moment: DateTime.DateTime) => DateTime.toEpochMillis(moment) / hour_ms

/** The first hour of the period that an hour is in. */
export const startOf = (grain: Grain, hour: number): number => hourOfMoment(startMomentOf(grain, hour))

/** The first hour after the period that an hour is in. */
export const endOf = (grain: Grain, hour: number): number =>
  hourOfMoment(DateTime.add(startMomentOf(grain, hour), { [`${grain}s`]: 1 }))

/**
 * The fewest periods that cover the hours from `from` to before `to`: whole months and days as far as they are rolled up, and none coarser
 * than `grain`.
 */
export const segmentsOf = (
  grain: Grain,
  from: number,
  to: number,
  rolledUp: RolledUp
): ReadonlyArray<Segment> => {
  if (from >= to) return []
  if (grain === "hour") return [{ grain, from, to }]
  const start = startOf(grain, from) === from ? from : endOf(grain, from)
  const end = startOf(grain, Math.min(to, rolledUp[grain]))
  if (start >= end) return segmentsOf(finerThan[grain], from, to, rolledUp)
  return [
    ...segmentsOf(finerThan[grain], from, start, rolledUp),
    { grain, from: start, to: end },
    ...segmentsOf(finerThan[grain], end, to, rolledUp)
  ]
}
