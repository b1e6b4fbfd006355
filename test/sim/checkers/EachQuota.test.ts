import { describe, expect, it } from "vitest"
import type { Link } from "../../../src/model/Link.ts"
import { Quotas } from "../../../src/sim/checkers/users/Quotas.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row, userKey } from "../actors/Evidence.ts"

const by = "node-0#1"
const key = { ...userKey, createsPerMinute: 20 }
const granted = {
  tag: "granted",
  at_us: s_us,
  by,
  quota: "q",
  limit: 20,
  period: "minute",
  demand: 1,
  granted: 1,
  nextIn_ms: 0
} as const
const took = (use: string, ...limits: ReadonlyArray<readonly [id: string, limit: number]>) =>
  ({
    tag: "took",
    at_us: 2 * s_us,
    by,
    use,
    quotas: ["q"],
    limits: limits.map(([id, limit]) => ({ id, limit })),
    isAllowed: true
  }) as const
const found = (asked: Exchange, taken: ReturnType<typeof took>, link: Partial<Link> = {}) =>
  Quotas.check(
    evidence({
      exchanges: [asked],
      journal: [{ tag: "bound", at_us: s_us, by, link: { ...row, ...link } }, granted, taken],
      userKeys: [key],
      options: { ...presets.calm(), createsPerMinute: 10, redirectsPerDay: 6, keyRedirectsPerDay: 5 }
    })
  )

describe("The checker of quotas", () => {
  it("wants a create to count for its user and for its API key", () => {
    const own = created(1, { apiKey: "secret" })
    const [ofKey, ofUser] = [["create:key:key_0", 20] as const, ["create:owner:usr_0", 10] as const]
    expect(found(own, took("create", ofKey, ofUser))).toEqual([])
    expect(found(own, took("create", ofUser))).toHaveLength(1)
    expect(found(own, took("create", ofKey))).toHaveLength(1)
    expect(found(own, took("create", ofKey, ["create:owner:usr_1", 10]))).toHaveLength(1)
    expect(found(own, took("create", ["create:key:key_0", 10], ofUser))).toHaveLength(1)
  })

  it("wants a redirect to count for its link's user and API key", () => {
    const led = exchange(2, {})
    const link = { owner: "usr_0", keyId: "key_0", keyRedirectsPerDay: 5 }
    const [ofKey, ofUser] = [["redirect:key:key_0", 5] as const, ["redirect:owner:usr_0", 6] as const]
    expect(found(led, took("redirect", ofKey, ofUser), link)).toEqual([])
    expect(found(led, took("redirect", ofUser), link)).toHaveLength(1)
    expect(found(led, took("redirect", ofKey), link)).toHaveLength(1)
    expect(found(led, took("redirect", ofKey, ["redirect:owner:usr_0", 5]), link)).toHaveLength(1)
  })

  it("wants a try of a password to count for the limits on these", () => {
    const form = exchange(2, { password: "no password", status: 401, location: undefined })
    const ofLink = ["unlock:link:abc", 600] as const
    expect(found(form, took("unlock", ["unlock:uncounted:abc", 60], ofLink))).toEqual([])
    expect(found(form, took("unlock", ["unlock:uncounted:abc", 600], ofLink))).toHaveLength(1)
    expect(found(form, took("unlock", ["unlock:link:Abc", 600]))).toHaveLength(1)
    expect(found(form, took("lookup", ["lookup:client:x", 6]))).toHaveLength(2)
    const user = { key: undefined, location: undefined, user: "usr_0" }
    const signIn = exchange(2, { kind: "sign in", status: 401, isRight: false, ...user })
    expect(found(signIn, took("login", ["login:strangers:a@example.com", 50]))).toEqual([])
    expect(found(signIn, took("login", ["login:strangers:a@example.com", 100]))).toHaveLength(1)
    expect(found(signIn, took("attempt", ["attempt:client:x", 30]))).toHaveLength(1)
    const change = exchange(2, { kind: "password", status: 400, isRight: false, ...user })
    expect(found(change, took("confirm", ["confirm:session", 10]))).toEqual([])
    expect(found(change, took("login", ["login:device:x", 50]))).toHaveLength(1)
  })
})
