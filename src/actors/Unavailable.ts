import { Cause, Effect, Option, Predicate, Schema } from "effect"

/**
 * An actor cannot answer now: its store is away, its queue is full, or no key is left. The caller may try again.
 *
 * - `reason`: for logs; never shown to clients.
 * - `applied`: `no` when certainly nothing was done; `unknown` when the operation may have been done all the same.
 * - `away`: the actor itself did not answer, as while it moves to another node; another actor may.
 */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  reason: Schema.String,
  applied: Schema.Literal("no", "unknown"),
  away: Schema.optionalWith(Schema.Boolean, { default: () => false })
}) {
  override get message() {
    return this.reason
  }
}

/** An error of an actor's client, of its store or of a queue on the way. */
export interface Failure {
  readonly _tag: string
  readonly message?: string
  readonly applied?: "no" | "unknown"
}

/** Any error of an actor's client, its store or a queue, as `Unavailable`. */
export const fromFailure = (error: Failure): Unavailable => {
  switch (error._tag) {
    case "Unavailable":
      return error as Unavailable
    case "StorageError":
      return new Unavailable({ reason: error.message ?? error._tag, applied: error.applied ?? "unknown" })
    case "Fenced":
      return new Unavailable({ reason: "another owner has claimed the pool shard", applied: "no" })
    case "MailboxFull":
    case "QueueFull":
      return new Unavailable({ reason: error._tag, applied: "no" })
    default:
      return new Unavailable({ reason: error.message || error._tag, applied: "unknown" })
  }
}

const away = (reason: string) => new Unavailable({ reason, applied: "unknown", away: true })

/** What the cluster reports as a defect when a message or its answer was lost on the way to another node. */
const isLostOnTheWay = (defect: unknown) =>
  ["SocketError", "RpcClientError", "RunnerUnavailable", "EntityNotAssignedToRunner"].some((tag) =>
    Predicate.isTagged(defect, tag)
  )

/**
 * A call to an actor that fails only with `Unavailable`. An actor that stops, because its node does or because it moves to
 * another one, interrupts its requests, and the connections of a node that dies are lost; for the caller these are failures like
 * others.
 */
export const orUnavailable = <A, E extends Failure, R>(
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, Unavailable, R> =>
  Effect.catchAllCause(call, (cause) => {
    if (Cause.isInterruptedOnly(cause)) return Effect.fail(away("the actor stopped"))
    const lost = Option.filter(Cause.dieOption(cause), isLostOnTheWay)
    return Option.isSome(lost)
      ? Effect.fail(away(`the way to the actor broke: ${String(lost.value)}`))
      : Effect.failCause(Cause.map(cause, fromFailure))
  })

/** `orUnavailable` for callers that can ask another actor instead: a defect is logged, and fails like the others. */
export const orElsewhere = <A, E extends Failure, R>(
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, Unavailable, R> =>
  orUnavailable(call).pipe(
    Effect.tapDefect((cause) => Effect.logError("An actor is broken", cause)),
    Effect.catchAllDefect((defect) => new Unavailable({ reason: String(defect), applied: "unknown" }))
  )

/**
 * For every actor: a defect fails only the request that met it. By default the cluster restarts the actor and repeats
 * all its requests: one that always fails would then block its actor for ever, and creates that were already applied
 * would conflict with themselves.
 */
export const disableFatalDefects = true
