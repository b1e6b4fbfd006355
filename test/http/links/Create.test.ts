import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import { jsonOf, keyOf } from "../../support/http/HttpClient.ts"
import { create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

/** As the API writes moments. */
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

withService("a create", {}, (it) => {
  it.effect("is answered with 201, the link, and where the link is", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const before = yield* service.stored
      const answer = yield* create({ url: "https://example.com/a?b=c" }, { "x-request-id": "my-own" })
      expect(answer.status).toBe(201)
      const key = keyOf(answer)
      expect(jsonOf(answer)).toEqual({
        key: expect.stringMatching(/^[0-9A-Za-z]{7}$/),
        shortUrl: `http://localhost:${service.port}/${key}`,
        url: "https://example.com/a?b=c",
        title: null,
        tags: [],
        createdAt: expect.stringMatching(moment),
        updatedAt: expect.stringMatching(moment),
        expiresAt: null,
        validSince: null,
        maxVisits: null,
        redirectStatus: 302,
        forwardQuery: false,
        crawlable: false,
        hasPassword: false,
        custom: false,
        visits: { total: 0, nonBots: 0, bots: 0 }
      })
      expect(answer.headers).toMatchObject({
        location: `/api/v1/links/${key}`,
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-request-id": "my-own"
      })
      expect(yield* service.stored).toBe(before + 1)
      expect((yield* get(`/${key}`)).headers.location).toBe("https://example.com/a?b=c")
    })
  )

  it.effect("with an alias binds that key and says so", () =>
    Effect.gen(function* () {
      const answer = yield* create({ url: "https://example.com/launch", alias: "launch-2027" })
      expect(answer.status).toBe(201)
      expect(jsonOf(answer)).toMatchObject({ key: "launch-2027", custom: true })
      expect(answer.headers.location).toBe("/api/v1/links/launch-2027")
      expect((yield* get("/launch-2027")).headers.location).toBe("https://example.com/launch")
    })
  )

  it.effect("gives each of many creates at once a key of its own", () =>
    Effect.gen(function* () {
      const urls = Array.from({ length: 200 }, (_, index) => `https://example.com/${index}`)
      const keys = yield* Effect.forEach(urls, (url) => Effect.map(create({ url }), keyOf), {
        concurrency: 16
      })
      expect(new Set(keys).size).toBe(urls.length)
      const targets = yield* Effect.forEach(
        keys,
        (key) => Effect.map(get(`/${key}`), ({ headers }) => headers.location),
        { concurrency: 16 }
      )
      expect(targets).toEqual(urls)
    })
  )

  it.effect("of the same URL twice gives two links", () =>
    Effect.gen(function* () {
      const [one, other] = yield* Effect.all([
        create({ url: "https://example.com/same" }),
        create({ url: "https://example.com/same" })
      ])
      expect(keyOf(one)).not.toBe(keyOf(other))
    })
  )
})

withService("a target URL", {}, (it) => {
  const cases: ReadonlyArray<readonly [what: string, sent: string, kept: string]> = [
    ["an international host", "https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["a host in another script", "http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"],
    ["a Punycode host", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"],
    ["an upper-case host and scheme", "HTTPS://EXAMPLE.COM/Path", "https://example.com/Path"],
    [
      "an international path, query and fragment",
      "https://example.com/äö?q=ü#ß",
      "https://example.com/%C3%A4%C3%B6?q=%C3%BC#%C3%9F"
    ],
    ["characters beyond the basic plane", "https://example.com/🍃", "https://example.com/%F0%9F%8D%83"],
    [
      "percent-encoding, whatever its case",
      "https://example.com/%c3%A4%2Fb%20c",
      "https://example.com/%c3%A4%2Fb%20c"
    ],
    ["a missing path", "https://example.com", "https://example.com/"],
    ["an empty query and fragment", "https://example.com/?#", "https://example.com/?#"],
    ["the default port", "https://example.com:443/a", "https://example.com/a"],
    ["another port", "https://example.com:8443/a", "https://example.com:8443/a"],
    ["the highest port", "http://example.com:65535/", "http://example.com:65535/"],
    ["dots in the path", "https://example.com/a/../b/./c", "https://example.com/b/c"],
    ["quotes and angle brackets", `https://example.com/"<x>'`, "https://example.com/%22%3Cx%3E'"],
    ["back slashes after the host", "https://example.com\\a", "https://example.com/a"],
    ["an IPv4 address", "http://192.0.2.7/", "http://192.0.2.7/"],
    ["an IPv6 address", "http://[2001:DB8:0:0:0:0:0:1]:8080/", "http://[2001:db8::1]:8080/"],
    ["a host without dots", "http://intranet/wiki", "http://intranet/wiki"],
    ["a host with a dot at its end", "https://example.com./", "https://example.com./"],
    ["an underscore in the host", "https://my_host.example.com/", "https://my_host.example.com/"],
    ["two hyphens inside a label", "https://a--b.example.com/", "https://a--b.example.com/"],
    ["a label of 63 characters", `https://${"a".repeat(63)}.com/`, `https://${"a".repeat(63)}.com/`],
    [
      "exactly 2,048 characters",
      `https://example.com/${"a".repeat(2_028)}`,
      `https://example.com/${"a".repeat(2_028)}`
    ],
    [
      "exactly 2,048 characters once it is encoded",
      `https://example.com/${"ä".repeat(338)}`,
      `https://example.com/${"%C3%A4".repeat(338)}`
    ]
  ]

  for (const [what, sent, kept] of cases) {
    it.effect(`with ${what} is kept, and comes back as the redirect's Location`, () =>
      Effect.gen(function* () {
        const created = yield* create({ url: sent })
        expect({ status: created.status, url: (jsonOf(created) as { url?: string }).url }).toEqual({
          status: 201,
          url: kept
        })
        const redirect = yield* get(`/${keyOf(created)}`)
        expect(redirect.headers.location).toBe(kept)
      })
    )
  }
})

const P1D = Iso8601.parseDuration("P1D")!

withService("with DEFAULT_EXPIRY", { defaultExpiry: P1D }, (it) => {
  const expiryOf = (body: object) =>
    Effect.map(create(body), (answer) => (jsonOf(answer) as { expiresAt: string | null }).expiresAt)

  it.effect("a create without an expiry gets that one", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      clock.set(startOfTests_ms + 1)
      expect(yield* expiryOf({ url: "https://example.com/" })).toBe("2026-11-22T10:00:00.001Z")
      clock.set(startOfTests_ms)
    })
  )

  it.effect("a create with an expiry keeps its own", () =>
    Effect.gen(function* () {
      const url = "https://example.com/"
      expect(yield* expiryOf({ url, expiresIn: "PT1H" })).toBe("2026-11-21T11:00:00.000Z")
      expect(yield* expiryOf({ url, expiresAt: "2030-01-01T00:00:00Z" })).toBe("2030-01-01T00:00:00.000Z")
    })
  )
})
