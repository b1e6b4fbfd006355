import { Either, Option } from "effect"
import { Headers } from "@effect/platform"
import { describe, expect, it } from "vitest"
import * as ClientAddress from "../../../src/http/exchange/ClientAddress.ts"
import { parseAll } from "../../../src/model/Network.ts"

const from = (peer: string | null, forwarded?: string) => ({
  remoteAddress: Option.fromNullable(peer),
  headers: Headers.fromInput(forwarded === undefined ? {} : { "x-forwarded-for": forwarded })
})

const trusting = (proxies: string) => ClientAddress.make(Either.getOrThrow(parseAll(proxies)))

describe("where no proxy is trusted, a client's address", () => {
  const { clientOf, isByProxy, of } = ClientAddress.make([])

  it("is the connection's, whatever the client claims", () => {
    expect(of(from("192.0.2.1", "198.51.100.7"))).toBe("192.0.2.1")
    expect(isByProxy(from("192.0.2.1", "198.51.100.7"))).toBe(false)
  })

  it("is written in one way", () => {
    expect(of(from("::ffff:192.0.2.1"))).toBe("192.0.2.1")
    expect(of(from("2001:DB8:0:0::1"))).toBe("2001:db8::1")
  })

  it("counts for itself, or for its /64 and the /48 around it", () => {
    expect(clientOf(from("192.0.2.1"))).toEqual({ id: "192.0.2.1", network: null })
    expect(clientOf(from("::ffff:192.0.2.1"))).toEqual({ id: "192.0.2.1", network: null })
    const network = "2001:db8:1::/48"
    expect(clientOf(from("2001:db8:1:2:3:4:5:6"))).toEqual({ id: "2001:db8:1:2::/64", network })
    expect(clientOf(from("2001:db8:1:2::"))).toEqual({ id: "2001:db8:1:2::/64", network })
    expect(clientOf(from("2001:db8:1:3::"))).toEqual({ id: "2001:db8:1:3::/64", network })
  })

  it("is unknown where the connection has none", () => {
    expect(of(from(null, "198.51.100.7"))).toBeNull()
    expect(clientOf(from(null))).toBeNull()
  })

  it("does not count where it is this machine's", () => {
    for (const own of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
      expect(clientOf(from(own))).toBeNull()
  })
})

describe("behind trusted proxies, a client's address", () => {
  const { isByProxy, of } = trusting("10.0.0.0/8, ::1")

  it.each([
    ["is what the proxy says", "10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["is what the last of several proxies says", "::1", "198.51.100.7, 10.0.0.1", "198.51.100.7"],
    ["is not what the client says of itself", "10.1.2.3", "203.0.113.9, 198.51.100.7", "198.51.100.7"],
    ["is the proxy's where it says nothing", "10.1.2.3", undefined, "10.1.2.3"],
    ["is the proxy's where it says no address", "10.1.2.3", "198.51.100.7, unknown", "10.1.2.3"],
    ["is no half address", "10.1.2.3", "198.51", "10.1.2.3"],
    ["is the first proxy's where all are proxies", "10.1.2.3", "10.0.0.9, 10.0.0.8", "10.0.0.9"],
    ["is the connection's where that is no proxy's", "192.0.2.1", "198.51.100.7", "192.0.2.1"],
    ["has no port", "10.1.2.3", "198.51.100.7:4711", "198.51.100.7"],
    ["has no port in IPv6", "10.1.2.3", "[2001:DB8::7]:4711", "2001:db8::7"],
    ["is the proxy's where a port is all that is said", "10.1.2.3", ":4711", "10.1.2.3"],
    ["is the proxy's where it says nothing between commas", "10.1.2.3", "198.51.100.7, ,", "10.1.2.3"],
    ["is understood in IPv6", "10.1.2.3", "2001:DB8::7", "2001:db8::7"],
    ["is understood as IPv4 in IPv6", "::ffff:10.1.2.3", "::ffff:198.51.100.7", "198.51.100.7"]
  ])("%s", (_, peer, forwarded, expected) => {
    expect(of(from(peer, forwarded))).toBe(expected)
  })

  it("is found at once in a header of any length", () => {
    expect(of(from("10.1.2.3", `${"1.1.1.1,".repeat(2_000)}${"10.0.0.1,".repeat(100)}10.0.0.2`))).toBe(
      "10.0.0.1"
    )
  })

  it("comes by a proxy only from a proxy's address", () => {
    expect(isByProxy(from("10.1.2.3"))).toBe(true)
    expect(isByProxy(from("::ffff:10.1.2.3"))).toBe(true)
    expect(isByProxy(from("192.0.2.1"))).toBe(false)
    expect(isByProxy(from(null))).toBe(false)
  })
})

describe("behind a trusted proxy, whom to count a request for", () => {
  it("is the proxy where it names no client, also on this machine, and it is told of once", () => {
    const silent: Array<string> = []
    const { clientOf } = ClientAddress.make(
      Either.getOrThrow(parseAll("127.0.0.0/8, ::1, 10.0.0.0/8")),
      (proxy) => silent.push(proxy)
    )
    expect(clientOf(from("127.0.0.1"))).toEqual({ id: "127.0.0.1", network: null })
    expect(clientOf(from("::ffff:127.0.0.1"))).toEqual({ id: "127.0.0.1", network: null })
    expect(clientOf(from("::1"))).toEqual({ id: "::/64", network: "::/48" })
    for (const malformed of ["", "unknown", "198.51", "198.51.100.7, ", "a".repeat(10_000)]) {
      expect(clientOf(from("127.0.0.1", malformed))).toEqual({ id: "127.0.0.1", network: null })
    }
    expect(silent).toEqual(["127.0.0.1"])
  })

  it("is what the proxy says, also where that is this machine", () => {
    const { clientOf } = trusting("127.0.0.1")
    expect(clientOf(from("127.0.0.1", "198.51.100.7"))).toEqual({ id: "198.51.100.7", network: null })
    expect(clientOf(from("127.0.0.1", "::1"))).toEqual({ id: "::/64", network: "::/48" })
  })
})
