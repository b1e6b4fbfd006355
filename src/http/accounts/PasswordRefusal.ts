import { Effect } from "effect"
import type { PasswordRefused } from "../../accounts/PasswordPolicy.ts"
import type { PasswordsBusy } from "../../accounts/Passwords.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import * as Problem from "../exchange/Problem.ts"

/** Tells what is wrong with a new password, and else that the service cannot answer now. */
export const orRefused = <A>(
  self: Effect.Effect<A, StorageError | PasswordsBusy | PasswordRefused>
): Effect.Effect<A, Problem.Problem> =>
  Effect.catchAll(self, (error) =>
    error._tag === "PasswordRefused"
      ? Effect.fail(Problem.faulty("invalid-request", [{ path: "password", message: error.message }]))
      : Problem.orUnavailable(Effect.fail(error))
  )
