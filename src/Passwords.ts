import { hash, verify } from "@node-rs/argon2"
import { Context, Data, Effect, Layer, Redacted } from "effect"
import * as Turns from "./Turns.ts"

/** Characters of a password at most. */
export const passwordLengthMax = 128

/** Too many passwords wait to be hashed already. */
export class PasswordsBusy extends Data.TaggedError("PasswordsBusy")<{ readonly reason: string }> {}

/**
 * Hashes passwords, of users and of links, and checks them.
 *
 * Laws:
 * 1. `verify` of a hash is true for the password that was hashed, and for no other.
 * 2. `verify` of `null` is false, and takes as long as any: what is not there is not told by time.
 */
export class Passwords extends Context.Tag("linkmint/Passwords")<
  Passwords,
  {
    /** The hash of a password, with a salt of its own: at most 128 characters. */
    readonly hash: (password: Redacted.Redacted) => Effect.Effect<string, PasswordsBusy>
    readonly verify: (
      hash: string | null,
      password: Redacted.Redacted
    ) => Effect.Effect<boolean, PasswordsBusy>
  }
>() {}

/**
 * Argon2id as OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane. It is the library's default, written out, since what the
 * hash of nobody costs must be the same.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A hash that nobody's password has. */
const nobody = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`

/** Hashes computed at once: each has a core for some 30 ms, and one of the four threads that also read files and resolve names. */
const atOnceMax = 2

/** Passwords that wait for their turn: what waits longest does so for about a second. */
const waitingMax = 64

/** See {@link Passwords}: by argon2id, off the event loop. */
export const make = Effect.gen(function* () {
  const turns = Turns.make(atOnceMax)
  let asked = 0

  /** A computation cannot be stopped, so it keeps its turn to its end, also where nobody waits for it any more. */
  const inTurn = <A>(compute: () => Promise<A>): Effect.Effect<A, PasswordsBusy> =>
    Effect.suspend(() => {
      if (asked >= atOnceMax + waitingMax) {
        return new PasswordsBusy({ reason: `${asked} passwords wait to be hashed` })
      }
      asked++
      return turns(Effect.uninterruptible(Effect.promise(compute))).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            asked--
          })
        )
      )
    })

  return Passwords.of({
    hash: (password) => inTurn(() => hash(Redacted.value(password), cost)),
    verify: (stored, password) =>
      Effect.map(
        inTurn(() => verify(stored ?? nobody, Redacted.value(password))),
        (matches) => matches && stored !== null
      )
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<Passwords> = Layer.effect(Passwords, make)
