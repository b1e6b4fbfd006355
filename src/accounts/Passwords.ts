import { hash, verify } from "@node-rs/argon2"
import { Context, Data, Effect, Layer, Record, Redacted } from "effect"
import * as FairSemaphore from "../fibers/FairSemaphore.ts"

/** Characters of a password at most. */
export const passwordLengthMax = 128

/**
 * Passwords of each work that are under way at most: those that are computed, and those that wait for it. What waits longest does so for about a second, and where all works are at
 * it for four.
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

/** Whose work a hash is: each has turns of its own, so that none can keep the others waiting. */
export type Work = keyof typeof underWayMax

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
    readonly hash: (password: Redacted.Redacted, work?: Work) => Effect.Effect<string, PasswordsBusy>
    readonly verify: (
      hash: string | null,
      password: Redacted.Redacted,
      work?: Work
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

/** What computes a hash, and compares with one. */
export interface Algorithm {
  readonly hash: (password: string) => Promise<string>
  readonly verify: (hash: string, password: string) => Promise<boolean>
}

const argon2id: Algorithm = { hash: (password) => hash(password, cost), verify }

/** See {@link Passwords}. */
export const makeWith = (algorithm: Algorithm) =>
  Effect.sync(() => {
    const turns = FairSemaphore.make(atOnceMax)
    /** One of all works beside that of accounts is computed at a time, each in its turn: so one at most is before a sign-in. */
    const besides = FairSemaphore.make(1)
    const turnsOf = Record.map(underWayMax, (_, work): FairSemaphore.FairSemaphore => {
      if (work === "account") return turns
      const own = FairSemaphore.make(1)
      return (self) => own(besides(turns(self)))
    })
    const underWay = Record.map(underWayMax, () => 0)

    /** A computation cannot be stopped, so it keeps its turn to its end, also where nobody waits for it any more. */
    const inTurn = <A>(work: Work, compute: () => Promise<A>): Effect.Effect<A, PasswordsBusy> =>
      Effect.suspend(() => {
        if (underWay[work] >= underWayMax[work]) {
          return new PasswordsBusy({ reason: `${underWay[work]} passwords of ${work} wait to be hashed` })
        }
        underWay[work]++
        return turnsOf[work](Effect.uninterruptible(Effect.promise(compute))).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              underWay[work]--
            })
          )
        )
      })

    return Passwords.of({
      hash: (password, work = "account") => inTurn(work, () => algorithm.hash(Redacted.value(password))),
      verify: (stored, password, work = "account") =>
        Effect.map(
          inTurn(work, () => algorithm.verify(stored ?? nobody, Redacted.value(password))),
          (matches) => matches && stored !== null
        )
    })
  })

/** See {@link Passwords}: by argon2id, off the event loop. */
export const make = makeWith(argon2id)

/** See {@link make}. */
export const layer: Layer.Layer<Passwords> = Layer.effect(Passwords, make)
