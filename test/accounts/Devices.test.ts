import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import * as Devices from "../../src/accounts/Devices.ts"
import { KeyedHash } from "../../src/secrets/KeyedHash.ts"
import { AccountStore } from "../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreMemory from "../../src/sim/stores/AccountStoreMemory.ts"
import { userOf } from "../support/samples/SomeWebhooks.ts"
import { testHash } from "../support/TestHash.ts"

describe("a device at which a user has signed in", () => {
  it.effect("is known for 90 days, as this user's alone", () =>
    Effect.gen(function* () {
      const store = yield* AccountStoreMemory.make
      const [one, other] = [userOf("usr_one"), userOf("usr_other")]
      for (const user of [one, other]) yield* store.addUser(user)
      const { begin, find } = yield* Devices.make.pipe(
        Effect.provideService(AccountStore, store),
        Effect.provideService(KeyedHash, testHash)
      )
      const token = yield* begin(one)
      const id = yield* find(one.email, token)
      expect(id).toMatch(/^[A-Za-z0-9_-]{16}$/)
      expect(yield* find(one.email, yield* begin(one))).not.toBe(id)
      expect(yield* find(other.email, token)).toBeNull()
      expect(yield* find("nobody@example.com", token)).toBeNull()
      expect(yield* find(one.email, undefined)).toBeNull()
      for (const forged of ["", ".", `${Redacted.value(token)}x`, Redacted.value(token).replace(/.$/, "=")]) {
        expect(yield* find(one.email, Redacted.make(forged))).toBeNull()
      }
      yield* TestClock.adjust("89 days")
      expect(yield* find(one.email, token)).toBe(id)
      yield* TestClock.adjust("1 days")
      expect(yield* find(one.email, token)).toBeNull()
    })
  )
})
