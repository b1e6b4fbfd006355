import { describe, expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import type { Standing } from "../../src/accounts/Meter.ts"
import * as Quotas from "../../src/accounts/Quotas.ts"
import * as RateLimiter from "../../src/accounts/RateLimiter.ts"
import { KeyedHash } from "../../src/secrets/KeyedHash.ts"
import { QuotaStore } from "../../src/storage/accounts/QuotaStore.ts"
import * as QuotaStoreMemory from "../../src/sim/stores/QuotaStoreMemory.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import { testHash } from "../support/TestHash.ts"

type Fault = "none" | "fails" | "slow"

/** Quotas over a store that can be made to fail, or to take longer than it may. */
const start = Effect.gen(function* () {
  const memory = yield* QuotaStoreMemory.make
  let fault: Fault = "none"
  const store = QuotaStore.of({
    ...memory,
    leaseMany: (asks) =>
      Effect.suspend(() => {
        if (fault === "fails")
          return new StorageError({ operation: "test", applied: "no", reason: "the test has broken it" })
        return fault === "none" ? memory.leaseMany(asks) : Effect.delay(memory.leaseMany(asks), "251 millis")
      })
  })
  const limiter = yield* RateLimiter.make.pipe(
    Effect.provideService(QuotaStore, store),
    Effect.provideService(KeyedHash, testHash)
  )
  const quotas = yield* Effect.provideService(
    Quotas.make({ ...Quotas.unlimited, anonymousCreatesPerMinute: 3 }),
    RateLimiter.RateLimiter,
    limiter
  )
  return { quotas, setFault: (now: Fault) => Effect.sync(() => (fault = now)) }
})

type Service = typeof Quotas.Quotas.Service

const client: Quotas.Client = { id: "192.0.2.7", network: null }

/** What is asked by many at once, and how many of them may go on within a minute's first moments. */
const guesses: Readonly<
  Record<string, readonly [number, (quotas: Service) => Effect.Effect<Standing | null>]>
> = {
  "signing in to an account": [10, (quotas) => quotas.logIn(client, "ada@example.com", null)],
  "signing in and up": [30, (quotas) => quotas.attempt(client)],
  "giving one's password again": [10, (quotas) => quotas.confirm("ses_a")],
  "a link's password": [30, (quotas) => quotas.unlock(client, "key")],
  "a webhook's challenge": [10, (quotas) => quotas.challenge("usr_a", "example.com")]
}

/** Asks 100 times at once: how often it was allowed. */
const rush = (ask: Effect.Effect<Standing | null>) =>
  Effect.gen(function* () {
    const asking = yield* Effect.fork(
      Effect.all(
        Array.from({ length: 100 }, () => ask),
        { concurrency: "unbounded" }
      )
    )
    // One limit is asked about after the other.
    yield* Effect.repeatN(TestClock.adjust("251 millis"), 2)
    const standings = yield* asking
    for (const standing of standings)
      if (standing?.isAllowed === false) expect(standing.retryIn_ms).toBeGreaterThan(0)
    return standings.filter((standing) => standing?.isAllowed !== false).length
  })

for (const [what, [limit, ask]] of Object.entries(guesses)) {
  describe(`the limit of ${what}`, () => {
    for (const fault of ["none", "fails", "slow"] as const) {
      it.scoped(
        `holds for 100 at once where its store is ${fault === "none" ? "there" : fault === "slow" ? "slow" : "failing"}`,
        () =>
          Effect.gen(function* () {
            const { quotas, setFault } = yield* start
            yield* setFault(fault)
            expect(yield* rush(ask(quotas))).toBe(limit)
            // What has flown in since, and no more.
            expect(yield* rush(ask(quotas))).toBeLessThanOrEqual(1)
          })
      )
    }

    it.scoped("is not held twice where its store goes away and comes back", () =>
      Effect.gen(function* () {
        const { quotas, setFault } = yield* start
        let allowed = 0
        for (const fault of ["none", "slow", "none", "fails", "none"] as const) {
          yield* setFault(fault)
          allowed += yield* rush(ask(quotas))
        }
        expect(allowed).toBeLessThanOrEqual(limit * 1.1)
      })
    )
  })
}

describe("giving one's password again", () => {
  it.scoped("is possible 100 times in an hour at most, in one session", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      let allowed = 0
      for (let minute = 0; minute < 60; minute++) {
        for (let n = 0; n < 10; n++) {
          const standing = yield* quotas.confirm("ses_a")
          if (standing?.isAllowed === true) allowed++
        }
        yield* TestClock.adjust("1 minutes")
      }
      expect(allowed).toBeGreaterThanOrEqual(50)
      expect(allowed).toBeLessThanOrEqual(100)
    })
  )
})

describe("signing in to one account", () => {
  const email = "ada@example.com"
  const isAllowed = (asked: Effect.Effect<Standing | null>) =>
    Effect.map(asked, (standing) => standing?.isAllowed === true)
  /** Strangers from many addresses, for so many minutes: how often they may try. */
  const attack = (quotas: Service, minutes: number) =>
    Effect.gen(function* () {
      let allowed = 0
      for (let minute = 0; minute < minutes; minute++) {
        for (let n = 0; n < 20; n++) {
          const stranger = { id: `203.0.113.${n}`, network: null }
          if (yield* isAllowed(quotas.logIn(stranger, email, null))) allowed++
        }
        yield* TestClock.adjust("1 minutes")
      }
      return allowed
    })

  it.scoped("can fail 100 times in an hour at most, from however many addresses", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      const allowed = yield* attack(quotas, 60)
      expect(allowed).toBeGreaterThanOrEqual(50)
      expect(allowed).toBeLessThanOrEqual(100)
    })
  )

  it.scoped("is not kept from its user by strangers, at a device that is known", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      yield* attack(quotas, 4)
      for (let n = 0; n < 5; n++) yield* quotas.logIn({ id: "198.51.100.1", network: null }, email, null)
      expect(yield* isAllowed(quotas.logIn(client, email, null))).toBe(false)
      expect(yield* isAllowed(quotas.logIn(client, email, "a-device"))).toBe(true)
      // Nor are strangers by its user.
      expect(yield* isAllowed(quotas.logIn(client, "other@example.com", null))).toBe(true)
    })
  )

  it.scoped("counts what fails alone, for the account", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      for (let n = 0; n < 300; n++) {
        expect(yield* isAllowed(quotas.logIn({ id: `198.51.100.${n}`, network: null }, email, null))).toBe(
          true
        )
        quotas.loggedIn(email, null)
      }
    })
  )

  it.scoped("can be guessed at a device that was stolen no more often than by all strangers", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      let allowed = 0
      for (let n = 0; n < 200; n++) if (yield* isAllowed(quotas.logIn(client, email, "a-device"))) allowed++
      expect(allowed).toBe(50)
    })
  )
})

describe("trying the password of one link", () => {
  const tries = (quotas: Service, from: Quotas.Client | null, times: number) =>
    Effect.map(
      Effect.replicateEffect(quotas.unlock(from, "key"), times),
      (standings) => standings.filter((standing) => standing?.isAllowed === true).length
    )

  it.scoped("keeps none of its other visitors out", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      for (const stranger of ["198.51.100.1", "198.51.100.2", "198.51.100.3"]) {
        expect(yield* tries(quotas, { id: stranger, network: null }, 100)).toBe(30)
      }
      expect(yield* tries(quotas, client, 1)).toBe(1)
    })
  )

  it.scoped("comes to an end, from however many addresses, and where clients cannot be told apart", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      expect(yield* tries(quotas, null, 100)).toBe(60)
      let allowed = 60
      for (let n = 0; n < 100; n++) {
        allowed += yield* tries(quotas, { id: `198.51.100.${n}`, network: null }, 10)
      }
      expect(allowed).toBe(600)
    })
  )
})

describe("the limit of creates", () => {
  it.scoped("is open while its store fails: links go on", () =>
    Effect.gen(function* () {
      const { quotas, setFault } = yield* start
      expect(yield* rush(quotas.create("anonymous", client))).toBe(3)
      yield* TestClock.adjust("1 minutes")
      yield* setFault("fails")
      expect(yield* rush(quotas.create("anonymous", client))).toBe(100)
    })
  )
})

describe("clients of IPv6", () => {
  it.scoped("have four times a client's limit together in a /48, however they rotate their /64", () =>
    Effect.gen(function* () {
      const { quotas } = yield* start
      let allowed = 0
      for (let n = 0; n < 300; n++) {
        const rotated = { id: `2001:db8:1:${n.toString(16)}::/64`, network: "2001:db8:1::/48" }
        const standing = yield* quotas.unlock(rotated, `key-${n}`)
        if (standing?.isAllowed === true) allowed++
      }
      expect(allowed).toBe(120)
    })
  )
})
