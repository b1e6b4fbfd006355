import { Command, Options } from "@effect/cli"
import { Clock, Console, Context, Effect, Option, type Scope } from "effect"
import { command } from "../model/Audit.ts"
import { count } from "../keys/PackedKeys.ts"
import { AuditLog } from "../storage/accounts/AuditLog.ts"
import { KeyFile } from "../storage/keys/KeyFile.ts"
import * as SkippedKeys from "../storage/keys/SkippedKeys.ts"
import type { StorageError } from "../storage/StorageError.ts"
import { Refused } from "./Refused.ts"

/** A deployment without running nodes. */
export class Standstill extends Context.Tag("linkmint/admin/Standstill")<
  Standstill,
  {
    /** Keeps nodes from starting until the scope closes; fails where some run. */
    readonly hold: Effect.Effect<void, Refused | StorageError, Scope.Scope>
    /** Empties the pools, where they outlast the nodes. */
    readonly emptyPools: Effect.Effect<void, StorageError>
    /** Has the witnesses take the database for the one that they know. */
    readonly adopt: Effect.Effect<void, StorageError>
  }
>() {}

/** More than any range mints in years, and far below what it has. */
const keysMax = 1_000_000_000

const keys = Options.integer("keys").pipe(
  Options.withDefault(1_000_000),
  Options.withDescription(
    "How many keys each range skips, 1 to 1,000,000,000: more than it can have minted since"
  )
)

/** `skip-keys` */
export const skipKeys = Command.make(
  "skip-keys",
  { keys },
  Effect.fn(function* ({ keys }) {
    if (keys < 1 || keys > keysMax) {
      return yield* new Refused({ message: `--keys must be 1 to ${keysMax}, not ${keys}.` })
    }
    const { adopt, emptyPools, hold } = yield* Standstill
    yield* hold
    const at = yield* Clock.currentTimeMillis
    yield* (yield* AuditLog).record({ doer: command, action: "keys.skipped", target: null, owner: null, at })
    // The database last: when it is done, all is.
    yield* emptyPools
    const file = yield* Effect.serviceOption(KeyFile)
    const filed = Option.isSome(file) ? count(yield* file.value.take(yield* file.value.size)) : 0
    const { ranges, stocked } = yield* SkippedKeys.skip(keys)
    yield* adopt
    yield* Console.log(
      `Each of ${ranges} ranges has skipped ${keys} keys. ${stocked + filed} stocked keys are given up, and all in the pools. Another run skips as many again.`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "After the restore of a backup, and before the first start: skips the keys that may have been handed out since"
  )
)
