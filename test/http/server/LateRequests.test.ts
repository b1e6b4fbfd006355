import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import { beatEvery, Standstills } from "../../../src/http/server/LateRequests.ts"

/** A process whose time is told it, and which beats as it should. */
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
