import { Context } from "effect"
import { dayHours } from "../model/Visit.ts"

/** For how many whole days visits are kept by the hour, and by the day; by the month they are kept as long as their link. See {@link VisitRetention}. */
export interface VisitRetentionService {
  readonly hours_days: number
  /** At least as many. */
  readonly days_days: number
}

/** How long visits are kept. */
export class VisitRetention extends Context.Reference<VisitRetention>()("linkmint/VisitRetention", {
  defaultValue: (): VisitRetentionService => ({ hours_days: 35, days_days: 1_100 })
}) {}

const firstOfDay = (hour: number) => hour - (hour % dayHours)

/** The first hour whose visits are kept by the hour, at hour `now`. */
export const firstHourKept = ({ hours_days }: VisitRetentionService, now: number): number =>
  firstOfDay(now - hours_days * dayHours)

/** The first hour whose visits are kept by the day, at hour `now`. */
export const firstDayKept = ({ days_days }: VisitRetentionService, now: number): number =>
  firstOfDay(now - days_days * dayHours)
