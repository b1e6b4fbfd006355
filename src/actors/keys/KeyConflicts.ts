import * as Metered from "../../telemetry/Metered.ts"

/**
 * Minted keys that turned out to be bound. `by` tells whether an alias had the key, which is chance, or another minted key,
 * which means that a key came out of the pools twice and should stay 0; or `unknown`, where the store did not say.
 */
export const keyConflicts = Metered.countersBy(
  "linkmint_key_conflicts_total",
  "Minted keys that were bound already",
  "by",
  ["alias", "key", "unknown"]
)
