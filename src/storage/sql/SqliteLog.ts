import type { SqlClient } from "@effect/sql"
import { Duration, Effect, Schedule } from "effect"
import type { SqliteFailure, SqliteThread } from "./SqliteThread.ts"

/** How often the log is written back to the database, while there is something to write. */
const writeBackEvery = Duration.millis(500)

/** Pages of the log (4 KiB each) that are left for the writer to write back: it writes nothing else meanwhile, for a millisecond or two. */
const leftMax = 64

/** How often the log is written back beside the writer, which goes on, before it is given the rest. */
const roundsMax = 4

/** From this many pages on the writer writes the rest back, so that the log restarts: 8 MiB. Until then the log only grows. */
const restartFrom = 2_048

/** Pages from which on the writer is given the rest whatever is left: 64 MiB. The disk does not keep up, and writers must wait for it. */
const logMax = 16_384

/** The bound that SQLite itself keeps by the commit that passes it, where nothing above comes in time: 128 MiB. */
export const autocheckpoint = 32_768

/**
 * How often the log is emptied. What was deleted is overwritten in the file, and stays readable in the log until then, which by itself is overwritten only as it grows
 * again.
 */
const emptyEvery = Duration.minutes(5)

/** How it is tried again while a reader is in the way, for four minutes at most: SQLite tells that in its answer, not by an error. */
const emptyAgain = Schedule.spaced(Duration.seconds(1)).pipe(Schedule.intersect(Schedule.recurs(240)))

/** Pages in the log, and those of them that are not in the database. */
interface Level {
  readonly log: number
  readonly left: number
}

const writeBack = { kind: "outside", statement: { sql: "PRAGMA wal_checkpoint(PASSIVE)", args: [] } } as const

/** The answer of `wal_checkpoint`: whether something was in the way, pages in the log, and pages that were written back. */
const levelOf = ([, log, done]: ReadonlyArray<unknown>): Level => ({
  log: Number(log),
  left: Number(log) - Number(done)
})

/**
 * Writes SQLite's log (`-wal`) back to the database by a connection of its own, so that no commit has to: the pages that 32 MiB of it change took a writer a tenth of a second. Where that
 * does not come to the log's end because writers go on, the rest is left to the writer, in a turn of its own: then the next transaction restarts the log.
 *
 * Checkpoints take turns: one that meets another does nothing.
 *
 * `isWritten` is opened with each write, and closed here: while nothing is written no timer runs.
 */
export const keepShort = (
  sql: SqlClient.SqlClient,
  { ask }: SqliteThread,
  isWritten: Effect.Latch
): Effect.Effect<void> => {
  const alone = Effect.unsafeMakeSemaphore(1).withPermits(1)
  const round: Effect.Effect<Level, SqliteFailure> = Effect.map(
    alone(Effect.uninterruptible(ask(writeBack))),
    ({ rows: [row] }) => levelOf(row!)
  )
  const catchUp = Effect.repeat(round, {
    until: ({ left, log }) => left <= leftMax || log > logMax,
    times: roundsMax - 1
  })
  const look = Effect.gen(function* () {
    yield* isWritten.await
    yield* Effect.sleep(writeBackEvery)
    isWritten.unsafeClose()
    const { left, log } = yield* catchUp
    // Where nothing is left the next transaction restarts the log by itself.
    if (left > 0 && log > (left <= leftMax ? restartFrom : logMax))
      yield* alone(sql`PRAGMA wal_checkpoint(PASSIVE)`)
  })
  const empty = Effect.repeat(alone(sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`), {
    schedule: emptyAgain,
    while: ([row]) => row!.busy !== 0
  })

  const patiently = (name: string, step: Effect.Effect<unknown, { readonly cause?: unknown }>) =>
    Effect.catchAll(step, (error) =>
      Effect.logWarning(`The database's log was not ${name}: ${String(error.cause ?? error)}`)
    )
  return Effect.all(
    [
      Effect.forever(patiently("written back", look)),
      Effect.forever(Effect.delay(patiently("emptied", empty), emptyEvery))
    ],
    { concurrency: "unbounded", discard: true }
  )
}
