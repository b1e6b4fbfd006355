import type { Checker } from "../Evidence.ts"
import { Durability } from "./Durability.ts"
import { ExactVisits } from "./ExactVisits.ts"
import { Freshness } from "./Freshness.ts"
import { Fencing } from "./Fencing.ts"
import { KeyWays } from "./KeyWays.ts"
import { Ledger } from "./Ledger.ts"
import { Liveness } from "./Liveness.ts"
import { MintedOnce } from "./MintedOnce.ts"
import { ReadYourWrites } from "./ReadYourWrites.ts"
import { Recovery } from "./Recovery.ts"
import { UniqueBinding } from "./UniqueBinding.ts"

/** Every checker. Idempotency (C7) gets its own with the feature. */
export const checkers: ReadonlyArray<Checker> = [
  UniqueBinding,
  Durability,
  ReadYourWrites,
  Freshness,
  ExactVisits,
  MintedOnce,
  KeyWays,
  Fencing,
  Recovery,
  Ledger,
  Liveness
]
