import { Context, type Effect, Schema } from "effect"
import type { Dimension, VisitCount } from "../../model/Visit.ts"
import type { LinkRank } from "../links/LinkStore.ts"
import { StorageError } from "../StorageError.ts"

/** Visits with one value of a dimension. */
export interface ValueCount {
  readonly dimension: Dimension
  readonly value: string
  readonly visits: number
}

/** Visits of a subject in one hour. */
export interface HourCount extends VisitCount {
  readonly subject: string
  readonly hour: number
  /** At most `valuesMax` of each dimension, each once. */
  readonly values: ReadonlyArray<ValueCount>
  /** What is counted of its visitors, in any order: entries of `VisitorSketch`, each register once. */
  readonly visitors?: ReadonlyArray<number> | undefined
}

/** Visits to add, of a moment (milliseconds since the Unix epoch). */
export interface VisitBatch {
  /** A text that no other process has. */
  readonly writer: string
  /** Grows from each batch of a writer to its next one. */
  readonly sequence: number
  readonly at: number
  /** Each subject and hour once. */
  readonly hours: ReadonlyArray<HourCount>
}

/**
 * Visits are in several databases, and some of a batch are not written.
 *
 * - `open`: these hours; all others of the batch are written.
 * - `applied`: `no` if certainly none of them is. Then they can be written with other batches, and this one is not to be written again. `unknown` if some may be.
 */
export class Unwritten extends StorageError.extend<Unwritten>("Unwritten")({
  open: Schema.declare((open): open is ReadonlyArray<HourCount> => Array.isArray(open))
}) {}

/** The hours of a subject from `from` to before `to`. */
export interface HourRange {
  readonly subject: string
  readonly from: number
  readonly to: number
}

/** Visits of the hour, or of the day that begins with it. */
export interface Point extends VisitCount {
  readonly hour: number
}

/** How many different visitors there were on the day that begins at an hour: an estimate, with `VisitorSketch.standardError`. */
export interface DayVisitors {
  readonly hour: number
  readonly visitors: number
}

/**
 * The visits of subjects (a link, or an owner's links together), counted by hour, and rolled up to days and months when these are over.
 *
 * Laws:
 * 1. A batch is added whole or not at all, and once, however often it is written, as long as its writer has written no later one meanwhile
 *    and is not forgotten by `dropWriters`. In several databases a part of it can be, which `Unwritten` tells.
 * 2. `totals` and `series` grow by the batch's counts, and only `forget`, and for the series `drop`, removes any.
 * 3. Of an hour at most `valuesMax` values of a dimension are kept, those that came first; of a day or month the most frequent. Writers at
 *    the same moment can exceed it in an hour, by `valuesMax` each.
 * 4. `rollUp` changes no answer, except that fewer values are kept. Visits that are written to a day after it was rolled up count only in its hours and in the
 *    totals: so a day should be over for some time.
 * 5. `rank` hands on each link that was visited in an hour before `until`, with all its visits and an hour of one as late as that at least, once its step was handed on without a failure; at times again.
 * 6. Visitors of a day are the union of those of its hours. Those of visits that are written to a day after some of its rows were rolled up count only in hours.
 * 7. `drop` removes hours that were rolled up into days, and days that were rolled up into months, and changes no answer of a range of whole days or months.
 */
export class VisitStore extends Context.Tag("linkmint/VisitStore")<
  VisitStore,
  {
    readonly write: (batch: VisitBatch) => Effect.Effect<void, StorageError>
    /** All visits of each subject ever, in the order of the question; where visits have databases of their own, those of one that does not answer are unknown (`VisitCount.isUnknown`). */
    readonly totals: (
      subjects: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<VisitCount>, StorageError>
    /** Hours or days with visits, in order. */
    readonly series: (
      range: HourRange,
      interval: "hour" | "day"
    ) => Effect.Effect<ReadonlyArray<Point>, StorageError>
    /** Of days with visitors in the range, in order. By the hour those of the hours in it alone, by the day those of whole days. */
    readonly visitors: (
      range: HourRange,
      interval: "hour" | "day"
    ) => Effect.Effect<ReadonlyArray<DayVisitors>, StorageError>
    /** The `max` most frequent values of each dimension, the most frequent first, equal ones in the order of their characters. */
    readonly top: (range: HourRange, max: number) => Effect.Effect<ReadonlyArray<ValueCount>, StorageError>
    /**
     * Rolls up days, and then months, that end at hour `until` or earlier, by at most `max` rows of what they are made of. Gives whether there may be
     * more to do; `false` also while another node does it.
     */
    readonly rollUp: (until: number, max: number) => Effect.Effect<boolean, StorageError>
    /**
     * Hands on how often links were visited, of `max` periods at most that were not handed on yet, and end at hour `until` or earlier. Gives whether there may be more.
     */
    readonly rank: (
      until: number,
      max: number,
      handOn: (ranks: ReadonlyArray<LinkRank>) => Effect.Effect<void, StorageError>
    ) => Effect.Effect<boolean, StorageError>
    /**
     * Drops hours before hour `hours`, and days before hour `days`, as far as they are rolled up: at most `max` of each. Gives whether there may be more.
     */
    readonly drop: (
      before: { readonly hours: number; readonly days: number },
      max: number
    ) => Effect.Effect<boolean, StorageError>
    /** Forgets writers that wrote nothing since a moment (milliseconds since the Unix epoch). */
    readonly dropWriters: (before: number) => Effect.Effect<void, StorageError>
    /** Forgets all visits of subjects, some at a time. */
    readonly forget: (subjects: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  }
>() {}
