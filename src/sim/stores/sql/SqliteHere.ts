import { Effect, Exit, type Scope } from "effect"
import { exitOf, type SqliteThread } from "../../../storage/sql/SqliteThread.ts"
import type { BrokenStatements } from "./BrokenStatements.ts"
import * as SqliteOrders from "../../../storage/sql/SqliteOrders.ts"

/** What a statement is made before it is carried out: so that something of the stores' SQL can be broken. It must have as many parameters. */
export type Rewritten = (sql: string) => string

/**
 * An SQLite database in memory, whose orders are carried out in this thread, each at once: so that what the stores do with it happens at one moment of the simulation. It is
 * gone with the scope. `failing`: is asked before each statement that writes, whether that fails instead.
 */
export const make = (
  rewritten: Rewritten = (sql) => sql,
  failing: BrokenStatements["next"] = () => undefined
): Effect.Effect<SqliteThread, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => SqliteOrders.make({ path: ":memory:", pragmas: [] })),
      ({ close }) => Effect.sync(close)
    ),
    ({ answer }): SqliteThread => {
      const askThen: SqliteThread["askThen"] = ({ kind, statement }, done) => {
        const failure = kind === "alone" || kind === "next" || kind === "commit" ? failing() : undefined
        if (failure !== undefined) {
          if (kind === "commit") answer({ id: 0, kind: "rollBack" })
          return done(Exit.fail(failure))
        }
        done(
          exitOf(
            answer(
              statement === undefined
                ? { id: 0, kind }
                : { id: 0, kind, statement: { ...statement, sql: rewritten(statement.sql) } }
            )
          )
        )
      }
      return {
        askThen,
        ask: (order) => Effect.async((resume) => askThen(order, resume)),
        begin: Effect.void
      }
    }
  )
