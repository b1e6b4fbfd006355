import { Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, String } from "effect"

const { array } = Statement.defaultTransforms(String.snakeToCamel, false)

/** The rows of a statement, with the names of their columns in camel case: `created_at` is `createdAt`. */
export const camelRows = <Row extends object>(
  statement: Statement.Statement<Row>
): Effect.Effect<ReadonlyArray<Row>, SqlError> => Effect.map(statement, array)
