import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { type ExpectedFault, refuses } from "../../support/http/Problems.ts"
import { asAdmin, create, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

/** Everything that rules and variants may say. */
const routing = {
  rules: [
    { url: "https://example.com/rule", name: "Über", when: { devices: ["mobile"], os: ["iOS", "Android"] } },
    {
      url: "https://example.com/other",
      when: {
        languages: ["de-AT"],
        countries: ["AT"],
        query: [{ name: "ref" }, { name: "by", value: "mail, or not" }],
        from: "2027-01-01T00:00:00.000Z",
        until: "2027-02-01T00:00:00.000Z",
        hours: { timeZone: "Europe/Vienna", days: [1, 5], from: "22:00", until: "06:00" },
        networks: ["192.0.2.0/24", "2001:db8::1"]
      }
    }
  ],
  variants: [
    { url: "https://example.com/a", weight: 1 },
    { url: "https://example.com/b", name: "b", weight: 1_000 }
  ]
}

withService("a create", {}, (it) => {
  it.effect("keeps everything that it may say of a link", () =>
    Effect.gen(function* () {
      const said = {
        title: "Über „alles“ 🍃",
        tags: ["spring", "日本語", 'it\'s "quoted" \\ %_'],
        validSince: "2026-12-01T00:00:00.000Z",
        maxVisits: 10,
        redirectStatus: 308,
        forwardQuery: true,
        crawlable: true,
        expiredUrl: "https://example.com/over",
        forwardPath: true,
        ...routing,
        note: "For „her“",
        archived: true,
        publicStats: true
      }
      const created = yield* create({ url, ...said })
      expect(created.status).toBe(201)
      expect(jsonOf(created)).toMatchObject(said)
      expect(jsonOf(yield* asAdmin("GET", created.headers.location!))).toEqual(jsonOf(created))
    })
  )

  it.effect("keeps a password, and shows nothing of it", () =>
    Effect.gen(function* () {
      const created = yield* create({ url, password: "a secret 🍃" })
      expect(created.status).toBe(201)
      expect(jsonOf(created)).toMatchObject({ hasPassword: true })
      expect(created.text).not.toMatch(/secret|argon|passwordHash/)
    })
  )

  const kept: ReadonlyArray<readonly [name: string, sent: unknown, shown?: unknown]> = [
    ["title", "x"],
    ["title", "🍃".repeat(256)],
    ["title", "  spaces  "],
    ["tags", []],
    ["tags", Array.from({ length: 20 }, (_, index) => `tag ${index}`)],
    ["tags", ["🍃".repeat(64)]],
    ["tags", ["b", "a", "b"], ["b", "a"]],
    ["tags", ["A", "a"]],
    ["maxVisits", 1],
    ["maxVisits", 1_000_000_000],
    ["redirectStatus", 301],
    ["redirectStatus", 307],
    ["forwardQuery", false],
    ["crawlable", false],
    ["expiredUrl", "https://münchen.example/ß", "https://xn--mnchen-3ya.example/%C3%9F"],
    ["queryPrecedence", "target"],
    ["card", { title: "t" }],
    ["note", "🍃".repeat(1_024)],
    ["note", "two\r\n\tlines\n"],
    [
      "card",
      { description: "🍃".repeat(512), image: "https://EXAMPLE.com" },
      { image: "https://example.com/" }
    ],
    ["validSince", "2020-01-01T00:00:00+01:00", "2019-12-31T23:00:00.000Z"],
    ["validSince", "9999-12-31T23:59:59.999Z"],
    ["validSince", "0000-01-01T00:00:00.000Z"],
    [
      "rules",
      [{ url: "https://münchen.example", when: { from: "2027-01-01T01:00:00+01:00" } }],
      [{ url: "https://xn--mnchen-3ya.example/", when: { from: "2027-01-01T00:00:00.000Z" } }]
    ],
    ["rules", Array.from({ length: 20 }, () => ({ url, when: { countries: ["DE"] } }))],
    ["variants", Array.from({ length: 10 }, () => ({ url, weight: 1_000 }))]
  ]
  for (const [name, sent, shown = sent] of kept) {
    it.effect(`may say ${name} ${JSON.stringify(sent).slice(0, 40)}`, () =>
      Effect.map(create({ url, [name]: sent }), (answer) => {
        expect(answer.status).toBe(201)
        expect(jsonOf(answer)).toMatchObject({ [name]: shown })
      })
    )
  }

  const many = Array.from({ length: 21 }, (_, index) => String(index))
  const refused: ReadonlyArray<
    readonly [name: string, sent: unknown, ...faults: ReadonlyArray<ExpectedFault>]
  > = [
    ["title", "", ["title", /^must have 1 to 256 characters$/]],
    ["title", "x".repeat(257), ["title", /^must have 1 to 256 characters$/]],
    ["title", "two\nlines", ["title", /^may not contain control characters$/]],
    ["title", "\u0000", ["title", /^may not contain control characters$/]],
    ["title", "\ud83c", ["title", /^may not contain control characters$/]],
    ["tags", "a", ["tags", /^must be a list of strings$/]],
    ["tags", null, ["tags", /^must be a list of strings$/]],
    ["tags", { 0: "a" }, ["tags", /^must be a list of strings$/]],
    ["tags", many, ["tags", /^may have 20 tags at most$/]],
    ["tags", ["ok", 7], ["tags.1", /^must be a string$/]],
    ["tags", ["ok", ["deep"]], ["tags.1", /^must be a string$/]],
    ["tags", ["", "x".repeat(65)], ["tags.0", /^must have 1 to 64 characters$/], ["tags.1", /1 to 64/]],
    ["tags", ["\t"], ["tags.0", /^may not contain control characters$/]],
    ...[0, -1, 1.5, 1_000_000_001, "10", null, true, [], Number.MAX_VALUE].map(
      (sent) =>
        ["maxVisits", sent, ["maxVisits", /^must be a whole number from 1 to 1,000,000,000$/]] as const
    ),
    ...[200, 303, 304, 302.5, "302", null, [302], "x".repeat(1_000)].map(
      (sent) => ["redirectStatus", sent, ["redirectStatus", /^must be 301, 302, 307 or 308$/]] as const
    ),
    ["queryPrecedence", "both", ["queryPrecedence", /^must be append, request or target$/]],
    ["card", {}, ["card", /^must have a title, a description or an image$/]],
    ["card", "t", ["card", /^must be an object$/]],
    ["card", { title: "", extra: 1 }, ["card.extra", /not a known/], ["card.title", /^must have 1 to 256/]],
    ["card", { description: "x".repeat(513) }, ["card.description", /^must have 1 to 512 characters$/]],
    ["note", "", ["note", /^must have 1 to 1,024 characters$/]],
    ["note", "x".repeat(1_025), ["note", /^must have 1 to 1,024 characters$/]],
    ["note", "\u0000", ["note", /^may not contain control characters other than line breaks and tabs$/]],
    ["note", "\ud83c", ["note", /^may not contain control characters/]],
    ["note", 1, ["note", /^must be a string$/]],
    ["expiredUrl", null, ["expiredUrl", /^must be a string$/]],
    ...["forwardQuery", "crawlable", "reuse", "forwardPath", "archived", "publicStats"].flatMap((name) =>
      ["true", 1, 0, null, []].map((sent) => [name, sent, [name, /^must be true or false$/]] as const)
    ),
    ["password", "", ["password", /^must have 1 to 128 characters$/]],
    ["password", "x".repeat(129), ["password", /^must have 1 to 128 characters$/]],
    ["password", "\n", ["password", /^may not contain control characters$/]],
    ["password", 1, ["password", /^must be a string$/]],
    ["validSince", "tomorrow", ["validSince", "must be an RFC 3339 date-time"]],
    ["validSince", "2027-02-30T00:00:00Z", ["validSince", "must be an RFC 3339 date-time"]],
    ["validSince", "9999-12-31T23:59:59-00:01", ["validSince", /^must lie in the years 0 to 9999 of UTC$/]],
    ["validSince", "0000-01-01T00:00:00+00:01", ["validSince", /^must lie in the years 0 to 9999 of UTC$/]]
  ]
  for (const [name, sent, ...faults] of refused) {
    it.effect(`may not say ${name} ${JSON.stringify(sent).slice(0, 40)}`, () =>
      refuses(create({ url, [name]: sent }), "invalid-request", ...faults)
    )
  }

  it.effect("has a note that nobody sees but who may manage the link", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const card = { title: "Shown" }
      yield* create({ url, alias: "noted", note: "Between us", card })
      yield* create({ url, alias: "noted-locked", note: "Between us", password: "secret" })
      for (const path of ["/noted", "/noted+", "/noted-locked", "/noted-locked+", "/robots.txt"]) {
        for (const accept of ["text/html", "application/json"]) {
          for (const agent of ["Mozilla/5.0", "Twitterbot/1.0"]) {
            const { status, text } = yield* send({ path, headers: { accept, "user-agent": agent } })
            expect(status).toBeLessThan(500)
            expect(text).not.toContain("Between")
          }
        }
      }
      expect((yield* send({ path: "/api/v1/links/noted" })).status).toBe(401)
    })
  )

  const rule = (when: unknown, more: object = {}) => [{ url, when, ...more }]
  const variants = (...more: ReadonlyArray<object>) => more.map((one) => ({ url, weight: 1, ...one }))
  const countries = { countries: ["DE"] }
  const refusedRouting: ReadonlyArray<readonly [said: object, ...faults: ReadonlyArray<ExpectedFault>]> = [
    [{ rules: null }, ["rules", /^must be a list of 1 to 20 rules$/]],
    [{ rules: [] }, ["rules", /^must be a list of 1 to 20 rules$/]],
    [
      { rules: Array.from({ length: 21 }, () => rule(countries)[0]) },
      ["rules", /^must be a list of 1 to 20/]
    ],
    [{ rules: [7] }, ["rules.0", /^must be an object$/]],
    [{ rules: [{ when: countries }] }, ["rules.0.url", /^is required$/]],
    [{ rules: [{ url }] }, ["rules.0.when", /^is required$/]],
    [{ rules: [...rule(countries), ...rule({})] }, ["rules.1.when", /^must have a condition$/]],
    [{ rules: rule({ planets: ["Mars"] }) }, ["rules.0.when.planets", /^is not a known field$/]],
    [{ rules: rule(countries, { weight: 1 }) }, ["rules.0.weight", /^is not a known field$/]],
    [{ rules: rule({ devices: ["phone"] }) }, ["rules.0.when.devices.0", /^must be one of desktop, mobile/]],
    [{ rules: rule({ devices: [] }) }, ["rules.0.when.devices", /^must be a list of 1 to 20 devices$/]],
    [{ rules: rule({ os: ["ios"] }) }, ["rules.0.when.os.0", /^must be one of Android/]],
    [{ rules: rule({ languages: ["de_AT"] }) }, ["rules.0.when.languages.0", /^must be a language/]],
    [{ rules: rule({ countries: ["de"] }) }, ["rules.0.when.countries.0", /^must be a country such as DE$/]],
    [{ rules: rule({ query: [{ value: "x" }] }) }, ["rules.0.when.query.0.name", /^is required$/]],
    [{ rules: rule({ from: "soon" }) }, ["rules.0.when.from", /^must be an RFC 3339 date-time/]],
    [
      { rules: rule({ from: "2027-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z" }) },
      ["rules.0.when.until", /^must lie after from$/]
    ],
    [
      { rules: rule({ until: "9999-12-31T23:59:59-05:00" }) },
      ["rules.0.when.until", /^must lie in the years 0 to 9999 of UTC$/]
    ],
    [
      { rules: rule({ from: "0000-01-01T00:00:00+05:00" }) },
      ["rules.0.when.from", /^must lie in the years 0 to 9999 of UTC$/]
    ],
    [
      { rules: rule({ hours: { timeZone: "Europe/Wien" } }) },
      ["rules.0.when.hours.timeZone", /Europe.Berlin$/]
    ],
    [
      { rules: rule({ hours: { timeZone: "UTC" } }) },
      ["rules.0.when.hours", /^must have days, from or until$/]
    ],
    [
      { rules: rule({ hours: { timeZone: "UTC", from: "24:00", days: [0] } }) },
      ["rules.0.when.hours.days.0", /^must be a whole number from 1 \(Monday\) to 7$/],
      ["rules.0.when.hours.from", /^must be a time of day from 00:00 to 23:59$/]
    ],
    [
      { rules: rule({ networks: ["::/0", "10.0.0.0/33"] }) },
      ["rules.0.when.networks.1", /^must be an IP address/]
    ],
    [{ rules: rule(countries, { name: "Rule 7" }) }, ["rules.0.name", /^may not be "Rule 7"/]],
    [{ variants: variants({ name: "other" }, {}) }, ["variants.0.name", /^may not be "other"/]],
    [
      { rules: rule(countries, { name: "a" }), variants: variants({}, { name: "a" }) },
      ["variants.1.name", /another/]
    ],
    [{ variants: variants({}) }, ["variants", /^must be a list of 2 to 10 variants$/]],
    ...[0, 1.5, 1_001, "1", null].map(
      (weight) =>
        [
          { variants: variants({}, { weight }) },
          ["variants.1.weight", /whole number from 1 to 1,000$/]
        ] as const
    ),
    [
      { rules: rule({ languages: Array.from({ length: 900 }, () => "de") }) },
      ["rules.0.when.languages", /^must be a list of 1 to 20 languages$/]
    ],
    [
      { variants: variants(...Array.from({ length: 5 }, () => ({ url: `${url}${"x".repeat(1_700)}` }))) },
      ["variants", /^and variants may have 8,192 characters together at most$/]
    ]
  ]
  for (const [index, [said, ...faults]] of refusedRouting.entries()) {
    it.effect(`may not say ${JSON.stringify(said).slice(0, 80)} (${index})`, () =>
      refuses(create({ url, ...said }), "invalid-request", ...faults)
    )
  }

  it.effect("has rules and variants that lead where a link may lead", () =>
    Effect.gen(function* () {
      const ruled = (text: string) =>
        create({ url, rules: [...rule(countries), { url: text, when: countries }] })
      yield* refuses(ruled("javascript:alert(1)"), "invalid-url", ["rules.1.url", /http/])
      const own = jsonOf(yield* create({ url })) as { readonly shortUrl: string }
      yield* refuses(ruled(own.shortUrl), "blocked-target", ["rules.1.url", /this service/])
      yield* refuses(create({ url, variants: variants({}, { url: own.shortUrl }) }), "blocked-target", [
        "variants.1.url",
        /this service/
      ])
      yield* refuses(create({ url, reuse: true, rules: rule(countries) }), "invalid-request", [
        "reuse",
        /^cannot stand beside rules$/
      ])
    })
  )

  it.effect("has an expiredUrl that a link may lead to, and no reuse beside it", () =>
    Effect.gen(function* () {
      const expiredUrl = (text: string) => create({ url, expiredUrl: text })
      yield* refuses(expiredUrl("javascript:alert(1)"), "invalid-url", ["expiredUrl", /http/])
      yield* refuses(expiredUrl(`${url}${"x".repeat(2_048)}`), "invalid-url", ["expiredUrl", /2048/])
      const own = jsonOf(yield* create({ url })) as { readonly shortUrl: string }
      yield* refuses(expiredUrl(own.shortUrl), "blocked-target", ["expiredUrl", /this service/])
      const image = (text: string) => create({ url, card: { image: text } })
      yield* refuses(image("data:image/png;base64,AAAA"), "invalid-url", ["card.image", /http/])
      yield* refuses(image(own.shortUrl), "blocked-target", ["card.image", /this service/])
      for (const extras of [
        { expiredUrl: url },
        { forwardPath: true },
        { note: "n" },
        { archived: true },
        { publicStats: true }
      ]) {
        yield* refuses(create({ url, reuse: true, ...extras }), "invalid-request", [
          "reuse",
          new RegExp(`^cannot stand beside ${Object.keys(extras)[0]}$`)
        ])
      }
      const without = yield* create({ url, reuse: true, forwardPath: false })
      expect(without.status).toBe(201)
      expect(jsonOf(without)).not.toHaveProperty("forwardPath")
    })
  )

  it.effect("may not begin when it has ended, or at that moment", () =>
    Effect.gen(function* () {
      const expiresAt = "2027-01-01T00:00:00Z"
      for (const validSince of [expiresAt, "2027-01-01T00:00:00.001Z"]) {
        yield* refuses(create({ url, expiresAt, validSince }), "invalid-request", [
          "validSince",
          /^must lie before the link's end$/
        ])
      }
      const answer = yield* create({ url, expiresAt, validSince: "2026-12-31T23:59:59.999Z" })
      expect(answer.status).toBe(201)
    })
  )
})
