import { Context, Duration, Effect, Schema } from "effect"
import { Link } from "../../model/Link.ts"
import type { StorageError } from "../StorageError.ts"

/**
 * What lets only one of several creates make its link: those with one `Idempotency-Key`, or those that would reuse a link of one URL.
 *
 * The last caller to begin a guard holds it, by a token that nobody else has. `fingerprint`: what the create is about, for those who come later to compare; without one, or with an empty one, nothing is
 * compared.
 */
export const Guard = Schema.Struct({
  name: Schema.String,
  token: Schema.Number,
  fingerprint: Schema.optional(Schema.String)
})
/** See {@link Guard}. */
export type Guard = typeof Guard.Type

/** A link to be bound if each of its guards is still held, and the answer that is kept with them then. */
export const GuardedLink = Schema.Struct({ link: Link, guards: Schema.Array(Guard), answer: Schema.String })
/** See {@link GuardedLink}. */
export type GuardedLink = typeof GuardedLink.Type

/** The state of a guard for the caller that asked for it: held by it now, held by another create, or settled. */
export type GuardState =
  | { readonly _tag: "Begun" }
  | { readonly _tag: "Running"; readonly fingerprint: string }
  | {
      readonly _tag: "Settled"
      readonly fingerprint: string
      readonly key: string | null
      readonly answer: string
    }

/**
 * What became of a guarded create: the key was bound, it has a row already, or the guard is not held any more, or was settled with another answer. `apart`: nothing was done, as guard and key are not in one
 * database any more; with another key it can be bound.
 */
export type GuardedOutcome = "bound" | "taken" | "superseded" | "apart"

/** How to begin a guard. */
export interface Beginning extends Guard {
  readonly fingerprint: string
  /** How long nobody else may begin it, in milliseconds: longer than its create can take. */
  readonly lease_ms: number
  /** How long it is kept once settled, in milliseconds. */
  readonly keep_ms: number
  /** A key with which it was settled, and which does not count any more. */
  readonly replaces?: string
}

/** An answer with which a guard is settled, without a link. */
export interface Settlement extends Guard {
  readonly answer: string
  /** The key of the link that was made, where that is in another database. */
  readonly key?: string
}

/** For how long a create begins its guards. */
export const guardTimes: Pick<Beginning, "lease_ms" | "keep_ms"> = {
  /** Longer than a create can take. A create that has held a guard for longer has died, or can no longer bind its link. */
  lease_ms: Duration.toMillis("6 seconds"),
  /** How long a repeat gets the first answer. */
  keep_ms: Duration.toMillis("24 hours")
}

/**
 * Guards of creates. Time is the store's own. Each question of a batch is one of its own, after those before it, and answers come in the order of the
 * questions.
 *
 * Laws:
 * 1. Of all links that are bound under a guard between two beginnings, there is one at most, whenever and however often messages come: a link is
 *    bound, and its guard settled, in one transaction, and only by who holds it.
 * 2. A link whose guard is settled with its own token and answer is answered `bound` again. With another answer it is `superseded`, though the key may be the same: a pool that
 *    forgets hands one out twice, also to the first and the second try of one create.
 * 3. A settled guard keeps its answer until `keep_ms` is over, or somebody begins it in place of its key.
 * 4. A batch of links is bound whole or not at all: a `StorageError` with `applied: "no"` left none behind. In several databases some questions can fail alone, which `PartlyFailed` tells.
 */
export class GuardedCreates extends Context.Tag("linkmint/GuardedCreates")<
  GuardedCreates,
  {
    readonly beginMany: (
      beginnings: ReadonlyArray<Beginning>
    ) => Effect.Effect<ReadonlyArray<GuardState>, StorageError>
    /** Binds links. */
    readonly bindMany: (
      links: ReadonlyArray<GuardedLink>
    ) => Effect.Effect<ReadonlyArray<GuardedOutcome>, StorageError>
    /** Settles guards without a link, or with one in another database; `false` where one is not held any more. */
    readonly settleMany: (
      settlements: ReadonlyArray<Settlement>
    ) => Effect.Effect<ReadonlyArray<boolean>, StorageError>
    /** Gives up guards that are held and not settled, as if they had never been begun, so that a bind under them that comes later is `superseded`; `false` where one was not. */
    readonly abandonMany: (
      guards: ReadonlyArray<Guard>
    ) => Effect.Effect<ReadonlyArray<boolean>, StorageError>
    /** The newest link of an owner in the default domain with this target, and without extras, that is live at `now` (milliseconds since the Unix epoch). */
    readonly findByUrl: (owner: string, url: string, now: number) => Effect.Effect<Link | null, StorageError>
    /** Drops up to `count` guards that nobody has begun for `keep_ms`; gives how many. */
    readonly drop: (keep_ms: number, count: number) => Effect.Effect<number, StorageError>
  }
>() {}

type Guarded = typeof GuardedCreates.Service

const only = <A>([answer]: ReadonlyArray<A>): A => answer!

/** Begins one guard. */
export const begin = ({ beginMany }: Pick<Guarded, "beginMany">, beginning: Beginning) =>
  Effect.map(beginMany([beginning]), only)

/** Settles one guard. */
export const settle = ({ settleMany }: Pick<Guarded, "settleMany">, guard: Guard, answer: string) =>
  Effect.map(settleMany([{ ...guard, answer }]), only)

/** Gives up one guard. */
export const abandon = ({ abandonMany }: Pick<Guarded, "abandonMany">, guard: Guard) =>
  Effect.map(abandonMany([guard]), only)

/** A guard that is to be begun, and what depends on it. */
export interface Holding<A, B, E, R> {
  readonly begin: Effect.Effect<GuardState, E, R>
  /** What is done while the guard is held. */
  readonly create: () => Effect.Effect<A, E, R>
  /** What is done where it could not be begun. */
  readonly otherwise: (state: Exclude<GuardState, { readonly _tag: "Begun" }>) => Effect.Effect<B, E, R>
  /** Gives the guard up after `create` was interrupted. */
  readonly giveUp: () => Effect.Effect<unknown, StorageError, R>
}

/**
 * Begins a guard and runs a create under it. One that is interrupted gives the guard up, so that the next one need not wait for the lease to end. The beginning itself is waited for: otherwise it could
 * come after the giving up, and hold the guard for nobody.
 */
export const holding = <A, B, E, R>({
  begin,
  create,
  giveUp,
  otherwise
}: Holding<A, B, E, R>): Effect.Effect<A | B, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(begin, (state): Effect.Effect<A | B, E, R> =>
      state._tag === "Begun"
        ? Effect.onInterrupt(restore(Effect.suspend(create)), () => Effect.ignore(giveUp()))
        : restore(otherwise(state))
    )
  )
