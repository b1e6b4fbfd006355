import * as Metered from "../../telemetry/Metered.ts"

// Keys in the pipeline, each counted by the node that has the actor, or loses the key.

/** Keys that left their ranges. */
export const minted = Metered.counter("linkmint_keys_minted_total", "Keys that left their ranges")

/** Random keys that were left out. */
export const drawnBound = Metered.counter(
  "linkmint_keys_drawn_bound_total",
  "Keys that were drawn at random and left out, since they were bound already or drawn twice"
)

/** Keys that went into the pools, and where they came from. */
export const refilled = Metered.countersBy(
  "linkmint_keys_refilled_total",
  "Keys that went from the stock, or newly minted, into pool shards",
  "source",
  ["stocked", "minted"]
)

/** Keys that were minted ahead, by whether the stock knew them already, which only happens with keys drawn at random. */
export const stocked = Metered.countersBy(
  "linkmint_keys_stocked_total",
  "Keys that were minted ahead for the stock, by whether they were new to it",
  "outcome",
  ["new", "known"]
)

/** Keys adopted from a kind of stock that is not in use any more. */
export const adopted = Metered.counter(
  "linkmint_keys_adopted_total",
  "Keys that moved over from a kind of stock that is not in use any more"
)

/** Refills that failed. */
export const refillsFailed = Metered.counter(
  "linkmint_pool_refills_failed_total",
  "Refills of a pool shard that failed"
)

/** Keys that went out of the pools. */
export const leased = Metered.counter("linkmint_keys_leased_total", "Keys that pool shards leased to nodes")

/** Keys that came back into the pools. */
export const returned = Metered.counter(
  "linkmint_keys_returned_total",
  "Leased keys that nodes gave back to pool shards"
)

/**
 * Keys that a node gave up: `return-failed`, the pool shard did not answer when they were returned; `unknown-outcome`, a create whose outcome is unknown may have bound it; `not-open`, too many were put aside whose database does not answer; `not-carried`, they left a database of
 * links and did not reach the stock. Some of them are bound, or in a pool: the ledger
 * knows how many are lost.
 */
export const lost = Metered.countersBy(
  "linkmint_keys_given_up_total",
  "Keys that a node gave up, and that may be lost",
  "cause",
  ["return-failed", "unknown-outcome", "not-open", "not-carried"]
)

/**
 * Minted keys that turned out to be bound. `by` tells whether an alias had the key, which is chance, or another minted key,
 * which means that a key came out of the pools twice and should stay 0; or `unknown`, where the store did not say.
 */
export const conflicts = Metered.countersBy(
  "linkmint_key_conflicts_total",
  "Minted keys that were bound already",
  "by",
  ["alias", "key", "unknown"]
)
