import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { targetLengthMax } from "../../../src/http/links/TargetLength.ts"
import {
  InvalidTarget,
  type OwnAddress,
  OwnTarget,
  parse,
  reachedBy
} from "../../../src/http/links/TargetUrl.ts"

const own: OwnAddress = { baseUrl: new URL("https://sho.rt"), port: 8080 }

const faultOf = (text: string, address = own) =>
  Either.match(parse(text, address), {
    onRight: (url) => `accepted as ${url}`,
    onLeft: (error) => (error._tag === "InvalidTarget" ? error.fault : `own ${error.host}`)
  })

describe("TargetUrl.parse", () => {
  it("gives what it accepts as it is stored, and accepts that as it is", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
        const stored = Either.getOrThrow(parse(text, own))
        expect(stored).toBe(new URL(text).href)
        expect(Either.getOrThrow(parse(stored, own))).toBe(stored)
      }),
      { numRuns: 1_000 }
    )
  })

  it("accepts or refuses any text, and never throws", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.string({ unit: "binary", maxLength: 50 }).map((rest) => `http://${rest}`),
      fc.string({ unit: "grapheme", maxLength: 50 }).map((rest) => `https://example.com/${rest}`)
    )
    fc.assert(
      fc.property(text, (text) => {
        const parsed = parse(text, own)
        if (Either.isLeft(parsed)) return
        expect(parsed.right).toMatch(/^https?:\/\/[\x21-\x7e]+$/)
        expect(parsed.right.length).toBeLessThanOrEqual(targetLengthMax)
        const { password, username } = new URL(parsed.right)
        expect(username + password).toBe("")
      }),
      { numRuns: 5_000 }
    )
  })

  it("tells a URL that is not valid from one that leads back here", () => {
    expect(parse("ftp://example.com", own)).toEqual(
      Either.left(new InvalidTarget({ fault: "must start with http:// or https:// and a host" }))
    )
    expect(parse("https://sho.rt/a", own)).toEqual(Either.left(new OwnTarget({ host: "sho.rt" })))
  })

  it.each([
    ["http://sho.rt.example.com/", "accepted as http://sho.rt.example.com/"],
    ["http://127.0.0.1:9999/", "accepted as http://127.0.0.1:9999/"],
    ["http://localhost/", "accepted as http://localhost/"],
    ["http://128.0.0.1:8080/", "accepted as http://128.0.0.1:8080/"],
    ["http://[::2]:8080/", "accepted as http://[::2]:8080/"],
    ["http://[::ffff:8080:1]:8080/", "accepted as http://[::ffff:8080:1]:8080/"],
    ["http://[::ffff:7fff:ffff]:8080/", "own [::ffff:7fff:ffff]:8080"],
    ["http://localhost.example.com:8080/", "accepted as http://localhost.example.com:8080/"],
    ["http://notlocalhost:8080/", "accepted as http://notlocalhost:8080/"]
  ])("takes %s for another service's unless it is ours: %s", (text, expected) => {
    expect(faultOf(text)).toBe(expected)
  })

  it("knows itself on the port of a local base URL as well as on the one it listens at", () => {
    const behindProxy = { baseUrl: new URL("http://localhost:9000"), port: 8080 }
    expect(faultOf("http://127.0.0.1:9000/", behindProxy)).toBe("own 127.0.0.1:9000")
    expect(faultOf("http://127.0.0.1:8080/", behindProxy)).toBe("own 127.0.0.1:8080")
    expect(faultOf("http://127.0.0.1:9001/", behindProxy)).toBe("accepted as http://127.0.0.1:9001/")
  })

  it("knows itself by the name at which its client reaches it", () => {
    const at = (host: string) => ({
      baseUrl: new URL("http://localhost:8080"),
      port: 8080,
      reachedAt: reachedBy(host)
    })
    expect(faultOf("http://box.example:8080/a", at("BOX.example:8080"))).toBe("own box.example:8080")
    expect(faultOf("http://box.example:8080/a", at("box.example:9000"))).toBe("own box.example:8080")
    expect(faultOf("https://box.example./a", at("box.example"))).toBe("own box.example.")
    expect(faultOf("http://192.0.2.7:8080/", at("192.0.2.7:8080"))).toBe("own 192.0.2.7:8080")
    expect(faultOf("http://[::ffff:192.0.2.7]/", at("192.0.2.7"))).toBe("own [::ffff:c000:207]")
    expect(faultOf("http://192.0.2.7/", at("[::ffff:192.0.2.7]"))).toBe("own 192.0.2.7")
    expect(faultOf("http://box.example:3000/", at("box.example:8080"))).toBe(
      "accepted as http://box.example:3000/"
    )
    expect(faultOf("http://box.example/", at("box.example:8080"))).toBe("accepted as http://box.example/")
    expect(faultOf("http://www.box.example/", at("box.example"))).toBe("accepted as http://www.box.example/")
    expect(faultOf("http://box.example/", at("no host at all"))).toBe("accepted as http://box.example/")
  })

  it("knows itself by an IP address as base URL", () => {
    const byAddress = { baseUrl: new URL("http://192.0.2.7:8080"), port: 8080 }
    expect(faultOf("http://0xC0.0.2.7:8080/", byAddress)).toBe("own 192.0.2.7:8080")
    expect(faultOf("http://[::ffff:192.0.2.7]:8080/", byAddress)).toBe("own [::ffff:c000:207]:8080")
    const mapped = { baseUrl: new URL("http://[::ffff:192.0.2.7]:8080"), port: 8080 }
    expect(faultOf("http://192.0.2.7:8080/", mapped)).toBe("own 192.0.2.7:8080")
    expect(faultOf("http://192.0.2.8:8080/", byAddress)).toBe("accepted as http://192.0.2.8:8080/")
  })
})
