import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as ClientAddress from "../../src/http/exchange/ClientAddress.ts"
import * as VisitorHashLive from "../../src/http/redirects/VisitorHashLive.ts"
import { parseAll } from "../../src/model/Network.ts"
import * as KeyedHash from "../../src/secrets/KeyedHash.ts"
import { hash, hashed } from "../../src/visits/SipHash.ts"
import * as UserAgent from "../../src/visits/UserAgent.ts"
import { VisitorHash } from "../../src/visits/VisitorHash.ts"
import { firefox } from "../support/samples/SomeVisits.ts"

it("SipHash-2-4 is that of its authors", () => {
  // The vector of 16 bytes, 0 to 15, under the key 0 to 15.
  const words = [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c] as const
  hash(words, ...words)
  expect([hashed.high >>> 0, hashed.low >>> 0]).toEqual([0x3f2acc7f, 0x57c29bdb])
})

/** What is counted of visitors under a secret. */
const hashingWith = (secret: string) =>
  Effect.gen(function* () {
    const trusted = yield* parseAll("10.0.0.0/8")
    const context = yield* Layer.build(
      VisitorHashLive.layer.pipe(
        Layer.provide([KeyedHash.layer(Redacted.make(secret)), ClientAddress.layer(trusted)])
      )
    )
    const { entryOf } = yield* Effect.provide(VisitorHash, context)
    return (peer: string, more: { at?: number; userAgent?: string; forwardedFor?: string } = {}) =>
      entryOf(
        { peer, at: more.at ?? 0, forwardedFor: more.forwardedFor },
        UserAgent.parse(more.userAgent ?? firefox).digest
      )
  })

const day_ms = 86_400_000

describe("a visitor", () => {
  it.scoped(
    "is the same all day of UTC on all nodes, and another one on the next day or under another secret",
    () =>
      Effect.gen(function* () {
        const [one, same, other] = yield* Effect.all([hashingWith("a"), hashingWith("a"), hashingWith("b")])
        const all = (of: typeof one, more: Parameters<typeof one>[1] = {}) =>
          Array.from({ length: 100 }, (_, n) => of(`198.51.100.${n}`, more))
        const today = all(one)
        expect(new Set(today).size).toBeGreaterThan(90)
        expect(all(same, { at: day_ms - 1 })).toEqual(today)
        const others = [all(one, { at: day_ms }), all(other), all(one, { userAgent: `${firefox} x` })]
        for (const differing of others) {
          expect(differing.filter((entry, n) => entry === today[n]).length).toBeLessThan(5)
        }
        // Also back again: batches of two days can be mixed at midnight.
        expect(all(one)).toEqual(today)
      })
  )

  it.scoped("is a client's address and agent: of IPv6 its /64, behind a trusted proxy what that says", () =>
    Effect.gen(function* () {
      const of = yield* hashingWith("a")
      expect(of("2001:db8:1:2::3")).toBe(of("2001:db8:1:2:3:4:5:6"))
      expect(of("::ffff:198.51.100.7")).toBe(of("198.51.100.7"))
      const networks = Array.from({ length: 100 }, (_, n) => of(`2001:db8:1:${n.toString(16)}::1`))
      expect(new Set(networks).size).toBeGreaterThan(90)
      const forwardedFor = "198.51.100.7"
      expect(of("10.0.0.1", { forwardedFor })).toBe(of("198.51.100.7"))
      expect(of("203.0.113.1", { forwardedFor })).toBe(of("203.0.113.1"))
    })
  )
})
