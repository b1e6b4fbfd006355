import { Command, Options } from "@effect/cli"
import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Clock, Console, Context, Effect, Option, type Scope } from "effect"
import { command } from "../model/Audit.ts"
import { count } from "../keys/PackedKeys.ts"
import { AuditLog } from "../storage/accounts/AuditLog.ts"
import type { DatabasesMismatch } from "../storage/homes/FurtherDatabase.ts"
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
    /** All further databases of links, with their tables up to date; fails where these are not those of the deployment, or one does not answer. */
    readonly further: Effect.Effect<
      ReadonlyArray<SqlClient.SqlClient>,
      DatabasesMismatch | Refused | SqlError | StorageError
    >
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
    const { adopt, emptyPools, further, hold } = yield* Standstill
    yield* hold
    const databases = yield* further
    const at = yield* Clock.currentTimeMillis
    yield* (yield* AuditLog).record({ doer: command, action: "keys.skipped", target: null, owner: null, at })
    // Database 0 last: when it is done, all is.
    yield* emptyPools
    const file = yield* Effect.serviceOption(KeyFile)
    const filed = Option.isSome(file) ? count(yield* file.value.take(yield* file.value.size)) : 0
    const { dropped, ranges } = yield* SkippedKeys.skip(keys, databases)
    yield* adopt
    const where = databases.length === 0 ? "" : ` in ${1 + databases.length} databases of links`
    yield* Console.log(
      `Each of ${ranges} ranges has skipped ${keys} keys. ${dropped + filed} keys that stood ready${where} are given up, and all in the pools. Keys of the links that are there now are not used again when these end. Another run skips as many again.`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "After the restore of a backup, and before the first start: skips the keys that may have been handed out since, and keeps those that may have become free from being used again. With LINK_DATABASE_URLS in all databases of links"
  )
)
