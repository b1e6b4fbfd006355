import { expect, it } from "vitest"
import * as Meter from "../../src/accounts/Meter.ts"

const limit = { id: "redirect:owner:somebody", limit: 10, period: "day" } as const

it("uses a lease of a day until the day ends by the answer that gave it, however late that was, and none of it with the next day's", () => {
  const meter = Meter.make(limit, 0)
  const evening = { granted: 5, remaining: 0, nextIn_ms: 100, resetIn_ms: 100 }
  Meter.accept(limit, meter, 1, evening, { asked: 0, now: 80 })
  expect(Meter.ask(limit, meter, 90)?.isAllowed).toBe(true)
  expect(Meter.ask(limit, meter, 150)).toBeUndefined()
  const morning = { granted: 1, remaining: 9, nextIn_ms: 0, resetIn_ms: 86_400_000 }
  Meter.accept(limit, meter, 1, morning, { asked: 120, now: 160 })
  expect(Meter.ask(limit, meter, 170)?.isAllowed).toBe(true)
  expect(Meter.ask(limit, meter, 170)).toBeUndefined()
})
