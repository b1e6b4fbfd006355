// What all faults have in common.

import type { Effect } from "effect"
import type { Unavailable } from "../test/support/services/Service.ts"

/** A fault that has been done. */
export interface Done {
  /** Who had it. */
  readonly target: string
  /** From when on the cluster could work again, on the clock of `performance.now()`. */
  readonly over: number
  /** Gives back what was taken; nothing where that was part of the fault. */
  readonly mend: Effect.Effect<void, Unavailable>
  /** The node that alone had it: at the others no class of request may have failed for long. */
  readonly alone?: string
  /** From the fault until another server was the primary, in milliseconds. */
  readonly promoted_ms?: number
}

/** Whether a node that was sent SIGTERM ended as it should: by itself, with the status 0 or 128 + 15. */
export const isOrderly = (how: string): boolean =>
  how === "ended with status 0" || how === "was killed by SIGTERM"
