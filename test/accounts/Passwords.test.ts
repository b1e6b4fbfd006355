import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"
import * as Passwords from "../../src/Passwords.ts"

const secret = Redacted.make("correct horse battery staple")

describe("passwords", () => {
  it.live("are known again, and no others", () =>
    Effect.gen(function* () {
      const { hash, verify } = yield* Passwords.make
      const stored = yield* hash(secret)
      expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
      expect(stored.length).toBeLessThanOrEqual(128)
      expect(yield* verify(stored, secret)).toBe(true)
      expect(yield* verify(stored, Redacted.make("correct horse battery stapler"))).toBe(false)
      expect(yield* verify(stored, Redacted.make(""))).toBe(false)
    })
  )

  it.live("have a salt each", () =>
    Effect.gen(function* () {
      const { hash } = yield* Passwords.make
      expect(yield* hash(secret)).not.toBe(yield* hash(secret))
    })
  )

  it.live("of nobody are never right, and cost as much processor time to check as others", () =>
    Effect.gen(function* () {
      const { hash, verify } = yield* Passwords.make
      const stored = yield* hash(secret)
      const cost = (against: string | null) =>
        Effect.gen(function* () {
          const before = process.cpuUsage()
          for (let turn = 0; turn < 5; turn++) expect(yield* verify(against, secret)).toBe(against !== null)
          const { system, user } = process.cpuUsage(before)
          return system + user
        })
      const [known, nobody] = [yield* cost(stored), yield* cost(null)]
      expect(nobody).toBeGreaterThan(known / 2)
    })
  )

  it.live("that come all at once are refused beyond a bound, and all others answered", () =>
    Effect.gen(function* () {
      const { hash, verify } = yield* Passwords.make
      const stored = yield* hash(secret)
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.either(verify(stored, secret))),
        { concurrency: "unbounded" }
      )
      const done = answers.filter(Either.isRight)
      expect(done.length).toBe(66)
      expect(done.every(({ right }) => right)).toBe(true)
      expect(yield* verify(stored, secret)).toBe(true)
    })
  )
})
