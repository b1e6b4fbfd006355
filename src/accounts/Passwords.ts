import { hash, verify } from "@node-rs/argon2"
import { Context, Data, Effect, Layer, Record, Redacted } from "effect"
import * as FairSemaphore from "../fibers/FairSemaphore.ts"

/** Characters of a password at most. */
export const passwordLengthMax = 128

/**
 * Passwords that are being hashed or wait for it, at most, for each kind of work. The longest wait is about one second, and four where all kinds are busy.
 */
const underWayMax = {
  /** Of users: to sign in, and to change it. */
  account: 66,
  /** Of those who sign up. */
  newcomer: 16,
  /** Of links whose visitors have to give it. */
  unlock: 32,
  /** Of links that users make and change. */
  link: 32,
  /** Of links that are made without an account. */
  stranger: 8
}

/** A kind of work: each has turns of its own, so that none can keep the others waiting. */
export type Work = keyof typeof underWayMax

/** Too many passwords wait to be hashed already. */
export class PasswordsBusy extends Data.TaggedError("PasswordsBusy")<{ readonly reason: string }> {}

/**
 * Hashes passwords, of users and of links, and checks them.
 *
 * Laws:
 * 1. `verify` of a hash is true for the password that was hashed, and for no other.
 * 2. `verify` of `null` is false, and takes equally long: the time does not reveal that there is no password.
 */
export class Passwords extends Context.Tag("linkmint/Passwords")<
  Passwords,
  {
    /** The hash of a password, with a salt of its own: at most 128 characters. */
    readonly hash: (password: Redacted.Redacted, work?: Work) => Effect.Effect<string, PasswordsBusy>
    readonly verify: (
      hash: string | null,
      password: Redacted.Redacted,
      work?: Work
    ) => Effect.Effect<boolean, PasswordsBusy>
  }
>() {}

/**
 * Argon2id as OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane. It is the library's default, written out because the
 * hash of {@link nobody} must cost the same.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A hash that no password has. */
const nobody = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`

/** Hashes computed at once: each takes a core for some 30 ms, and one of the four threads that also read files and resolve names. */
const atOnceMax = 2

/** What computes a hash, and compares with one. */
export interface Algorithm {
  readonly hash: (password: string) => Effect.Effect<string>
  readonly verify: (hash: string, password: string) => Effect.Effect<boolean>
}

const argon2id: Algorithm = {
  hash: (password) => Effect.promise(() => hash(password, cost)),
  verify: (hashed, password) => Effect.promise(() => verify(hashed, password))
}

/** See {@link Passwords}. */
export const makeWith = (algorithm: Algorithm) =>
  Effect.sync(() => {
    const turns = FairSemaphore.make(atOnceMax)
    /** Of all kinds but `account` one hash is computed at a time, so that a sign-in waits for one of them at most. */
    const besides = FairSemaphore.make(1)
    const turnsOf = Record.map(underWayMax, (_, work): FairSemaphore.FairSemaphore => {
      if (work === "account") return turns
      const own = FairSemaphore.make(1)
      return (self) => own(besides(turns(self)))
    })
    const underWay = Record.map(underWayMax, () => 0)

    /** A computation cannot be cancelled, so it keeps its turn until it ends, even if its caller is interrupted. */
    const inTurn = <A>(work: Work, compute: Effect.Effect<A>): Effect.Effect<A, PasswordsBusy> =>
      Effect.suspend(() => {
        if (underWay[work] >= underWayMax[work]) {
          return new PasswordsBusy({ reason: `${underWay[work]} passwords of ${work} wait to be hashed` })
        }
        underWay[work]++
        return turnsOf[work](Effect.uninterruptible(compute)).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              underWay[work]--
            })
          )
        )
      })

    return Passwords.of({
      hash: (password, work = "account") => inTurn(work, algorithm.hash(Redacted.value(password))),
      verify: (stored, password, work = "account") =>
        Effect.map(
          inTurn(work, algorithm.verify(stored ?? nobody, Redacted.value(password))),
          (matches) => matches && stored !== null
        )
    })
  })

/** See {@link Passwords}: by argon2id, off the event loop. */
export const make = makeWith(argon2id)

/** See {@link make}. */
export const layer: Layer.Layer<Passwords> = Layer.effect(Passwords, make)
