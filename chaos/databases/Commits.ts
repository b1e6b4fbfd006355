// Commits that a run makes by itself in each database. They tell a machine that is slow from a node that is.

import { Effect, Schedule, type Scope } from "effect"
import { inDatabase } from "../Stores.ts"
import type { Database } from "./Topology.ts"

/** A commit that takes so long is slow: a create under an `Idempotency-Key` has several of them, and 4 s. */
export const slow_ms = 500

/** So much later the next one begins. */
const pause_ms = 250

/** What is known of commits, by the number of their database. Times are those of `performance.now()`. */
export class Commits {
  /** Those that succeeded. */
  count = 0
  /** Those of them that were slow. */
  slow = 0
  readonly #begunAt = new Map<number, number>()
  #lastSlowAt = Number.NEGATIVE_INFINITY

  /** A commit begins. */
  begin(database: number, at: number): void {
    this.#begunAt.set(database, at)
  }

  /** It succeeded. */
  end(database: number, at: number): void {
    this.count++
    if (at - this.#begunAt.get(database)! >= slow_ms) {
      this.slow++
      this.#lastSlowAt = at
    }
    this.#begunAt.delete(database)
  }

  /** It failed, as the database was away: that says nothing of the machine. */
  fail(database: number): void {
    this.#begunAt.delete(database)
  }

  /** Whether any commit was slow that ended since then, or has been under way for too long by now. */
  wereSlow(since: number, now: number): boolean {
    return this.#lastSlowAt >= since || [...this.#begunAt.values()].some((at) => now - at >= slow_ms)
  }
}

/** Commits in every database until the scope closes, one after the other in each. */
export const watch = (databases: ReadonlyArray<Database>): Effect.Effect<Commits, never, Scope.Scope> =>
  Effect.gen(function* () {
    const commits = new Commits()
    yield* Effect.forEach(
      databases,
      (database, number) =>
        inDatabase(database, (sql) =>
          Effect.suspend(() => {
            commits.begin(number, performance.now())
            // A message that nobody reads is the smallest commit that must be on disk.
            return sql`SELECT pg_logical_emit_message(true, 'chaos', '')`
          }).pipe(
            Effect.tap(() => commits.end(number, performance.now())),
            Effect.repeat(Schedule.spaced(pause_ms))
          )
        ).pipe(
          Effect.tapError(() => Effect.sync(() => commits.fail(number))),
          Effect.retry(Schedule.spaced(pause_ms)),
          Effect.forkScoped
        ),
      { discard: true }
    )
    return commits
  })
