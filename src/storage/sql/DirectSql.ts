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

/** A client whose statements can also be had by a call. */
export const withDirect = (sql: SqlClient.SqlClient, ask: Ask): SqlClient.SqlClient =>
  Object.assign(sql, { [key]: ask })

/** Sends a statement as {@link direct} does, for who looks at the database's own error. */
export const ask = (sql: SqlClient.SqlClient, statement: DirectStatement): ReturnType<Ask> =>
  (sql as { readonly [key]?: Ask })[key]!(statement)

/**
 * Sends a statement on a client's next free connection, without a fiber where nobody needs one ({@link Direct}). It is never a part of a transaction that its caller is in. An error
 * is one of `operation`, such as `LinkStore.findMany`, and its effect has a span of that name.
 */
export const direct = (
  sql: SqlClient.SqlClient,
  operation: string,
  statement: DirectStatement
): Direct<ReadonlyArray<Cells>, StorageError> => {
  const run = ask(sql, statement)
  return new Direct(
    (done) => run((exit) => done(Exit.mapError(exit, (error) => storageErrorOf(operation, error)))),
    (self) => self.pipe(Traced.span("sql.execute"), Traced.span(operation))
  )
}
