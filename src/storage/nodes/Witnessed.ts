import { Context, Data, DateTime, Duration, Effect } from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import { count } from "../../keys/PackedKeys.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { DatabaseMark, type Identity, type Mark, type Regression } from "./DatabaseMark.ts"
import { KeyRangeStore, type Watermark } from "../keys/KeyRangeStore.ts"
import { KeyStock } from "../keys/KeyStock.ts"
import { Fenced, StorageError } from "../StorageError.ts"
import { later, nothing, type Testimony, type Witness } from "./Witness.ts"

/** The database is not the one that the witnesses know. */
export class ForeignDatabase extends Data.TaggedError("ForeignDatabase")<{ readonly fault: string }> {
  override get message() {
    return `${this.fault} If this is a copy, such as a staging system, give it a Redis (REDIS_URLS) or a data folder (DATA_DIR) of its own. If it takes the place of the former one, as after a restore, stop all processes and run: npm run admin -- skip-keys`
  }
}

/** How often this process found the database behind its witnesses. */
export const regressions = Metered.counter(
  "linkmint_database_regressions_total",
  "Times that the database had forgotten what it had committed"
)

/** Keys that are not used any more because the database may have forgotten that they were given out. */
export const abandoned = Metered.countersBy(
  "linkmint_database_regression_keys_total",
  "Keys that were passed over (skipped) or given up (dropped) since the database had forgotten what it had committed",
  "how",
  ["skipped", "dropped"]
)

/** How long a witness is waited for. */
const answerMax = Duration.seconds(2)

/** The database has been recovered since it was asked, or a standby promoted. */
class Recovered extends Data.TaggedError("Recovered")<{}> {}

const again = (operation: string) =>
  new StorageError({
    operation,
    applied: "unknown",
    reason: "the database had forgotten what it had committed, and was recovered"
  })

/** Why a database is not the one of a testimony. */
const faultOf = (own: Identity, { system, timeline }: Testimony): string | undefined => {
  if (system !== undefined && own.system !== undefined && own.system !== system) {
    return `This database (PostgreSQL system ${own.system}) is another one than its witnesses know (system ${system}), and the two would hand out the same keys.`
  }
  return own.timeline < timeline
    ? `This database is on timeline ${own.timeline}, and its witnesses know timeline ${timeline}: another server has been promoted since.`
    : undefined
}

/** Compares the database with its witnesses; see {@link make}. */
export class Witnessed extends Context.Tag("linkmint/Witnessed")<
  Witnessed,
  {
    /** Compares, recovers a database that is behind, and has the witnesses remember its mark. */
    readonly compare: Effect.Effect<void, StorageError | ForeignDatabase>
    /** Compares and recovers only: it writes nothing where all is well. */
    readonly look: Effect.Effect<void, StorageError | ForeignDatabase>
    /** The same ports; the keys that they give have left the database for certain. */
    readonly ranges: typeof KeyRangeStore.Service
    readonly stock: typeof KeyStock.Service
  }
>() {}

/** What {@link make} works on. */
export interface Parts {
  readonly witness: typeof Witness.Service
  readonly mark: typeof DatabaseMark.Service
  readonly ranges: typeof KeyRangeStore.Service
  readonly stock: typeof KeyStock.Service
  /** Gives up the ready keys outside the database; gives how many. */
  readonly dropOthers?: Effect.Effect<number, StorageError>
}

/**
 * Keys leave the database only if it cannot forget them unnoticed. Keys that a range or the stock gives, and those of records that are to be finished, are given only when
 *
 * 1. the database has moved its mark after them, and was not behind a witness then: if it forgets them, it forgets the mark too;
 * 2. a witness has stored the mark and the watermark;
 * 3. the database was not recovered since it was asked for them, nor was a standby promoted, which may have forgotten them before the mark moved. Numbers of a range are lost
 *    then, so a process catches up with the database before it asks for some;
 * 4. no witness knows of a later promotion after that. A former primary can live on for a while. Nobody moves the mark of a promoted server, or recovers it, before a witness has stored its timeline: who does
 *    reads the mark that the former one gave afterwards, or whoever had that one witnessed reads the timeline.
 *
 * The first process that notices a database behind its witnesses recovers it. Its ranges continue exactly where the witnesses remember them, since no key has left them unwitnessed. The ready keys
 * in the stock and in records may have been used: they are given up. Claims are void, so that their owners claim again.
 *
 * While no witness answers, no key leaves. This process also remembers what it has seen, as long as it runs.
 */
export const make = ({ dropOthers = Effect.succeed(0), mark, ranges, stock, witness }: Parts) =>
  Effect.gen(function* () {
    const beginning = FairSemaphore.make(1)
    let known = nothing
    let lineage = 0
    let timeline = 0
    let isBegun = false

    const inTime = <A>(operation: string, self: Effect.Effect<A, StorageError>) =>
      Effect.timeoutFail(self, {
        duration: answerMax,
        onTimeout: () =>
          new StorageError({ operation, applied: "unknown", reason: "the witness does not answer" })
      })
    const read = Effect.map(inTime("Witness.read", witness.read), (told) => {
      known = later(known, told)
      return known
    })
    const raise = (seen: Partial<Testimony>) =>
      Effect.suspend(() => {
        known = later(known, { ...nothing, ...seen })
        return inTime("Witness.raise", witness.raise(known))
      })

    const tell = (regression: Regression) =>
      Effect.suspend(() => {
        Metered.add(regressions)
        Metered.add(abandoned.skipped, regression.skipped)
        Metered.add(abandoned.dropped, regression.dropped)
        const since = DateTime.formatIso(DateTime.unsafeMake(regression.since))
        return Effect.logError(
          `The database has forgotten what it had committed since ${since}: it stands at mark ${regression.mark}, and ${regression.witnessed} was witnessed. ` +
            `Links that were made since then may be gone. No key of theirs is given to another: ${regression.skipped} keys are skipped, and ${regression.dropped} that stood ready are given up.`
        )
      })

    /** The first process does it. What the database gives afterwards has the new lineage. */
    const recover = Effect.gen(function* () {
      const others = yield* dropOthers
      const regression = yield* mark.recover({ ...known, timeline })
      if (regression !== undefined) yield* tell({ ...regression, dropped: regression.dropped + others })
      const found = yield* mark.look
      if (found.timeline === timeline) lineage = found.lineage
    })

    /** Fails where a server that answers was replaced by a promoted one. */
    const refuseFormer = (operation: string, found: Mark, told: Testimony) => {
      const reason = faultOf({ system: undefined, timeline: found.timeline }, told)
      return reason === undefined ? Effect.void : new StorageError({ operation, applied: "unknown", reason })
    }

    /** Follows what the database shows. A promotion is witnessed before anything moves there. */
    const meet = (found: Mark) =>
      Effect.gen(function* () {
        if (found.timeline !== timeline) {
          yield* refuseFormer("DatabaseMark.look", found, known)
          yield* raise({ timeline: found.timeline })
        }
        yield* follow(found)
      })

    /** Follows the database, and recovers it where it is behind. */
    const look: Effect.Effect<void, StorageError> = Effect.gen(function* () {
      const told = yield* read
      const found = yield* mark.look
      yield* refuseFormer("DatabaseMark.look", found, told)
      if (found.timeline !== timeline) {
        yield* meet(found)
        return yield* look
      }
      yield* found.mark < told.mark ? recover : follow(found)
    })

    const moveOn = Effect.gen(function* () {
      const told = yield* read
      const moved = yield* mark.move({ floor: told.mark, timeline })
      if (moved === undefined) {
        yield* look
        return yield* new Recovered()
      }
      yield* refuseFormer("DatabaseMark.move", moved, told)
      return moved
    })

    /** The lineage changes when a process recovers the database, the timeline when a standby is promoted. */
    const follow = (found: Mark) => {
      // A former primary has answered late.
      if (found.timeline < timeline) return Effect.void
      const isNew = lineage !== found.lineage
      lineage = found.lineage
      timeline = found.timeline
      return isNew
        ? Effect.logWarning("The database had forgotten what it had committed, and was recovered.")
        : Effect.void
    }

    const begin = Effect.gen(function* () {
      const told = yield* read
      const own = yield* mark.identity
      const fault = faultOf(own, told)
      if (fault !== undefined) return yield* new ForeignDatabase({ fault })
      timeline = own.timeline
      yield* raise(own)
      const moved = yield* moveOn
      yield* raise({ ...own, ...moved, watermarks: yield* ranges.watermarks })
      lineage = moved.lineage
      isBegun = true
    }).pipe(
      Effect.retry({ times: 2, while: (error) => error._tag === "Recovered" }),
      Effect.catchTag("Recovered", () => again("Witnessed.begin"))
    )
    const beginOnce = beginning(Effect.suspend(() => (isBegun ? Effect.void : begin)))
    const begun = Effect.suspend(() => (isBegun ? Effect.void : beginOnce))
    const begunForStores = Effect.catchTag(begun, "ForeignDatabase", ({ message }) =>
      Effect.fail(new StorageError({ operation: "Witnessed.begin", applied: "no", reason: message }))
    )

    /** What `self` gives, once it cannot be forgotten unnoticed. `leaves` gives the watermarks that it reached, `undefined` where no key leaves. */
    const guard = <A, E>(
      self: Effect.Effect<A, E>,
      leaves: (answer: A) => ReadonlyArray<Watermark> | undefined
    ): Effect.Effect<A, E | StorageError | Recovered> =>
      Effect.gen(function* () {
        yield* begunForStores
        const before = { lineage, timeline }
        const answer = yield* self
        const watermarks = leaves(answer)
        if (watermarks === undefined) return answer
        const moved = yield* moveOn
        yield* raise({ mark: moved.mark, timeline: moved.timeline, watermarks })
        yield* follow(moved)
        const told = yield* read
        const isSame = moved.lineage === before.lineage && moved.timeline === before.timeline
        return isSame && told.timeline <= moved.timeline ? answer : yield* new Recovered()
      })

    /**
     * Learns of a recovery or a promotion that is over, and that a witness stores what it is told: one that is full answers, and takes nothing. Nothing of a range gives back the numbers that
     * {@link guard} does not use, as claims and records do with keys: so those that are asked for afterwards are not to count as asked for before, nor to be asked for in vain.
     */
    const catchUp = begunForStores.pipe(
      Effect.zipRight(Effect.flatMap(mark.look, meet)),
      Effect.zipRight(Effect.suspend(() => raise({})))
    )

    const fromRecovered = (operation: string) => () => again(operation)

    /** Asks again after a recovery: what the former state gave may have been given before. */
    const onceMore =
      (operation: string) =>
      <A>(guarded: Effect.Effect<A, StorageError | Recovered>) =>
        guarded.pipe(
          Effect.retry({ times: 1, while: (error) => error._tag === "Recovered" }),
          Effect.catchTag("Recovered", fromRecovered(operation))
        )

    return Witnessed.of({
      compare: Effect.gen(function* () {
        yield* begun
        const moved = yield* moveOn
        yield* raise({ mark: moved.mark, timeline: moved.timeline })
        yield* follow(moved)
      }).pipe(Effect.catchTag("Recovered", () => Effect.void)),

      look: Effect.zipRight(begun, look),

      ranges: KeyRangeStore.of({
        ...ranges,
        advance: (slot, options) =>
          Effect.zipRight(
            catchUp,
            guard(ranges.advance(slot, options), ({ count, first }) =>
              count === 0 ? undefined : [{ ...slot, next: first + count }]
            )
          ).pipe(onceMore("KeyRangeStore.advance"))
      }),

      stock: KeyStock.of({
        ...stock,
        claim: (shard, above) => guard(stock.claim(shard, above), () => []).pipe(onceMore("KeyStock.claim")),
        take: (batch, wanted) =>
          guard(stock.take(batch, wanted), (keys) => (count(keys) === 0 ? undefined : [])).pipe(
            Effect.catchTag("Recovered", () => new Fenced({ shard: batch.shard, epoch: batch.epoch }))
          ),
        openBatches: (shard) =>
          guard(stock.openBatches(shard), (batches) => (batches.length === 0 ? undefined : [])).pipe(
            Effect.catchTag("Recovered", fromRecovered("KeyStock.openBatches"))
          )
      })
    })
  })
