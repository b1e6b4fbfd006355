import { Effect, type Scope } from "effect"
import { exitOf, type SqliteThread } from "../../../storage/sql/SqliteThread.ts"
import * as SqliteOrders from "../../../storage/sql/SqliteOrders.ts"

/**
 * An SQLite database in memory, whose orders are carried out in this thread, each at once: so that what the stores do with it happens at one moment of the simulation. It is
 * gone with the scope.
 */
export const make: Effect.Effect<SqliteThread, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => SqliteOrders.make({ path: ":memory:", pragmas: [] })),
    ({ close }) => Effect.sync(close)
  ),
  ({ answer }): SqliteThread => {
    const askThen: SqliteThread["askThen"] = (order, done) => done(exitOf(answer({ id: 0, ...order })))
    return {
      askThen,
      ask: (order) => Effect.async((resume) => askThen(order, resume)),
      begin: Effect.void
    }
  }
)
