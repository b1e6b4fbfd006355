import { expect, it } from "vitest"
import { OwnAccounts } from "../../../src/sim/checkers/users/OwnAccounts.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { evidence, exchange } from "../actors/Evidence.ts"

const by = "node-0#1"
const options = { ...presets.calm(), createsPerMinute: 8 }
const right = {
  id: "usr_1",
  email: "usr_1@example.com",
  scopes: ["links:read", "links:write", "stats:read"],
  passwordChangeRequired: false,
  quotas: { createsPerMinute: { limit: 8, used: 3, remaining: 5 }, redirectsPerDay: null }
}

it("The checker of own accounts wants users to be told who they are, what they may, and what is left to them", () => {
  const journal = [
    { tag: "session begun", at_us: s_us, by, session: "ses", user: "usr_1" },
    { tag: "password changed", at_us: 5 * s_us, by, user: "usr_1", isTemporary: true, revokesKeys: false }
  ] as const
  const found = (told: object, at_s = 3) => {
    const asked = { kind: "account", key: undefined, location: undefined, status: 200 } as const
    const body = JSON.stringify({ ...right, ...told })
    const exchanges = [exchange(at_s, { ...asked, session: "ses", body })]
    return OwnAccounts.check(evidence({ journal, exchanges, options })).length
  }
  expect(found({})).toBe(0)
  expect(found({ id: "usr_2" })).toBe(1)
  expect(found({ email: "usr_2@example.com" })).toBe(1)
  expect(found({ scopes: [...right.scopes, "admin"] })).toBe(1)
  expect(found({ scopes: ["links:read"] })).toBe(1)
  expect(found({ quotas: { ...right.quotas, createsPerMinute: null } })).toBe(1)
  const quota = (limit: number, used: number, remaining: number) => ({
    quotas: { ...right.quotas, createsPerMinute: { limit, used, remaining } }
  })
  expect(found(quota(8, 8, 0))).toBe(0)
  expect(found(quota(16, 8, 8))).toBe(1)
  expect(found(quota(8, 8, 1))).toBe(1)
  expect(found(quota(8, 9, -1))).toBe(1)
  expect(found({ passwordChangeRequired: true })).toBe(1)
  expect(found({ passwordChangeRequired: true }, 6)).toBe(0)
  expect(found({}, 6)).toBe(1)
  expect(found({}, 4.9995)).toBe(0)
})
