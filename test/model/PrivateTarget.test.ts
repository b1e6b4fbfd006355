import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { isPrivate } from "../../src/model/PrivateTarget.ts"

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
    "http://wiki.corp/",

    // IPv4 in other spellings, which the URL Standard makes one.
    "http://127.1/",
    "http://0/",
    "http://017700000001/",
    "http://0xA9FEA9FE/",
    "http://0xa9.0376.43518/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",

    // IPv4 within IPv6.
    "http://[::127.0.0.1]/",
    "http://[::a9fe:a9fe]/",
    "http://[::8.8.8.8]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:0:8.8.8.8]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:168.63.129.16]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::1:808:808]/",
    "http://[64:ff9b:1::8.8.8.8]/",
    "http://[64:ff9b:1:ffff::a00:1]/",
    "http://[2002:7f00:1::1]/",
    "http://[2002:808:808::1]/",
    "http://[2001::1]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",

    // The special-purpose registries, each at its first and its last address.
    "http://0.255.255.255/",
    "http://10.0.0.0/",
    "http://10.255.255.255/",
    "http://100.64.0.0/",
    "http://100.127.255.255/",
    "http://169.254.0.0/",
    "http://169.254.255.255/",
    "http://172.16.0.0/",
    "http://192.0.0.0/",
    "http://192.0.0.8/",
    "http://192.0.0.9/",
    "http://192.0.0.170/",
    "http://192.0.0.255/",
    "http://192.31.196.1/",
    "http://192.52.193.1/",
    "http://192.88.99.1/",
    "http://192.168.255.255/",
    "http://192.175.48.1/",
    "http://198.18.0.0/",
    "http://198.19.255.255/",
    "http://198.51.100.7/",
    "http://203.0.113.7/",
    "http://239.255.255.255/",
    "http://[::2]/",
    "http://[100::1]/",
    "http://[100:0:0:1::1]/",
    "http://[1fff::1]/",
    "http://[2001:1::1]/",
    "http://[2001:2::1]/",
    "http://[2001:3::1]/",
    "http://[2001:4:112::1]/",
    "http://[2001:10::1]/",
    "http://[2001:20::1]/",
    "http://[2001:30::1]/",
    "http://[2001:1ff:ffff::1]/",
    "http://[2620:4f:8000::1]/",
    "http://[3fff::1]/",
    "http://[3fff:fff:ffff::1]/",
    "http://[4000::1]/",
    "http://[5f00::1]/",
    "http://[febf::1]/",
    "http://[fec0::1]/",
    "http://[fdff:ffff::1]/",
    "http://[ff0e::1]/",

    // What clouds serve to their own machines.
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://169.254.170.2/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[fd00:c1::a9fe:a9fe]/",
    "http://metadata.goog/",
    "http://vm.internal.cloudapp.net/",

    // Names that the public DNS does not have.
    "http://kubernetes.default.svc/",
    "http://KUBERNETES.default.SVC./",
    "http://api.default.svc.cluster.local/",
    "http://db.service.consul/",
    "http://web.docker/",
    "http://host.docker.internal/",
    "http://home.arpa/",
    "http://ipv4only.arpa/",
    "http://a.test/",
    "http://mail.home/",
    "http://server.mail/",
    "http://wiki.intranet/",
    "http://nas.private/",
    "http://pc.workgroup/",
    "http://pc.mshome.net./",
    "http://localhost./",
    "http://localhost../",
    "http://a..example/",
    "http://ai/",
    "http://com./"
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
    "http://xn--mnchen-3ya.example/",
    "http://1.0.0.1/",
    "http://100.63.255.255/",
    "http://169.253.255.255/",
    "http://168.63.129.15/",
    "http://192.0.1.1/",
    "http://198.20.0.1/",
    "http://223.255.255.255/",
    "http://[64:ff9b::8.8.8.8]/",
    "http://[2001:200::1]/",
    "http://[2001:4860:4860::8888]/",
    "http://[2003::1]/",
    "http://[3ffe:ffff::1]/",
    "http://example.com./",
    "http://svc.example.com/",
    "http://latest.example/",
    "http://mysvc.example/",
    "http://www.goog/.test",
    "http://net.example.net/"
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
