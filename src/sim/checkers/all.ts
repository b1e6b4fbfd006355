import type { Checker, Evidence, Violation } from "../Evidence.ts"
import { Durability } from "./Durability.ts"
import { ExactVisits } from "./ExactVisits.ts"
import { Idempotency } from "./Idempotency.ts"
import { Forgotten } from "./Forgotten.ts"
import { Freshness } from "./Freshness.ts"
import { Fencing } from "./Fencing.ts"
import { KeyLifecycle } from "./KeyLifecycle.ts"
import { Ledger } from "./Ledger.ts"
import { Liveness } from "./Liveness.ts"
import { MintedOnce } from "./MintedOnce.ts"
import { Quarantine } from "./Quarantine.ts"
import { Quotas } from "./Quotas.ts"
import { ReadYourWrites } from "./ReadYourWrites.ts"
import { Recovery } from "./Recovery.ts"
import { RepeatedDeletes } from "./RepeatedDeletes.ts"
import { remembered } from "./remembered.ts"
import { ReusedLinks } from "./ReusedLinks.ts"
import { Revocation } from "./Revocation.ts"
import { Sessions } from "./Sessions.ts"
import { Shutdown } from "./Shutdown.ts"
import { Specification } from "./Specification.ts"
import { UniqueBinding } from "./UniqueBinding.ts"
import { Visits } from "./Visits.ts"
import { WebhookEvents } from "./WebhookEvents.ts"

/** Every checker. */
export const checkers: ReadonlyArray<Checker> = [
  UniqueBinding,
  Durability,
  ReadYourWrites,
  Freshness,
  ExactVisits,
  Quarantine,
  Idempotency,
  ReusedLinks,
  MintedOnce,
  Forgotten,
  KeyLifecycle,
  Specification,
  Fencing,
  Recovery,
  Ledger,
  Liveness,
  Sessions,
  Shutdown,
  RepeatedDeletes,
  Visits,
  Quotas,
  Revocation,
  WebhookEvents
]

/** Checks a run for every promise. */
export const judge = (evidence: Evidence): ReadonlyArray<Violation> => {
  const known = remembered(evidence)
  return checkers.flatMap(({ check, seesForgotten = false }) => check(seesForgotten ? evidence : known))
}
