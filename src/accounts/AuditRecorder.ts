import { Clock, Effect } from "effect"
import type { AuditAction, AuditEvent, Doer } from "../model/Audit.ts"
import { AuditLog } from "../storage/accounts/AuditLog.ts"
import type { StorageError } from "../storage/StorageError.ts"

/** What was done, to which thing, and whose that is. */
export type Done = readonly [AuditAction, target: string | null, owner: string | null]

/** Acts, and records in the audit log what was done, if anything was, in the same transaction. */
export const make = Effect.map(
  AuditLog,
  (log) =>
    <A, E>(
      doer: Doer,
      act: Effect.Effect<A, E>,
      doneBy: (result: A) => ReadonlyArray<Done>
    ): Effect.Effect<A, E | StorageError> =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        log.recording(act, (result) =>
          doneBy(result).map(([action, target, owner]): AuditEvent => ({ doer, action, target, owner, at }))
        )
      )
)
