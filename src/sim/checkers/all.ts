import type { Checker, Evidence, Violation } from "../Evidence.ts"
import { Answers } from "./redirects/Answers.ts"
import { Chosen } from "./links/Chosen.ts"
import { Domains } from "./domains/Domains.ts"
import { Crawlers } from "./links/Crawlers.ts"
import { DomainRequests } from "./domains/DomainRequests.ts"
import { Durability } from "./links/Durability.ts"
import { ExactVisits } from "./visits/ExactVisits.ts"
import { Idempotency } from "./links/Idempotency.ts"
import { FailedLookUps } from "./users/FailedLookUps.ts"
import { Forgotten } from "./keys/Forgotten.ts"
import { Freshness } from "./redirects/Freshness.ts"
import { Fencing } from "./keys/Fencing.ts"
import { KeyLifecycle } from "./keys/KeyLifecycle.ts"
import { LateRequests } from "./nodes/LateRequests.ts"
import { Leading } from "./redirects/Leading.ts"
import { Ledger } from "./keys/Ledger.ts"
import { BulkEdits } from "./links/BulkEdits.ts"
import { Lists } from "./links/Lists.ts"
import { Liveness } from "./nodes/Liveness.ts"
import { MintedOnce } from "./keys/MintedOnce.ts"
import { Passwords } from "./redirects/Passwords.ts"
import { PoolLevel } from "./keys/PoolLevel.ts"
import { Previews } from "./links/Previews.ts"
import { MachineTime } from "./nodes/MachineTime.ts"
import { Quarantine } from "./keys/Quarantine.ts"
import { Quotas } from "./users/Quotas.ts"
import { Readiness } from "./nodes/Readiness.ts"
import { ReadYourWrites } from "./redirects/ReadYourWrites.ts"
import { Recovery } from "./keys/Recovery.ts"
import { RepeatedDeletes } from "./links/RepeatedDeletes.ts"
import { remembered } from "./facts/remembered.ts"
import { Refusals } from "./links/Refusals.ts"
import { ReusedLinks } from "./links/ReusedLinks.ts"
import { Removals } from "./users/Removals.ts"
import { Revocation } from "./users/Revocation.ts"
import { Sessions } from "./users/Sessions.ts"
import { Shown } from "./links/Shown.ts"
import { Shutdown } from "./nodes/Shutdown.ts"
import { StaleRedirects } from "./redirects/StaleRedirects.ts"
import { Specification } from "./Specification.ts"
import { Strays } from "./domains/Strays.ts"
import { Statistics } from "./visits/Statistics.ts"
import { Stores } from "./Stores.ts"
import { UniqueBinding } from "./keys/UniqueBinding.ts"
import { UserSessions } from "./users/UserSessions.ts"
import { Visits } from "./visits/Visits.ts"
import { AuditLog } from "./users/AuditLog.ts"
import { Directory } from "./users/Directory.ts"
import { LastAdministrator } from "./users/LastAdministrator.ts"
import { Permissions } from "./users/Permissions.ts"
import { OwnAccounts } from "./users/OwnAccounts.ts"
import { LimitsTold } from "./users/LimitsTold.ts"
import { OwnWebhooks } from "./users/OwnWebhooks.ts"
import { WebhookDeliveries } from "./users/WebhookDeliveries.ts"
import { WebhookRates } from "./users/WebhookRates.ts"
import { VisitMessages } from "./users/VisitMessages.ts"
import { WebhookEvents } from "./users/WebhookEvents.ts"
import { Waits } from "./nodes/Waits.ts"
import { Work } from "./nodes/Work.ts"

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
  Strays,
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
  Waits,
  RepeatedDeletes,
  Visits,
  Statistics,
  Quotas,
  LimitsTold,
  OwnAccounts,
  FailedLookUps,
  Removals,
  Revocation,
  Permissions,
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
