import { Effect, type Scope } from "effect"
import { exitOf, type SqliteThread } from "../../../storage/sql/SqliteThread.ts"
import * as SqliteOrders from "../../../storage/sql/SqliteOrders.ts"

/** What a statement is made before it is carried out: so that something of the stores' SQL can be broken. It must have as many parameters. */
export type Rewritten = (sql: string) => string

/**
 * An SQLite database in memory, whose orders are carried out in this thread, each at once: so that what the stores do with it happens at one moment of the simulation. It is
 * gone with the scope.
 */
export const make = (rewritten: Rewritten = (sql) => sql): Effect.Effect<SqliteThread, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => SqliteOrders.make({ path: ":memory:", pragmas: [] })),
      ({ close }) => Effect.sync(close)
    ),
    ({ answer }): SqliteThread => {
      const askThen: SqliteThread["askThen"] = ({ kind, statement }, done) =>
        done(
          exitOf(
            answer(
              statement === undefined
                ? { id: 0, kind }
                : { id: 0, kind, statement: { ...statement, sql: rewritten(statement.sql) } }
            )
          )
        )
      return {
        askThen,
        ask: (order) => Effect.async((resume) => askThen(order, resume)),
        begin: Effect.void
      }
    }
  )
