import { hash, verify } from "@node-rs/argon2"
import { Effect, Layer } from "effect"
import * as Passwords from "../../src/accounts/Passwords.ts"

const cost = { memoryCost: 64, timeCost: 1, parallelism: 1 }

/**
 * The passwords of services under test: argon2id as in the program, at a hundredth of its cost, which is a law of passwords and not of who asks them. Also what is checked where there is no
 * password costs no more.
 */
export const layer: Layer.Layer<Passwords.Passwords> = Layer.effect(
  Passwords.Passwords,
  Passwords.makeWith({
    hash: (password) => Effect.promise(() => hash(password, cost)),
    verify: (stored, password) =>
      Effect.promise(() =>
        verify(stored.replace(/m=\d+,t=\d+/, `m=${cost.memoryCost},t=${cost.timeCost}`), password)
      )
  })
)
