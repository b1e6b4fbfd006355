import { Schema } from "effect"

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

/**
 * The caller's epoch is not the newest of its pool shard: another owner has claimed it since. Nothing was done. A pool names the newest that it knows: a database that has
 * forgotten claims gives epochs below it.
 */
export class Fenced extends Schema.TaggedError<Fenced>()("Fenced", {
  shard: Schema.Number,
  epoch: Schema.Number,
  newest: Schema.optionalWith(Schema.Number, { exact: true })
}) {}
