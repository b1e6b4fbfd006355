import { Duration, Effect } from "effect"
import * as Passwords from "../../accounts/Passwords.ts"

/** How long a hash takes: as long as argon2id on one core. */
const takes = Duration.millis(30)

/** `Passwords` of one node in virtual time: no checker depends on the secrecy of a hash. */
export const make = Passwords.makeWith({
  hash: (password) => Effect.delay(Effect.succeed(password), takes),
  verify: (hash, password) => Effect.delay(Effect.succeed(hash === password), takes)
})
