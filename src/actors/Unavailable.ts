import { Schema } from "effect"

/**
 * An actor cannot answer now: its store is away, its queue is full, or no key is left. The caller may try again.
 *
 * - `reason`: for logs; never shown to clients.
 * - `applied`: `no` when certainly nothing was done; `unknown` when the operation may have been done all the same.
 */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  reason: Schema.String,
  applied: Schema.Literal("no", "unknown")
}) {
  override get message() {
    return this.reason
  }
}

/** What can go wrong on the way to an actor and in its store, as one error. */
export const fromFailure = (error: {
  readonly _tag: string
  readonly message?: string
  readonly applied?: "no" | "unknown"
}): Unavailable => {
  switch (error._tag) {
    case "Unavailable":
    case "StorageError":
      return new Unavailable({ reason: error.message ?? error._tag, applied: error.applied ?? "unknown" })
    case "MailboxFull":
    case "QueueFull":
      return new Unavailable({ reason: error._tag, applied: "no" })
    default:
      return new Unavailable({ reason: error.message || error._tag, applied: "unknown" })
  }
}
