import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { isPrivate } from "../../src/PrivateTarget.ts"

/** The host as a target has it. */
const hostOf = (url: string) => new URL(url).hostname

describe("PrivateTarget.isPrivate", () => {
  it.each([
    "http://127.0.0.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://169.254.169.254/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://192.0.2.1/",
    "http://[::1]/",
    "http://[::]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[ff02::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[2002:a00:1::]/",
    "http://[2001:db8::1]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://localhost.localdomain/",
    "http://router/",
    "http://printer.local/",
    "http://nas.home.arpa/",
    "http://nas.lan./",
    "http://metadata.google.internal/",
    "http://wiki.corp/"
  ])("takes %s for private", (url) => {
    expect(isPrivate(hostOf(url))).toBe(true)
  })

  it.each([
    "http://8.8.8.8/",
    "http://172.15.0.1/",
    "http://172.32.0.1/",
    "http://100.128.0.1/",
    "http://[2606:4700::1111]/",
    "http://[::ffff:8.8.8.8]/",
    "http://example.com/",
    "http://localhost.example.com/",
    "http://local.example/",
    "http://10.0.0.1.example.com/",
    "http://xn--mnchen-3ya.example/"
  ])("takes %s for public", (url) => {
    expect(isPrivate(hostOf(url))).toBe(false)
  })

  it("tells of every host that a URL can have, and never throws", () => {
    const hosts = fc.oneof(
      fc.ipV4Extended(),
      fc.ipV6().map((text) => `[${text}]`),
      fc.domain()
    )
    fc.assert(
      fc.property(hosts, (host) => {
        fc.pre(URL.canParse(`http://${host}/`))
        expect(isPrivate(hostOf(`http://${host}/`))).toBeTypeOf("boolean")
      }),
      { numRuns: 2_000 }
    )
  })
})
