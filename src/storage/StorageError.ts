import { Array as Arrays, Effect, Either, Schema } from "effect"

/**
 * A storage operation that did not give an answer.
 *
 * - `operation`: the port's method, such as `LinkStore.insertMany`.
 * - `applied`: `no` when the store certainly did nothing; `unknown` when it may have been applied all the same
 *   (a connection lost after the statement was sent, a failed commit).
 * - `reason`: the driver's message, for logs; never shown to clients.
 */
export class StorageError extends Schema.TaggedError<StorageError>()("StorageError", {
  operation: Schema.String,
  applied: Schema.Literal("no", "unknown"),
  reason: Schema.String
}) {
  override get message() {
    return `${this.operation} failed (${this.applied === "no" ? "not applied" : "may have been applied"}): ${this.reason}`
  }
}

/** What became of each question of a batch, in their order. */
export type Outcomes<A> = ReadonlyArray<Either.Either<A, StorageError>>

/**
 * The questions of a batch have different outcomes, as they went to several databases.
 *
 * - `outcomes`: the answer or the failure of each, in their order. Its `applied` holds for that question alone.
 * - `applied`: `unknown`, since a part may have been applied.
 */
export class PartlyFailed extends StorageError.extend<PartlyFailed>("PartlyFailed")({
  outcomes: Schema.declare((outcomes): outcomes is Outcomes<unknown> => Array.isArray(outcomes))
}) {}

/** The answers of a batch by its outcomes, or the failure that the whole batch has then. */
export const answersOf = <A>(
  operation: string,
  outcomes: Outcomes<A>
): Either.Either<ReadonlyArray<A>, StorageError> => {
  const failures = Arrays.getLefts(outcomes)
  const [first] = failures
  if (first === undefined) return Either.right(Arrays.getRights(outcomes))
  const { applied, reason } = first
  return Either.left(
    failures.length === outcomes.length && failures.every((failure) => failure.applied === applied)
      ? new StorageError({ operation, applied, reason })
      : new PartlyFailed({ operation, applied: "unknown", reason, outcomes })
  )
}

/** What became of each question of a batch, also of one that has failed in part. Fails where the whole batch has. */
export const outcomesOf = <A, R>(
  batch: Effect.Effect<ReadonlyArray<A>, StorageError, R>
): Effect.Effect<Outcomes<A>, StorageError, R> =>
  Effect.matchEffect(batch, {
    onSuccess: (answers) => Effect.succeed(answers.map(Either.right)),
    onFailure: (error) =>
      error instanceof PartlyFailed ? Effect.succeed(error.outcomes as Outcomes<A>) : error
  })

/**
 * The caller's epoch is not the newest of its pool shard: another owner has claimed it since. Nothing was done. A pool names the newest that it knows: a database that has
 * forgotten claims gives epochs below it.
 */
export class Fenced extends Schema.TaggedError<Fenced>()("Fenced", {
  shard: Schema.Number,
  epoch: Schema.Number,
  newest: Schema.optionalWith(Schema.Number, { exact: true })
}) {}
