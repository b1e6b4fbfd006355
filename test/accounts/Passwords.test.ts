import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Fiber, Redacted } from "effect"
import * as Passwords from "../../src/accounts/Passwords.ts"

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
          for (let turn = 0; turn < 2; turn++) expect(yield* verify(against, secret)).toBe(against !== null)
          const { system, user } = process.cpuUsage(before)
          return system + user
        })
      // What else this process does at the time only adds to a cost.
      const costs = yield* Effect.forEach([1, 2, 3], () => Effect.all([cost(stored), cost(null)]))
      const least = (which: 0 | 1) => Math.min(...costs.map((pair) => pair[which]))
      expect(least(1)).toBeGreaterThan(least(0) / 2)
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

  it.live("that nobody waits for any more make room for others", () =>
    Effect.gen(function* () {
      const { hash } = yield* Passwords.make
      const given = yield* Effect.all(Array.from({ length: 8 }, () => Effect.fork(hash(secret, "stranger"))))
      yield* Effect.yieldNow()
      expect(yield* Effect.flip(hash(secret, "stranger"))).toMatchObject({ _tag: "PasswordsBusy" })
      yield* Fiber.interruptAll(given)
      expect(yield* hash(secret, "stranger")).toContain("$argon2id$")
    })
  )

  it.live("of strangers keep no sign-in waiting: one of them is before it at most", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      const ends: Array<() => void> = []
      const passwords = yield* Passwords.makeWith({
        hash: (password) =>
          Effect.async((resume) => {
            begun.push(password)
            ends.push(() => resume(Effect.succeed(password)))
          }),
        verify: () => Effect.succeed(true)
      })
      const works = ["stranger", "newcomer", "unlock", "link"] as const
      const waiting = yield* Effect.forEach(
        works.flatMap((work) => Array.from({ length: 100 }, () => work)),
        (work) => Effect.fork(Effect.either(passwords.hash(Redacted.make(work), work)))
      )
      yield* Effect.sleep(0)
      expect(begun).toHaveLength(1)
      yield* Effect.fork(passwords.hash(Redacted.make("sign-in"), "account"))
      yield* Effect.sleep(0)
      expect(begun).toHaveLength(2)
      expect(begun[1]).toBe("sign-in")
      // The others take turns.
      const seen = new Set(begun)
      for (let turn = 0; turn < 5; turn++) {
        for (const end of ends.splice(0)) end()
        yield* Effect.sleep(0)
        for (const work of begun) seen.add(work)
      }
      expect(seen).toEqual(new Set([...works, "sign-in"]))
      // What is computed cannot be stopped: it comes to an end.
      const ending = yield* Effect.fork(
        Effect.forever(
          Effect.zipRight(
            Effect.sync(() => ends.splice(0).forEach((end) => end())),
            Effect.sleep(0)
          )
        )
      )
      yield* Effect.forEach(waiting, Fiber.join)
      yield* Fiber.interrupt(ending)
      expect(begun.filter((work) => work === "stranger")).toHaveLength(8)
    })
  )
})
