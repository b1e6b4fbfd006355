import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/** Where the minted keys are that the database can count. Aliases are not minted. */
export interface KeyCounts {
  /** Keys that have left their ranges. */
  readonly minted: number
  /** Keys in the stock. */
  readonly stocked: number
  /** Keys of links that are not deleted. */
  readonly bound: number
  /** Keys of tombstones. */
  readonly quarantined: number
}

/** Counts minted keys while the service runs. */
export class KeyLedger extends Context.Tag("linkmint/KeyLedger")<
  KeyLedger,
  {
    /** `null` where there are too many links to count them while answering requests. */
    readonly counts: Effect.Effect<KeyCounts | null, StorageError>
  }
>() {}
