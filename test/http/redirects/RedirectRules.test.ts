import { expect } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { asAdmin, create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/a?b=c#d"

const moment = (offset_ms: number) => Iso8601.formatMoment(startOfTests_ms + offset_ms)

const head = (path: string) => Effect.flatMap(TestService, ({ send }) => send({ method: "HEAD", path }))

const statuses = (path: string, count: number) =>
  Effect.map(Effect.replicateEffect(get(path), count), (answers) => answers.map(({ status }) => status))

withService("a redirect's status", {}, (it) => {
  const cacheControl = {
    301: "private, max-age=0, must-revalidate",
    302: "private, max-age=0",
    307: "private, max-age=0",
    308: "private, max-age=0, must-revalidate"
  }
  for (const [status, expected] of Object.entries(cacheControl)) {
    it.effect(`is ${status} where the link says so, and no cache keeps it`, () =>
      Effect.gen(function* () {
        yield* create({ url, alias: `status${status}`, redirectStatus: Number(status) })
        const answer = yield* get(`/status${status}`)
        expect(answer.status).toBe(Number(status))
        expect(answer.headers).toMatchObject({ location: url, "cache-control": expected })
        expect((yield* head(`/status${status}`)).headers["cache-control"]).toBe(expected)
      })
    )
  }
})

withService("a redirect", {}, (it) => {
  it.effect("leads to the target with the path that follows the key, where the link forwards that", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const forwardPath = true
      yield* create({ url: "https://example.com/docs?v=2", alias: "docs-2", forwardPath, forwardQuery: true })
      const leadsTo = (path: string) => Effect.map(get(path), ({ headers }) => headers.location)
      for (const _ of ["read from the store", "cached"]) {
        expect(yield* leadsTo("/docs-2/a/b?c=d")).toBe("https://example.com/docs/a/b?v=2&c=d")
      }
      expect(yield* leadsTo("/docs-2")).toBe("https://example.com/docs?v=2")
      expect(yield* leadsTo("/docs-2/")).toBe("https://example.com/docs?v=2")
      expect(yield* leadsTo("/docs-2/a/")).toBe("https://example.com/docs/a/?v=2")
      expect(yield* leadsTo("/docs-2//")).toBe("https://example.com/docs?v=2")
      expect(yield* leadsTo("/docs-2//a//b//")).toBe("https://example.com/docs/a/b/?v=2")
      expect(yield* leadsTo("/docs-2/a;b")).toBe("https://example.com/docs/a;b?v=2")
      expect((yield* head("/docs-2/a")).headers.location).toBe("https://example.com/docs/a?v=2")
      yield* create({ url, alias: "whole" })
      const form = { "content-type": "application/x-www-form-urlencoded" }
      const post = (path: string) => send({ method: "POST", path, headers: form, body: "password=secret" })
      for (const accept of ["text/html", "application/json"]) {
        const nothing = yield* get("/nothing.here/a", { accept })
        for (const path of [
          "/whole/a",
          "/whole//",
          "/whole;a",
          "/docs-2;a/b",
          "/nothing/a",
          "/docs-2/../a",
          "/docs-2+/a",
          "/about/a",
          "/docs-2/..%2fa"
        ]) {
          const answer = yield* get(path, { accept })
          expect([path, answer.status, answer.text]).toEqual([path, 404, nothing.text])
        }
      }
      expect([(yield* post("/whole/a")).status, (yield* post("/nothing/a")).status]).toEqual([404, 404])
      yield* asAdmin("PATCH", "/api/v1/links/docs-2", { password: "secret" })
      expect((yield* get("/docs-2/a")).status).toBe(401)
      const unlocked = yield* post("/docs-2/a")
      expect([unlocked.status, unlocked.headers.location]).toEqual([303, "https://example.com/docs/a?v=2"])
      yield* asAdmin("PATCH", "/api/v1/links/docs-2", { forwardPath: null })
      expect((yield* get("/docs-2/a")).status).toBe(404)
    })
  )

  it.effect(
    "is a card for the crawlers that draw previews, which is no visit, and a redirect for all others",
    () =>
      Effect.gen(function* () {
        const card = {
          title: `"Launch" <script>alert('1')</script> & more`,
          description: `two lines "><meta name="x`,
          image: `https://example.com/i.png?a=1&b="'`
        }
        const created = jsonOf(yield* create({ url, alias: "carded", maxVisits: 1, card })) as {
          card: object
        }
        expect(created.card).toEqual({ ...card, image: "https://example.com/i.png?a=1&b=%22%27" })
        yield* create({ url, alias: "counted", card: { title: "Counted" }, crawlable: true })
        const by = (path: string, agent: string) => get(path, { "user-agent": agent })
        const crawlers = [
          "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
          "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
          "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
          "TelegramBot (like TwitterBot)",
          "WhatsApp/2.23.20.0 A",
          "Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.example/)"
        ]
        for (const crawler of crawlers) {
          const shown = yield* by("/carded", crawler)
          expect([shown.status, shown.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"])
          expect(shown.headers).toMatchObject({ vary: "user-agent", "x-robots-tag": "noindex" })
          expect(shown.headers["content-security-policy"]).toMatch(/^default-src 'none'/)
          expect(shown.headers.location).toBeUndefined()
          expect(shown.text.match(/<meta |<script/g)).toHaveLength(7)
          expect(shown.text).toContain(
            `<meta property="og:title" content="&#34;Launch&#34; &#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62; &#38; more">`
          )
          expect(shown.text).toContain(
            `<meta property="og:image" content="https://example.com/i.png?a=1&#38;b=%22%27">`
          )
          const bare = yield* by("/counted", crawler)
          expect(bare.text).not.toMatch(/description|og:image/)
          expect(bare.text).toContain(`<meta name="twitter:card" content="summary">`)
          expect(bare.headers["x-robots-tag"]).toBeUndefined()
        }
        const others = [
          "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
          "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
          "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [Pinterest/iOS]",
          "Mozilla/5.0 (Linux; Android 14) Chrome/120.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/440.0] LinkedInApp",
          "curl/8.0",
          ""
        ]
        for (const other of others) {
          const led = yield* by("/counted", other)
          expect([other, led.status, led.headers.location, led.headers.vary]).toEqual([
            other,
            302,
            url,
            "user-agent"
          ])
        }
        expect((yield* by("/carded", "curl/8.0")).headers).toMatchObject({
          location: url,
          vary: "user-agent"
        })
        expect((yield* by("/carded", crawlers[0]!)).status).toBe(410)
        const total = Effect.map(
          asAdmin("GET", "/api/v1/links/counted/stats"),
          (answer) => (jsonOf(answer) as { readonly total: number }).total
        )
        const untilAll = {
          until: (count: number) => count >= others.length,
          schedule: Schedule.spaced("20 millis")
        }
        yield* Effect.repeat(total, untilAll)
        expect(yield* total).toBe(others.length)
        yield* asAdmin("PATCH", "/api/v1/links/counted", { card: null })
        const without = yield* by("/counted", crawlers[0]!)
        expect([without.status, without.headers.vary]).toEqual([302, undefined])
      })
  )

  it.effect("sends visitors of a link that has ended where it says, and leaves programs their problem", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const expiredUrl = "https://example.com/over"
      yield* create({ url, alias: "over", expiresAt: moment(60_000), expiredUrl })
      yield* create({ url, alias: "used", maxVisits: 1, expiredUrl })
      const page = (path: string) => get(path, { accept: "text/html" })
      expect((yield* page("/over")).headers.location).toBe(url)
      expect((yield* page("/used")).headers.location).toBe(url)
      clock.set(startOfTests_ms + 60_000)
      for (const path of ["/over", "/used"]) {
        const answer = yield* page(path)
        expect([answer.status, answer.headers.location, answer.headers.vary]).toEqual([
          302,
          expiredUrl,
          "accept"
        ])
        expectProblem(yield* get(path, { accept: "application/json" }), "gone")
      }
      for (const path of ["/over+", "/used+"]) {
        const preview = yield* page(path)
        expect([path, preview.status, preview.headers.location]).toEqual([path, 410, undefined])
        expect(preview.headers["content-type"]).toBe("text/html; charset=utf-8")
        expectProblem(yield* get(path, { accept: "application/json" }), "gone")
      }
      yield* asAdmin("PATCH", "/api/v1/links/used", { expiredUrl: null })
      expect((yield* page("/used")).status).toBe(410)
      clock.set(startOfTests_ms)
    })
  )

  it.effect("tells search engines to stay away unless the link is for them", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "hidden" })
      yield* create({ url, alias: "shown", crawlable: true })
      expect((yield* get("/hidden")).headers["x-robots-tag"]).toBe("noindex")
      expect((yield* get("/shown")).headers["x-robots-tag"]).toBeUndefined()
    })
  )

  it.effect("begins at the link's moment, and is not to be told from no link before", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* create({ url, alias: "tomorrow", validSince: moment(60_000), expiresAt: moment(120_000) })
      const early = yield* get("/tomorrow", { accept: "text/html" })
      const unknown = yield* get("/unknown", { accept: "text/html" })
      const constant = { date: "", "x-request-id": "" }
      expect({ ...early.headers, ...constant }).toEqual({ ...unknown.headers, ...constant })
      expect([early.status, early.text]).toEqual([404, unknown.text])
      expectProblem(yield* get("/tomorrow+"), "not-found")
      clock.set(startOfTests_ms + 59_999)
      expect((yield* get("/tomorrow")).status).toBe(404)
      clock.set(startOfTests_ms + 60_000)
      expect((yield* get("/tomorrow")).status).toBe(302)
      clock.set(startOfTests_ms + 120_000)
      expectProblem(yield* get("/tomorrow"), "gone")
    })
  )

  it.effect("takes the query string along where the link says so, and says when that is too long", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "forward", forwardQuery: true })
      yield* create({ url, alias: "alone" })
      const query = "?x=%20y&b=z"
      expect((yield* get(`/forward${query}`)).headers.location).toBe("https://example.com/a?b=c&x=%20y&b=z#d")
      expect((yield* get(`/forward`)).headers.location).toBe(url)
      expect((yield* get(`/alone${query}`)).headers.location).toBe(url)
      const long = `/forward?${"q".repeat(8_000)}`
      expectProblem(yield* get(long), "uri-too-long")
      const page = yield* get(long, { accept: "text/html" })
      expect([page.status, page.headers["content-type"]]).toEqual([414, "text/html; charset=utf-8"])
    })
  )
})

withService("a link with so many visits", {}, (it) => {
  it.effect("redirects so often, and is gone then", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "three", maxVisits: 3 })
      expect(yield* statuses("/three", 5)).toEqual([302, 302, 302, 410, 410])
      expectProblem(yield* get("/three"), "gone")
      expectProblem(yield* get("/three+"), "gone")
      expect((yield* asAdmin("GET", "/api/v1/links/three")).status).toBe(200)
    })
  )

  it.effect("does so however many ask at once", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "many", maxVisits: 40 })
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => get("/many")),
        {
          concurrency: "unbounded"
        }
      )
      const redirects = answers.filter(({ status }) => status === 302).length
      const gone = answers.filter(({ status }) => status === 410).length
      expect([redirects, gone]).toEqual([40, 60])
    })
  )

  it.effect("uses none for HEAD, the preview and what is not redirected", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "two", maxVisits: 2, forwardQuery: true })
      for (let times = 0; times < 3; times++) {
        expect((yield* head("/two")).status).toBe(302)
        expect((yield* get("/two+")).status).toBe(200)
        expect((yield* get(`/two?${"q".repeat(8_000)}`)).status).toBe(414)
      }
      expect(yield* statuses("/two", 3)).toEqual([302, 302, 410])
      expect((yield* head("/two")).status).toBe(410)
    })
  )

  it.effect("is answered 503 while its visits cannot be counted, and loses at most what was asked for", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* create({ url, alias: "counted", maxVisits: 2 })
      expect((yield* get("/counted")).status).toBe(302)
      yield* setFault("links", "fails")
      expectProblem(yield* get("/counted"), "unavailable")
      yield* setFault("links", "none")
      expect(yield* statuses("/counted", 2)).toEqual([302, 410])
    })
  )
})

withService("a link with rules and variants", { trustedProxies: "127.0.0.1,::1" }, (it) => {
  const at = (part: string) => `https://example.com/${part}`
  const rules = [
    { url: at("ios"), name: "app store", when: { os: ["iOS"], devices: ["mobile"] } },
    { url: at("de"), when: { languages: ["de"], query: [{ name: "beta" }] } },
    { url: at("office"), when: { networks: ["192.0.2.0/24"] } },
    { url: at("later"), when: { from: moment(60_000) } }
  ]
  const iphone = {
    "user-agent":
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
  }
  const locationOf = (path: string, headers: Record<string, string> = {}) =>
    Effect.map(get(path, headers), ({ headers }) => headers.location)

  it.effect("leads each visitor by the first rule that holds, whether the link is cached or read", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* create({ url, alias: "ruled", rules, forwardQuery: true })
      for (let times = 0; times < 2; times++) {
        expect(yield* locationOf("/ruled", iphone)).toBe(at("ios"))
        expect(yield* locationOf("/ruled?beta", { "accept-language": "de-CH, en;q=0.5" })).toBe(
          `${at("de")}?beta`
        )
        expect(yield* locationOf("/ruled", { "accept-language": "de-CH" })).toBe(url)
        expect(yield* locationOf("/ruled?beta", { "accept-language": "en, de;q=0.5" })).toBe(
          "https://example.com/a?b=c&beta#d"
        )
        expect(yield* locationOf("/ruled", { "x-forwarded-for": "192.0.2.77" })).toBe(at("office"))
        expect(yield* locationOf("/ruled", { "x-forwarded-for": "192.0.3.77" })).toBe(url)
        expect((yield* head("/ruled")).headers.location).toBe(url)
      }
      clock.set(startOfTests_ms + 60_000)
      expect(yield* locationOf("/ruled")).toBe(at("later"))
      clock.set(startOfTests_ms)
    })
  )

  it.effect("says by which headers it leads, to caches that may keep it for their own visitor alone", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "varies", rules })
      yield* create({ url, alias: "varying-card", rules, card: { title: "A card" } })
      const card = yield* get("/varying-card", { "user-agent": "Twitterbot/1.0" })
      expect(card.headers).toMatchObject({ vary: "user-agent, accept-language", "cache-control": "no-store" })
      yield* create({ url, alias: "constant", variants: [1, 1].map((weight) => ({ url, weight })) })
      expect((yield* get("/varies")).headers).toMatchObject({
        vary: "user-agent, accept-language",
        "cache-control": "private, max-age=0"
      })
      expect((yield* get("/constant")).headers.vary).toBeUndefined()
    })
  )

  it.effect("keeps a visitor at their variant all day", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const variants = ["a", "b", "c"].map((part) => ({ url: at(part), weight: 1 }))
      yield* create({ url, alias: "divided", variants })
      const ofClients = Effect.forEach(
        Array.from({ length: 30 }, (_, n) => `198.51.100.${n}`),
        (client) => locationOf("/divided", { "x-forwarded-for": client })
      )
      const first = yield* ofClients
      expect(new Set(first)).toEqual(new Set(variants.map(({ url }) => url)))
      clock.set(startOfTests_ms + 3_600_000)
      expect(yield* ofClients).toEqual(first)
      clock.set(startOfTests_ms + 24 * 3_600_000)
      expect(yield* ofClients).not.toEqual(first)
      clock.set(startOfTests_ms)
    })
  )

  it.effect("previews where it leads who asks, and says that others may be led elsewhere", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "previewed", rules })
      yield* create({ url, alias: "guarded", rules, password: "secret" })
      const json = { accept: "application/json" }
      expect(jsonOf(yield* get("/previewed+", json))).toMatchObject({ url, varies: true })
      expect(jsonOf(yield* get("/previewed+", { ...json, ...iphone }))).toMatchObject({ url: at("ios") })
      expect(jsonOf(yield* get("/guarded+", json))).toMatchObject({ url: null, varies: true })
      expect((yield* get("/previewed+", { accept: "text/html" })).text).toContain(
        "lead other visitors elsewhere"
      )
      expect((yield* get("/guarded")).status).toBe(401)
      const { send } = yield* TestService
      const opened = yield* send({
        method: "POST",
        path: "/guarded",
        headers: { ...iphone, "content-type": "application/x-www-form-urlencoded" },
        body: "password=secret"
      })
      expect([opened.status, opened.headers.location]).toEqual([303, at("ios")])
    })
  )
})

withService("the preview", {}, (it) => {
  it.effect("shows a page of where a link leads, and leads nowhere itself", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url: `https://example.com/?a=1&b=<'">`, alias: "look" })
      const { headers, status, text } = yield* get("/look+", { accept: "text/html" })
      expect([status, headers.location]).toEqual([200, undefined])
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'/)
      expect(text).toContain(`http://localhost:${port}/look`)
      expect(text).toContain(`href="https://example.com/?a=1&#38;b=%3C%27%22%3E"`)
      expect(text).toContain("2026-11-21")
    })
  )

  it.effect("is JSON for those who ask for that", () =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      yield* create({ url, alias: "data" })
      const answer = yield* get("/data%2B")
      expect(answer.headers["content-type"]).toMatch(/^application\/json/)
      expect(jsonOf(answer)).toEqual({
        key: "data",
        shortUrl: `http://localhost:${port}/data`,
        url,
        createdAt: "2026-11-21T10:00:00.000Z",
        visits: 0
      })
    })
  )

  it.effect("is not there for what leads nowhere", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "ended" })
      yield* asAdmin("DELETE", "/api/v1/links/ended")
      expectProblem(yield* get("/ended+"), "gone")
      expectProblem(yield* get("/nothing+"), "not-found")
      expectProblem(yield* get("/nothing++"), "not-found")
      expectProblem(yield* get("/+"), "not-found")
    })
  )
})
