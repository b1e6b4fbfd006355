import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Exit } from "effect"
import { Direct, type Run } from "../../fibers/Direct.ts"
import * as Traced from "../../telemetry/Traced.ts"
import type { StorageError } from "../StorageError.ts"
import { storageErrorOf } from "./SqlTransaction.ts"

/** A statement that is a transaction by itself, as the SQL library compiles it (`statement.compile()`). On PostgreSQL it is prepared where it says so (`SqlDialect.prepared`). */
export type DirectStatement = readonly [text: string, values: ReadonlyArray<unknown>]

/** A row's values in the order of their columns: on PostgreSQL as the texts that it sends (`t` and `f` for booleans), on SQLite as texts and numbers. */
export type Cells = ReadonlyArray<string | number | null>

/** The rows of a statement, which is bounded in time as all are. */
export type Ask = (statement: DirectStatement) => Run<ReadonlyArray<Cells>, SqlError>

const key: unique symbol = Symbol.for("linkmint/DirectSql")

/** How statements of a client are had by a call: each by itself, or together with others of the same turn ({@link together}). */
interface Asking {
  readonly ask: Ask
  readonly askTogether: Ask
}

/** A client whose statements can also be had by a call. */
export const withDirect = (sql: SqlClient.SqlClient, ask: Ask, askTogether: Ask = ask): SqlClient.SqlClient =>
  Object.assign(sql, { [key]: { ask, askTogether } satisfies Asking })

const askingOf = (sql: SqlClient.SqlClient): Asking => (sql as { readonly [key]?: Asking })[key]!

/** Sends a statement as {@link direct} does, for who looks at the database's own error. */
export const ask = (sql: SqlClient.SqlClient, statement: DirectStatement): ReturnType<Ask> =>
  askingOf(sql).ask(statement)

const named = (operation: string, run: ReturnType<Ask>): Direct<ReadonlyArray<Cells>, StorageError> =>
  new Direct(
    (done) => run((exit) => done(Exit.mapError(exit, (error) => storageErrorOf(operation, error)))),
    (self) => self.pipe(Traced.span("sql.execute"), Traced.span(operation))
  )

/**
 * Sends a statement on a client's next free connection, without a fiber where nobody needs one ({@link Direct}). It is never a part of a transaction that its caller is in. An error
 * is one of `operation`, such as `LinkStore.findMany`, and its effect has a span of that name.
 */
export const direct = (
  sql: SqlClient.SqlClient,
  operation: string,
  statement: DirectStatement
): Direct<ReadonlyArray<Cells>, StorageError> => named(operation, ask(sql, statement))

/**
 * The same for what a node asks again and again, with the beats of its pulse: on PostgreSQL all that is asked so in a turn of the event loop goes there and back together, as one transaction. So
 * where one of them fails, all do.
 */
export const together = (
  sql: SqlClient.SqlClient,
  operation: string,
  statement: DirectStatement
): Direct<ReadonlyArray<Cells>, StorageError> => named(operation, askingOf(sql).askTogether(statement))
