import { Duration, Effect, Redacted } from "effect"
import { Passwords } from "../../accounts/Passwords.ts"

/** How long a hash takes: as long as argon2id on one core. */
const takes = Duration.millis(30)

/** `Passwords` in virtual time: no checker depends on the secrecy of a hash. */
export const passwords = Passwords.of({
  hash: (password) => Effect.delay(Effect.succeed(Redacted.value(password)), takes),
  verify: (hash, password) => Effect.delay(Effect.succeed(hash === Redacted.value(password)), takes)
})
