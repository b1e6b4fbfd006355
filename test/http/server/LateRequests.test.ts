import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, TestClock } from "effect"
import * as LateRequests from "../../../src/http/server/LateRequests.ts"
import { beatEvery, Standstills } from "../../../src/http/server/LateRequests.ts"

/** A process whose time the test sets, and which beats as it should. */
const make = () => {
  let now_ms = 0
  const standstills = new Standstills(() => now_ms)
  return {
    standstills,
    pass: (ms: number) => void (now_ms += ms),
    run: (ms: number) => {
      const end_ms = now_ms + ms
      while (now_ms < end_ms) {
        now_ms += Duration.toMillis(beatEvery)
        standstills.beat()
      }
    }
  }
}

describe("requests that write", () => {
  it("are not late in a process that runs, however long", () => {
    const { run, standstills } = make()
    run(600_000)
    expect(standstills.mayBeLate("DELETE")).toBe(false)
  })

  it("are not late after a short halt", () => {
    const { pass, run, standstills } = make()
    run(5_000)
    pass(990)
    expect(standstills.mayBeLate("DELETE")).toBe(false)
    standstills.beat()
    expect(standstills.mayBeLate("DELETE")).toBe(false)
  })

  it.each(["POST", "PATCH", "DELETE"])("may be late after a standstill: %s", (method) => {
    const { pass, run, standstills } = make()
    run(5_000)
    pass(1_010)
    // Before the next beat, and after it.
    expect(standstills.mayBeLate(method)).toBe(true)
    run(500)
    expect(standstills.mayBeLate(method)).toBe(true)
    run(1_000)
    expect(standstills.mayBeLate(method)).toBe(false)
  })

  it("may be late also where the beat comes first", () => {
    const { pass, standstills } = make()
    pass(7_000)
    standstills.beat()
    expect(standstills.mayBeLate("POST")).toBe(true)
  })
})

it.each(["GET", "HEAD"])("requests that read are never late: %s", (method) => {
  const { pass, standstills } = make()
  pass(7_000)
  expect(standstills.mayBeLate(method)).toBe(false)
})

/** Holds two requests: one whose client waits, and one whose client can leave. */
const holdBoth = ({ hold }: LateRequests.LateRequests) => {
  const begun: Array<string> = []
  let isGone = false
  hold(
    () => false,
    () => begun.push("waits")
  )
  hold(
    () => isGone,
    () => begun.push("gone")
  )
  return { begun, leave: () => void (isGone = true) }
}

describe("a request that is held", () => {
  const made = Effect.flatMap(Effect.clock, LateRequests.make)

  it.scoped("begins when its client is still there after 30 ms", () =>
    Effect.gen(function* () {
      const { begun, leave } = holdBoth(yield* made)
      for (let wait = 0; wait < 3; wait++) {
        expect(begun).toEqual([])
        yield* TestClock.adjust("10 millis")
        leave()
      }
      expect(begun).toEqual(["waits"])
    })
  )

  it.scoped("is held again after another standstill", () =>
    Effect.gen(function* () {
      let now_ms = 0
      // Timers go by the test's clock, and what the process notes by a time that passes while it stands still.
      const clock = { ...(yield* Effect.clock), unsafeCurrentTimeNanos: () => BigInt(now_ms) * 1_000_000n }
      const { begun, leave } = holdBoth(yield* LateRequests.make(clock))
      yield* TestClock.adjust("20 millis")
      now_ms = 8_000
      // All timers that are due fire before the end of the connection is read.
      yield* TestClock.adjust("10 millis")
      expect(begun).toEqual([])
      leave()
      yield* TestClock.adjust("30 millis")
      expect(begun).toEqual(["waits"])
    })
  )

  it.scoped("is none while the process beats by the clock that it is given", () =>
    Effect.gen(function* () {
      const { mayBeLate } = yield* made
      for (let passed = 0; passed < 20; passed++) {
        yield* TestClock.adjust(beatEvery)
        expect(mayBeLate("DELETE")).toBe(false)
      }
    })
  )
})
