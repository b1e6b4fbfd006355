import { SqlClient } from "@effect/sql"
import { Array as Arrays, Data, Duration, Effect, type Redacted, Schedule, type Scope } from "effect"
import { monotonic_ms } from "../../../time/MonotonicTime.ts"
import { inTransaction } from "../../sql/SqlTransaction.ts"
import { knowingFewer } from "../../sql/postgres/DatabasePresence.ts"
import { aligned, NotNow, soon, withoutUpkeep } from "../../visits/VisitUpkeepPause.ts"
import type { Move, Placement } from "../buckets/BucketPlacement.ts"
import * as BucketPlacementSql from "../buckets/BucketPlacementSql.ts"
import * as LinkEpoch from "../buckets/LinkEpoch.ts"
import { writersGone } from "../buckets/LinkWriters.ts"
import * as BucketBarrier from "./BucketBarrier.ts"
import * as BucketFrees from "./BucketFrees.ts"
import * as BucketMoveLog from "./BucketMoveLog.ts"
import * as BucketReplication from "./BucketReplication.ts"
import * as BucketRows from "./BucketRows.ts"
import { recall } from "./ForgottenMoves.ts"
import { missing } from "./MovePreconditions.ts"
import { movedTables, writersTables } from "./MovedTables.ts"
import * as MoverLock from "./MoverLock.ts"

/** The buckets cannot be moved, and nothing was changed by this. */
export class MoveRefused extends Data.TaggedError("MoveRefused")<{ readonly message: string }> {}

/** A move has stopped where it was. The next run goes on there. */
export class MoveStopped extends Data.TaggedError("MoveStopped")<{ readonly message: string }> {}

/** A database of links as the mover needs it: clients without a bound on statements, and at least 4 connections, of which one has the mover's lock. */
export interface MovedDatabase {
  readonly sql: SqlClient.SqlClient
  /** How the servers of the other databases reach it. */
  readonly url: Redacted.Redacted
}

/** What is told of a move while it happens. */
export interface Watcher<E = never> {
  /** Something has been done, by a name that no other place of a move has. Tests end the mover here. */
  readonly at: (place: string) => Effect.Effect<void, E>
  /** Rows of about `all` with which a step is done. */
  readonly progress: (step: BucketMoveLog.Step | "abort", rows: number, all: number) => Effect.Effect<void>
}

/** What a move has done. */
export interface Moved extends Move {
  readonly id: number
  /** For how long the buckets were not written, in milliseconds; `null` where it was not this run that switched them over. */
  readonly unwritten_ms: number | null
  /** Rows deleted from where the buckets were. */
  readonly deleted: number
}

/** How often is looked how far the copy is. */
const copyLook = "100 millis"

/** The buckets are fenced only when changes take less time than this to be replicated, twice in a row, in milliseconds. */
const lagMax_ms = 200

/** How often it is tried again to find a moment to fence buckets in. */
const triesMax = 3_000

/** How long the last changes may take to be replicated while the buckets are fenced. */
const fencedWait = Duration.seconds(60)

/** How long nodes that do not know a database have to notice that buckets are there, by which they end. */
const unawareMax = Duration.seconds(10)

/** Databases that a node has to know, to work beside a move. */
const neededFor = ({ from, to }: Move) => 1 + Math.max(from, to)

/** About how many rows of each table belong to buckets, of a database that has these and those of which it is the home. */
const rowsOf = (sql: SqlClient.SqlClient, { buckets, from }: Move, { places }: Placement) => {
  const there = new Set(buckets)
  for (const [bucket, { home }] of places.entries()) if (home === from) there.add(bucket)
  return Effect.map(
    sql<{
      name: string
      rows: number
    }>`SELECT relname AS name, greatest(reltuples, 0)::float8 AS rows FROM pg_class
      WHERE oid = ANY(${movedTables.map(({ name }) => name)}::text[]::regclass[])`,
    (tables) =>
      new Map(tables.map(({ name, rows }) => [name, Math.ceil((rows * buckets.length) / there.size)]))
  )
}

/** Waits for a moment that is one to fence buckets in. */
const fencing = <A, E>(moment: Effect.Effect<A, E | NotNow, Scope.Scope>) =>
  Effect.catchIf(
    soon(moment, triesMax),
    (error): error is NotNow => error instanceof NotNow,
    ({ what }) =>
      new MoveStopped({
        message: `There was no moment to fence the buckets in: ${what}. Run the command again, when there is less load.`
      })
  )

const unwatched: Watcher = { at: () => Effect.void, progress: () => Effect.void }

/**
 * Moves buckets from one database to another while nodes work on both, by PostgreSQL's logical replication. One process of a deployment can do it at a time, by `MoverLock` in all databases, which it has until the scope closes; `BucketMoveLog` remembers how far it is.
 *
 * Laws:
 * 1. Before the step `fence` nothing is changed for nodes, and {@link abort} undoes all of it. After it, the move can only go on.
 * 2. Between `fence` and `switch` nobody writes what is in the buckets, and the target has all that was committed.
 * 3. Nothing is deleted from the source before it was compared with the target, nor while a node runs that takes it for the home of all links: it asks for no epoch, and only the barrier refuses it.
 */
export const make = <E = never>(
  databases: ReadonlyMap<number, MovedDatabase>,
  { at, progress }: Watcher<E> = unwatched as Watcher<E>
) =>
  Effect.gen(function* () {
    const control = databases.get(0)!.sql
    const further = Array.from(databases, ([number, { sql }]) => ({ number, sql })).filter(
      ({ number }) => number > 0
    )
    const lock = yield* MoverLock.hold({ number: 0, sql: control }, further)
    const log = BucketMoveLog.make(lock.control)
    const placement = yield* Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, control)

    const partsOf = Effect.fnUntraced(function* (move: BucketMoveLog.LoggedMove) {
      const [source, target] = [databases.get(move.from), databases.get(move.to)]
      if (source === undefined || target === undefined) {
        return yield* new MoveRefused({
          message: `Move ${move.id} is between databases ${move.from} and ${move.to}, of which there are ${databases.size}: LINK_DATABASE_URLS must name both.`
        })
      }
      const [from, to] = [source.sql, target.sql]
      return {
        from,
        to,
        url: source.url,
        epoch: yield* Effect.provideService(LinkEpoch.make, SqlClient.SqlClient, from),
        barriers: {
          from: BucketBarrier.make(from, move.id, move.buckets),
          to: BucketBarrier.make(to, move.id, move.buckets)
        },
        /** What nodes delete in the target. */
        frees: BucketFrees.make(to, move.id, move.buckets),
        replication: BucketReplication.make(move.id, move.buckets, from, to),
        rows: movedTables.map((table) => ({
          name: table.name,
          table,
          from: BucketRows.make(from, table, move.buckets),
          to: BucketRows.make(to, table, move.buckets)
        })),
        estimate: yield* rowsOf(from, move, yield* placement.read)
      }
    })
    type Parts = Effect.Effect.Success<ReturnType<typeof partsOf>>

    const all = ({ estimate }: Parts) =>
      Math.max(
        1,
        [...estimate.values()].reduce((sum, rows) => sum + rows, 0)
      )

    const prepare = ({ barriers, frees, replication, url }: Parts) =>
      Effect.gen(function* () {
        // Rows that arrive are not there yet: no sweep of the target's may touch them. The source's barrier is closed when they are fenced.
        yield* barriers.to.build(true)
        yield* frees.begin
        yield* at("the target has its barrier")
        yield* barriers.from.build(false)
        yield* at("the source has its barrier")
        yield* replication.publish
        yield* at("the publication is there")
        yield* replication.makeSlot
        yield* at("the slot is there")
        yield* replication.subscribe(url)
      })

    /** Waits for an effect as long as replication goes on: how long it takes depends on how much there is. */
    const watched = <A, E1>({ replication }: Parts, effect: Effect.Effect<A, E1>) =>
      Effect.gen(function* () {
        const look = Effect.gen(function* () {
          const trouble = yield* replication.trouble
          if (trouble === undefined) return
          return yield* new MoveStopped({
            message: `The rows are not replicated: ${trouble}. The logs of both servers say why. Mend that and run the command again, or undo the move with --abort.`
          })
        })
        return yield* Effect.raceFirst(
          effect,
          Effect.zipRight(Effect.repeat(look, Schedule.spaced(BucketReplication.lookTrouble)), Effect.never)
        )
      })

    const copy = (parts: Parts) =>
      Effect.gen(function* () {
        const { estimate, replication } = parts
        const look = Effect.gen(function* () {
          const { isDone, rows, tables } = yield* replication.copied
          const there = tables.reduce((sum, table) => sum + (estimate.get(table) ?? 0), 0)
          yield* progress("copy", Math.min(there + rows, all(parts)), all(parts))
          return isDone
        })
        yield* watched(
          parts,
          Effect.repeat(look, { schedule: Schedule.spaced(copyLook), until: (isDone) => isDone })
        )
        yield* at("the rows are copied")
        yield* watched(parts, replication.caughtUp)
      })

    /** Adds up rows, and tells their sum. */
    const counting = (step: BucketMoveLog.Step | "abort", parts: Parts) => {
      let done = 0
      return (count: number) =>
        Effect.suspend(() => progress(step, Math.min((done += count), all(parts)), all(parts)))
    }

    const compare = (parts: Parts) => {
      const count = counting("compare", parts)
      return Effect.forEach(
        parts.rows,
        ({ from, name, to }) =>
          BucketRows.compareLive(name, from, to, watched(parts, parts.replication.caughtUp), count),
        { discard: true }
      )
    }

    /** Changes are replicated at once, and no node rolls up visits until the scope closes; gives how far both databases have. */
    const moment = (parts: Parts) =>
      Effect.gen(function* () {
        for (let turn = 0; turn < 2; turn++) {
          const [lag] = yield* Effect.timed(watched(parts, parts.replication.caughtUp))
          if (Duration.toMillis(lag) > lagMax_ms)
            return yield* new NotNow({ what: "changes are replicated too slowly" })
        }
        const rolled = yield* aligned([parts.from, parts.to])
        // What the roll-ups have written.
        yield* watched(parts, parts.replication.caughtUp)
        return rolled
      })

    const isBegun = ({ places }: Placement, { buckets, to }: Move) =>
      buckets.every((bucket) => places[bucket]!.movingTo === to)

    /** Nobody writes the buckets any more, and the target has all of them. */
    const fence = (move: BucketMoveLog.LoggedMove, parts: Parts) =>
      Effect.gen(function* () {
        const { barriers, epoch, from, replication, to } = parts
        if (!(yield* placement.begin(move))) {
          return yield* new MoveStopped({
            message: `The buckets of move ${move.id} are no longer in database ${move.from}, or are on their way elsewhere. Undo it with --abort.`
          })
        }
        yield* at("the buckets are marked as moving")
        yield* epoch.raise((yield* placement.read).epochs.get(move.from)!)
        yield* at("the epoch is raised")
        yield* barriers.from.set(true)
        yield* at("the source's barrier is closed")
        yield* writersGone(from, writersTables)
        yield* replication.caughtUp.pipe(
          Effect.timeoutFail({
            duration: fencedWait,
            onTimeout: () =>
              new MoveStopped({
                message: `The last changes of the buckets have not been replicated for ${Duration.format(fencedWait)}. The buckets are not written until they have: mend the replication, and run the command again.`
              })
          })
        )
        yield* at("the target has all changes")
        const [row] = yield* to<{ snapshot: string }>`SELECT pg_current_snapshot()::text AS snapshot`
        return row!.snapshot
      })

    /** The target becomes the home of the buckets. */
    const switchOver = (move: BucketMoveLog.LoggedMove, { barriers, frees, from, to }: Parts) =>
      Effect.gen(function* () {
        const lowered = ([grain, hour]: readonly [number, number]) => to`
          UPDATE visit_rolled SET hour = ${hour}, seen_hour = ${hour}, seen_subject = '' WHERE grain = ${grain} AND hour > ${hour}`
        // Where the mover died after the fence and a day has ended since: the target rolls it up once more, with the rows that have arrived. Hours are kept for weeks, and count until then.
        yield* Effect.forEach(
          [
            [1, move.rolled.day],
            [2, move.rolled.month]
          ] as const,
          lowered
        )
        // Hours of the links that have arrived may not have been ranked where they come from.
        yield* to`UPDATE visit_ranked SET hour = ${move.rolled.day}, subject = '' WHERE grain = 0 AND hour > ${move.rolled.day}`
        // Keys of links that have arrived may have been given to others in a time that the source has forgotten.
        const forgotten = yield* from`SELECT * FROM database_regressions`
        if (forgotten.length > 0) {
          yield* inTransaction(
            to,
            // Waits for those that free keys by what they have read before.
            Effect.zipRight(
              to`SELECT id FROM database_mark FOR UPDATE`,
              to`INSERT INTO database_regressions ${to.insert(forgotten)} ON CONFLICT DO NOTHING`
            )
          )
        }
        yield* frees.allMoved
        yield* at("the target is prepared to be home")
        yield* barriers.to.set(false)
        yield* at("the target's barrier is open")
        // Not before that: who fills in hashes would pass over what has arrived, and be done with it.
        yield* to`UPDATE url_indexed_owners SET filled = false, seen_at = NULL, seen_key = NULL`
        if (!(yield* placement.end(move))) {
          return yield* new MoveStopped({
            message: `Move ${move.id} could not end: another one has changed the placement.`
          })
        }
        yield* at("the buckets are at home in the target")
      })

    const verify = (move: BucketMoveLog.LoggedMove, parts: Parts) => {
      const count = counting("verify", parts)
      return Effect.forEach(
        parts.rows,
        ({ from, table, to }) =>
          BucketRows.compareMoved(table, from, to, move.snapshot!, parts.frees.among, count),
        { discard: true }
      )
    }

    /** What nodes know too few databases, and where they are; `undefined` if all know enough. */
    const unaware = (move: Move) =>
      Effect.map(knowingFewer(control, neededFor(move)), (machines) =>
        machines.length === 0
          ? undefined
          : `Nodes on ${machines.join(", ")} do not know database ${neededFor(move) - 1}: restart them with LINK_DATABASE_URLS, all with the same.`
      )

    /** Waits until no such node runs any more. */
    const withoutUnaware = (move: BucketMoveLog.LoggedMove) =>
      Effect.gen(function* () {
        const found = yield* unaware(move)
        if (found !== undefined) return yield* new MoveStopped({ message: found })
      }).pipe(
        Effect.retry({
          while: (error) => error instanceof MoveStopped,
          schedule: Schedule.spaced(copyLook).pipe(Schedule.upTo(unawareMax))
        })
      )

    /** Deletes a move's rows from one of its databases, whose barrier keeps everybody else away from them, and then the barrier. */
    const deleteRows = (
      step: "abort" | "delete",
      { id }: BucketMoveLog.LoggedMove,
      parts: Parts,
      side: "from" | "to"
    ) =>
      Effect.gen(function* () {
        const sql = parts[side]
        const count = counting(step, parts)
        let deleted = 0
        // With the barrier gone another run was here, and the rows may be others by now.
        yield* sql`INSERT INTO bucket_leftovers (move) SELECT ${id}::bigint WHERE ${parts.barriers[side].isThere} ON CONFLICT DO NOTHING`
        for (const table of parts.rows) {
          let after: string | null = null
          do {
            const gone: { readonly count: number; readonly last: string | null } = yield* table[
              side
            ].deleteSome(id, after)
            yield* count(gone.count)
            deleted += gone.count
            after = gone.last
            yield* at(`rows of ${table.name} are deleted`)
          } while (after !== null)
        }
        yield* parts.barriers[side].remove
        yield* at("the barrier is gone")
        yield* sql`DELETE FROM bucket_leftovers WHERE move = ${id}`
        yield* Effect.forEach(
          [parts.from, parts.to],
          (each) => each`DELETE FROM bucket_marks WHERE move = ${id}`
        )
        return deleted
      })

    /** Does what is left of a move. */
    const finish = (first: BucketMoveLog.LoggedMove) =>
      Effect.gen(function* () {
        const parts = yield* partsOf(first)
        let move = first
        let unwritten_ms: number | null = null
        let deleted = 0
        const next = (step: BucketMoveLog.LoggedMove["step"], change?: BucketMoveLog.Change) =>
          Effect.gen(function* () {
            move = yield* log.set(move, step, change)
            yield* at(`the next step is ${step}`)
          })

        if (move.step === "prepare") {
          yield* prepare(parts)
          yield* next("copy")
        }
        if (move.step === "copy") {
          yield* copy(parts)
          yield* next("compare")
        }
        // Once more where another run had come to the fence: a target that has lost commits since gets no row again.
        if (move.step === "compare" || (move.step === "fence" && !isBegun(yield* placement.read, move))) {
          yield* compare(parts)
          yield* next("fence")
        }
        if (move.step === "fence" || move.step === "switch") {
          yield* Effect.scoped(
            Effect.gen(function* () {
              if (move.step === "fence" && !isBegun(yield* placement.read, move)) {
                yield* next("fence", { rolled: yield* fencing(moment(parts)) })
              } else yield* fencing(withoutUpkeep([parts.from, parts.to]))
              const begun_ms = yield* monotonic_ms
              const isWhole = move.step === "fence"
              if (move.step === "fence") yield* next("switch", { snapshot: yield* fence(move, parts) })
              yield* switchOver(move, parts)
              if (isWhole) unwritten_ms = (yield* monotonic_ms) - begun_ms
            })
          )
          yield* next("detach")
        }
        if (move.step === "detach") {
          yield* parts.replication.remove
          yield* at("the replication has ended")
          yield* parts.barriers.to.remove
          yield* next("verify")
        }
        if (move.step === "verify") {
          yield* verify(move, parts)
          yield* next("delete")
        }
        if (move.step === "delete") {
          yield* withoutUnaware(move)
          yield* parts.frees.end
          deleted = yield* deleteRows("delete", move, parts, "from")
          yield* next("done")
        }
        const { buckets, from, id, to } = move
        const moved: Moved = { id, from, to, buckets, unwritten_ms, deleted }
        return moved
      })

    const undo = (first: BucketMoveLog.LoggedMove) =>
      Effect.gen(function* () {
        if (first.step !== "abort") {
          const isEarly = ["prepare", "copy", "compare", "fence"].includes(first.step)
          if (!isEarly || isBegun(yield* placement.read, first)) {
            return yield* new MoveRefused({
              message: `Move ${first.id} can no longer be undone: its buckets are fenced, or have moved. Run the command without --abort to finish it.`
            })
          }
        }
        const parts = yield* partsOf(first)
        const move = yield* log.set(first, "abort")
        yield* at("the next step is abort")
        yield* parts.replication.remove
        yield* at("the replication has ended")
        yield* parts.frees.end
        yield* deleteRows("abort", move, parts, "to")
        yield* parts.barriers.from.remove
        yield* log.set(move, "aborted")
        return move
      })

    /** See `ForgottenMoves`. */
    const recalled = Effect.fnUntraced(function* (move: Move | undefined) {
      const problem = yield* recall(databases, move)
      if (problem !== undefined) return yield* new MoveRefused({ message: problem })
    })

    /** The move that a former run has begun and not finished, if there is one. */
    const unfinished = Effect.tap(log.unfinished, recalled)

    const locked = <A, E1, R>({ from, to }: Move, work: Effect.Effect<A, E1, R>) =>
      lock.holding([from, to], work)

    return {
      placement: placement.read,

      /** Goes on with the move that is not finished; `undefined` where there is none. */
      resume: Effect.gen(function* () {
        const move = yield* unfinished
        if (move === undefined) return undefined
        if (move.step === "abort") {
          return yield* new MoveRefused({
            message: `Move ${move.id} is being undone. Run the command with --abort to finish that.`
          })
        }
        return yield* locked(move, finish(move))
      }),

      /** Moves buckets, unless something is missing, or another move is not finished. */
      move: (wanted: Move) =>
        Effect.gen(function* () {
          const other = yield* log.unfinished
          if (other !== undefined) {
            return yield* new MoveRefused({ message: `Move ${other.id} is not finished. Finish it first.` })
          }
          const { places } = yield* placement.read
          const elsewhere = wanted.buckets.filter((bucket) => places[bucket]!.home !== wanted.from)
          if (elsewhere.length > 0 || wanted.from === wanted.to) {
            return yield* new MoveRefused({
              message: `Not all of these buckets are in database ${wanted.from}, and outside of ${wanted.to}: ${elsewhere.slice(0, 5).join(", ")}`
            })
          }
          const [from, to] = [databases.get(wanted.from), databases.get(wanted.to)]
          if (from === undefined || to === undefined) {
            return yield* new MoveRefused({
              message: `There are ${databases.size} databases, 0 to ${databases.size - 1}: LINK_DATABASE_URLS names those after 0.`
            })
          }
          const problems = Arrays.filter(
            [
              yield* unaware(wanted),
              ...(yield* missing(
                { number: wanted.from, ...from },
                { number: wanted.to, ...to },
                wanted.buckets
              ))
            ],
            (problem) => problem !== undefined
          )
          if (problems.length > 0) return yield* new MoveRefused({ message: problems.join("\n") })
          yield* recalled(undefined)
          const move = yield* log.begin(wanted)
          return yield* locked(move, finish(move))
        }),

      /** Undoes the move that is not finished, if its buckets are not fenced yet; `undefined` where there is none. */
      abort: Effect.gen(function* () {
        const move = yield* unfinished
        return move === undefined ? undefined : yield* locked(move, undo(move))
      })
    }
  })
