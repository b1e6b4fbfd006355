import type { Checker, Evidence, Violation } from "../Evidence.ts"
import { Answers } from "./Answers.ts"
import { Chosen } from "./Chosen.ts"
import { Domains } from "./Domains.ts"
import { Crawlers } from "./Crawlers.ts"
import { DomainRequests } from "./DomainRequests.ts"
import { Durability } from "./Durability.ts"
import { ExactVisits } from "./ExactVisits.ts"
import { Idempotency } from "./Idempotency.ts"
import { FailedLookUps } from "./users/FailedLookUps.ts"
import { Forgotten } from "./keys/Forgotten.ts"
import { Freshness } from "./Freshness.ts"
import { Fencing } from "./keys/Fencing.ts"
import { KeyLifecycle } from "./keys/KeyLifecycle.ts"
import { LateRequests } from "./LateRequests.ts"
import { Leading } from "./Leading.ts"
import { Ledger } from "./keys/Ledger.ts"
import { BulkEdits } from "./BulkEdits.ts"
import { Lists } from "./Lists.ts"
import { Liveness } from "./Liveness.ts"
import { MintedOnce } from "./keys/MintedOnce.ts"
import { Passwords } from "./Passwords.ts"
import { PoolLevel } from "./keys/PoolLevel.ts"
import { Previews } from "./Previews.ts"
import { MachineTime } from "./MachineTime.ts"
import { Quarantine } from "./keys/Quarantine.ts"
import { Quotas } from "./users/Quotas.ts"
import { Readiness } from "./Readiness.ts"
import { ReadYourWrites } from "./ReadYourWrites.ts"
import { Recovery } from "./keys/Recovery.ts"
import { RepeatedDeletes } from "./RepeatedDeletes.ts"
import { remembered } from "./facts/remembered.ts"
import { Refusals } from "./Refusals.ts"
import { ReusedLinks } from "./ReusedLinks.ts"
import { Removals } from "./users/Removals.ts"
import { Revocation } from "./users/Revocation.ts"
import { Sessions } from "./users/Sessions.ts"
import { Shown } from "./Shown.ts"
import { Shutdown } from "./Shutdown.ts"
import { StaleRedirects } from "./StaleRedirects.ts"
import { Specification } from "./Specification.ts"
import { Statistics } from "./Statistics.ts"
import { Stores } from "./Stores.ts"
import { UniqueBinding } from "./keys/UniqueBinding.ts"
import { UserSessions } from "./users/UserSessions.ts"
import { Visits } from "./Visits.ts"
import { AuditLog } from "./users/AuditLog.ts"
import { Directory } from "./users/Directory.ts"
import { LastAdministrator } from "./users/LastAdministrator.ts"
import { OwnWebhooks } from "./users/OwnWebhooks.ts"
import { WebhookDeliveries } from "./users/WebhookDeliveries.ts"
import { WebhookRates } from "./users/WebhookRates.ts"
import { VisitMessages } from "./users/VisitMessages.ts"
import { WebhookEvents } from "./users/WebhookEvents.ts"
import { Work } from "./Work.ts"

/** Every checker. */
export const checkers: ReadonlyArray<Checker> = [
  UniqueBinding,
  Durability,
  Refusals,
  Chosen,
  ReadYourWrites,
  Freshness,
  StaleRedirects,
  Leading,
  Answers,
  Lists,
  Shown,
  Previews,
  Crawlers,
  BulkEdits,
  Domains,
  DomainRequests,
  Passwords,
  ExactVisits,
  Quarantine,
  MachineTime,
  Idempotency,
  ReusedLinks,
  MintedOnce,
  Forgotten,
  KeyLifecycle,
  Specification,
  Stores,
  Fencing,
  Recovery,
  PoolLevel,
  Ledger,
  Liveness,
  Readiness,
  Sessions,
  Shutdown,
  LateRequests,
  RepeatedDeletes,
  Visits,
  Statistics,
  Quotas,
  FailedLookUps,
  Removals,
  Revocation,
  UserSessions,
  VisitMessages,
  WebhookEvents,
  WebhookDeliveries,
  WebhookRates,
  LastAdministrator,
  Directory,
  OwnWebhooks,
  AuditLog,
  Work
]

/** Checks a run for every promise. */
export const judge = (evidence: Evidence): ReadonlyArray<Violation> => {
  if (evidence.unfinished_us !== undefined) return Work.check(evidence)
  const known = remembered(evidence)
  return checkers.flatMap(({ check, seesForgotten = false }) => check(seesForgotten ? evidence : known))
}
