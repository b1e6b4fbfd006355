import { Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { type Context, Effect, String } from "effect"
import * as Traced from "../../telemetry/Traced.ts"
import { mapOperations } from "../MapOperations.ts"
import { asStorageError } from "./SqlTransaction.ts"

/** A port's operations as its backend on SQL writes them: any of them may also fail with an `SqlError`. */
export type SqlOperations<S> = {
  readonly [K in keyof S]: S[K] extends Effect.Effect<infer A, infer E>
    ? Effect.Effect<A, E | SqlError>
    : S[K] extends (...args: infer Args) => Effect.Effect<infer A, infer E>
      ? (...args: Args) => Effect.Effect<A, E | SqlError>
      : S[K]
}

/**
 * A port over its operations on SQL; `direct`: those that are ready as they are (`DirectSql`). Each of the others gets a span, and its SQL errors become `StorageError`s; both are named by the port and the operation, such as
 * `AccountStore.addUser`.
 */
export const sqlPort = <I, S extends object, Name extends keyof S = never>(
  port: Context.Tag<I, S>,
  operations: SqlOperations<Omit<NoInfer<S>, Name>>,
  direct?: Pick<S, Name>
): S =>
  ({
    ...mapOperations(port.key.replace("linkmint/", ""), operations, ({ operation }, effect) =>
      effect.pipe(asStorageError(operation), Traced.span(operation))
    ),
    ...direct
  }) as S

const { array } = Statement.defaultTransforms(String.snakeToCamel, false)

/** The rows of a statement, with the names of their columns in camel case: `created_at` is `createdAt`. */
export const camelRows = <Row extends object>(
  statement: Statement.Statement<Row>
): Effect.Effect<ReadonlyArray<Row>, SqlError> => Effect.map(statement, array)
