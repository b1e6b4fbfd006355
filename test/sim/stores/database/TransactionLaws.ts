import { expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { describe } from "vitest"

/** What came of a statement: it is done, it waits for a lock, or why it failed, as SQLSTATE; `lost`: there is no session any more. */
export type Outcome = "done" | "waits" | "40P01" | "55P03" | "57014" | "lost"

/** A session of a database with rows `a` and `b`, for schedules that are replayed statement by statement. */
export interface ScheduledSession {
  /** Begins a statement of its transaction that locks and raises a row, and gives its outcome when it is done, failed, or waits. */
  readonly raise: (row: "a" | "b") => Effect.Effect<Outcome>
  /** How it is with the statement that waited. */
  readonly look: Effect.Effect<Outcome>
  /** The outcome of that statement, when it has one. */
  readonly outcome: Effect.Effect<Outcome>
  readonly commit: Effect.Effect<Outcome>
  readonly rollback: Effect.Effect<Outcome>
  /** Its client goes away without a word to its transaction, and the server hears of that. */
  readonly vanish: Effect.Effect<void>
}

/** A database for schedules. */
export interface Scheduled {
  readonly session: Effect.Effect<ScheduledSession>
  /** The values of the rows, each 0 at first. */
  readonly rows: Effect.Effect<{ readonly a: number; readonly b: number }>
  /** Time passes in which no client does anything. */
  readonly idle: (for_ms: number) => Effect.Effect<void>
  /** Whether its time is that of a machine on which others work, too. */
  readonly isReal: boolean
  /** Whether something was held up by half a second or more, so that what takes that long may have come in another order. */
  readonly hasStalled: Effect.Effect<boolean>
}

/** How often a schedule begins on a machine that holds it up. */
const attemptsMax = 5

/** What two clients of a database see of each other, statement by statement; bounds of sessions are those of a node's stores. */
export const transactionLaws = (title: string, open: Effect.Effect<Scheduled, never, Scope.Scope>): void => {
  const schedule = (
    name: string,
    run: (one: ScheduledSession, other: ScheduledSession, database: Scheduled) => Effect.Effect<void>
  ) =>
    it.scopedLive(
      name,
      () =>
        Effect.gen(function* () {
          const database = yield* open
          yield* run(yield* database.session, yield* database.session, database).pipe(
            Effect.catchAllCause((cause) =>
              Effect.flatMap(database.hasStalled, (hasStalled) =>
                hasStalled ? Effect.fail(cause) : Effect.failCause(cause)
              )
            )
          )
        }).pipe(
          Effect.scoped,
          Effect.retry({ times: attemptsMax - 1 }),
          Effect.catchAll((cause) => Effect.failCause(cause))
        ),
      120_000
    )

  describe(title, () => {
    schedule("lets a statement wait for a row until the other transaction commits", (one, other, { rows }) =>
      Effect.gen(function* () {
        expect(yield* one.raise("a")).toBe("done")
        expect(yield* other.raise("b")).toBe("done")
        expect(yield* other.raise("a")).toBe("waits")
        expect(yield* rows).toEqual({ a: 0, b: 0 })
        expect(yield* one.commit).toBe("done")
        expect(yield* other.outcome).toBe("done")
        expect(yield* rows).toEqual({ a: 1, b: 0 })
        expect(yield* other.commit).toBe("done")
        expect(yield* rows).toEqual({ a: 2, b: 1 })
      })
    )

    schedule("forgets a transaction that is rolled back, and its locks", (one, other, { rows }) =>
      Effect.gen(function* () {
        expect(yield* one.raise("a")).toBe("done")
        expect(yield* other.raise("a")).toBe("waits")
        expect(yield* one.rollback).toBe("done")
        expect(yield* other.outcome).toBe("done")
        expect(yield* other.commit).toBe("done")
        expect(yield* rows).toEqual({ a: 1, b: 0 })
      })
    )

    schedule("rolls back the transaction of a client that vanishes", (one, other, { rows }) =>
      Effect.gen(function* () {
        expect(yield* one.raise("a")).toBe("done")
        expect(yield* other.raise("a")).toBe("waits")
        yield* one.vanish
        expect(yield* other.outcome).toBe("done")
        expect(yield* other.commit).toBe("done")
        expect(yield* rows).toEqual({ a: 1, b: 0 })
      })
    )

    schedule("ends one of two transactions that wait for each other", (one, other, { isReal, rows }) =>
      Effect.gen(function* () {
        expect(yield* one.raise("a")).toBe("done")
        expect(yield* other.raise("b")).toBe("done")
        expect(yield* one.raise("b")).toBe("waits")
        // PostgreSQL looks for such two after a second: nobody may have looked before.
        const seen = yield* other.raise("a")
        if (!isReal) expect(seen).toBe("waits")
        // PostgreSQL does not promise which.
        const outcomes = [yield* one.outcome, yield* other.outcome]
        expect(outcomes.toSorted()).toEqual(["40P01", "done"])
        expect(yield* (outcomes[0] === "done" ? one : other).commit).toBe("done")
        expect(yield* rows).toEqual({ a: 1, b: 1 })
      })
    )

    schedule("rolls back the transaction of a client that is silent for 3 s", (one, other, { idle, rows }) =>
      Effect.gen(function* () {
        expect(yield* one.raise("a")).toBe("done")
        yield* idle(1_500)
        expect(yield* other.raise("a")).toBe("waits")
        // The first is rolled back after 3 s without a word, before the other has waited for 2.5 s.
        expect(yield* other.outcome).toBe("done")
        expect(yield* one.commit).toBe("lost")
        expect(yield* other.commit).toBe("done")
        expect(yield* rows).toEqual({ a: 1, b: 0 })
      })
    )

    schedule("fails a statement that has waited for 2.5 s for a lock", (one, other, { rows }) =>
      Effect.gen(function* () {
        expect(yield* one.raise("a")).toBe("done")
        expect(yield* other.raise("a")).toBe("waits")
        let seen = yield* other.look
        // It does something now and then, so that it is not rolled back itself.
        for (; seen === "waits"; seen = yield* other.look) expect(yield* one.raise("b")).toBe("done")
        expect(seen).toBe("55P03")
        expect(yield* rows).toEqual({ a: 0, b: 0 })
      })
    )
  })
}
