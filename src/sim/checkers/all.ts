import type { Checker } from "../Evidence.ts"
import { Durability } from "./Durability.ts"
import { Freshness } from "./Freshness.ts"
import { IssuedOnce } from "./IssuedOnce.ts"
import { Ledger } from "./Ledger.ts"
import { Liveness } from "./Liveness.ts"
import { ReadYourWrites } from "./ReadYourWrites.ts"
import { UniqueBinding } from "./UniqueBinding.ts"

/** Every checker. Exact visits (C5) and idempotency (C7) get theirs with the features. */
export const checkers: ReadonlyArray<Checker> = [
  UniqueBinding,
  Durability,
  ReadYourWrites,
  Freshness,
  IssuedOnce,
  Ledger,
  Liveness
]
