import { expect } from "@effect/vitest"
import { Effect, Either, Option, Schedule } from "effect"
import { adminId } from "../../../src/accounts/Access.ts"
import { parseAll } from "../../../src/model/Network.ts"
import { subjectOfLink, subjectOfOrphans, subjectOfOwner } from "../../../src/model/Visit.ts"
import { firefox } from "../../support/samples/SomeVisits.ts"
import { jsonOf, type Request } from "../../support/http/HttpClient.ts"
import {
  adminKey,
  asAdmin,
  create,
  startOfTests_ms,
  TestService,
  withService
} from "../../support/TestService.ts"

const send = (path: string, request: Partial<Request> = {}) =>
  Effect.flatMap(TestService, (service) =>
    service.send({ path, headers: { "user-agent": firefox }, ...request })
  )

const subject = (alias: string) => subjectOfLink({ key: alias, createdAt: startOfTests_ms })

/** Waits until a link has been visited so often, or fails to; and a little longer, for what should not be counted. */
const expectVisits = (alias: string, expected: { readonly nonBots: number; readonly bots: number }) =>
  Effect.gen(function* () {
    const { visits } = yield* TestService
    // A visit of a link of its own, so that all earlier ones have been written when this one has.
    const last = `${alias}-last`
    yield* create({ url: "https://example.com/", alias: last })
    yield* send(`/${last}`)
    yield* visits
      .totals([subject(last)])
      .pipe(
        Effect.repeat({ until: ([total]) => total!.nonBots === 1, schedule: Schedule.spaced("20 millis") })
      )
    expect(yield* visits.totals([subject(alias)])).toEqual([expected])
  })

withService("a visit", {}, (it) => {
  it.effect("is a redirect by GET, not HEAD, and not the preview", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "methods" })
      expect((yield* send("/methods")).status).toBe(302)
      expect((yield* send("/methods?utm_source=x")).status).toBe(302)
      expect((yield* send("/methods", { method: "HEAD" })).status).toBe(302)
      expect((yield* send("/methods+")).status).toBe(200)
      expect((yield* asAdmin("GET", "/api/v1/links/methods")).status).toBe(200)
      yield* expectVisits("methods", { nonBots: 2, bots: 0 })
    })
  )

  it.effect("of a link with rules or variants is counted by what led it, and of others by nothing", () =>
    Effect.gen(function* () {
      const targetsOf = (path: string) =>
        Effect.map(
          asAdmin("GET", path),
          (answer) => (jsonOf(answer) as { readonly targets?: unknown }).targets
        )
      const url = "https://example.com/"
      const rules = [
        { url, when: { languages: ["fr"] } },
        { url, name: "german", when: { languages: ["de"] } }
      ]
      const language = (name: string) => ({ headers: { "user-agent": firefox, "accept-language": name } })
      yield* create({ url, alias: "aimed", rules }, { "x-api-key": adminKey })
      yield* create({ url, alias: "unaimed" }, { "x-api-key": adminKey })
      for (const name of ["de", "fr", "de", "de-AT", "en"]) yield* send("/aimed", language(name))
      yield* send("/aimed", { ...language("fr"), method: "HEAD" })
      yield* send("/unaimed", language("de"))
      yield* expectVisits("aimed", { nonBots: 5, bots: 0 })
      yield* expectVisits("unaimed", { nonBots: 1, bots: 0 })
      expect(yield* targetsOf("/api/v1/links/aimed/stats")).toEqual([
        { value: "german", visits: 3 },
        { value: "default", visits: 1 },
        { value: "rule 1", visits: 1 }
      ])
      expect(yield* targetsOf("/api/v1/links/unaimed/stats")).toBeUndefined()
      // Another link's rules may have the same names.
      expect(yield* targetsOf("/api/v1/stats")).toBeUndefined()
    })
  )

  it.effect("is counted by the UTM parameters of its short URL, where it has any that can be kept", () =>
    Effect.gen(function* () {
      const statsOf = (path: string) => Effect.map(asAdmin("GET", path), (answer) => jsonOf(answer) as object)
      yield* create({ url: "https://example.com/", alias: "campaign" }, { "x-api-key": adminKey })
      yield* create({ url: "https://example.com/", alias: "campaignless" }, { "x-api-key": adminKey })
      for (const query of [
        "?utm_source=news&utm_medium=e-mail&utm_campaign=Fr%C3%BChling+2027",
        "?utm_source=+news+&utm_source=second",
        "?x=utm_source&utm_medium=&utm_campaign=",
        "?utm_source=%00",
        "?utm_source=other",
        `?utm_source=${"x".repeat(254)}`,
        `?utm_source=far&${"x".repeat(2_048)}`,
        ""
      ]) {
        expect((yield* send(`/campaign${query}`)).status).toBe(302)
      }
      yield* send("/campaignless?utm_term=none")
      yield* expectVisits("campaign", { nonBots: 8, bots: 0 })
      const expected = {
        utmSources: [
          { value: "news", visits: 2 },
          { value: "other", visits: 6 }
        ],
        utmMediums: [
          { value: "e-mail", visits: 1 },
          { value: "other", visits: 7 }
        ],
        utmCampaigns: [
          { value: "Frühling 2027", visits: 1 },
          { value: "other", visits: 7 }
        ]
      }
      expect(yield* statsOf("/api/v1/links/campaign/stats")).toMatchObject(expected)
      const table = yield* asAdmin("GET", "/api/v1/links/campaign/stats?format=csv")
      expect(table.text).toContain(
        "utmMediums,e-mail,1\r\nutmMediums,other,7\r\nutmCampaigns,Frühling 2027,1\r\n"
      )
      const without = yield* statsOf("/api/v1/links/campaignless/stats")
      expect(Object.keys(without).filter((name) => name.startsWith("utm"))).toEqual([])
    })
  )

  it.effect("by a bot is told apart", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "bots" })
      yield* send("/bots")
      yield* send("/bots", { headers: { "user-agent": "curl/8.8.0" } })
      yield* send("/bots", { headers: {} })
      yield* expectVisits("bots", { nonBots: 1, bots: 2 })
      const stats = yield* asAdmin("GET", "/api/v1/links/bots/stats")
      expect(jsonOf(stats)).toMatchObject({ uniqueVisitors: { sumOfDays: 1 } })
    })
  )

  it.effect("of a link with a password counts when the password was right", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "guarded", password: "open sesame" })
      const unlock = (password: string) =>
        send("/guarded", {
          method: "POST",
          headers: { "user-agent": firefox, "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams({ password }).toString()
        })
      expect((yield* send("/guarded")).status).toBe(401)
      expect((yield* unlock("wrong")).status).toBe(401)
      expect((yield* unlock("open sesame")).status).toBe(303)
      yield* expectVisits("guarded", { nonBots: 1, bots: 0 })
    })
  )

  it.effect("is one that was granted, where a link has only so many", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "limited", maxVisits: 2 })
      const statuses = yield* Effect.replicateEffect(
        Effect.map(send("/limited"), ({ status }) => status),
        4
      )
      expect(statuses).toEqual([302, 302, 410, 410])
      yield* expectVisits("limited", { nonBots: 2, bots: 0 })
    })
  )

  it.effect("is not what an ended link answers", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "ended" })
      yield* asAdmin("DELETE", "/api/v1/links/ended")
      expect((yield* send("/ended")).status).toBe(410)
      yield* expectVisits("ended", { nonBots: 0, bots: 0 })
    })
  )

  it.effect("shows in the statistics and in the preview", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "shown" })
      const headers = { "user-agent": firefox, referer: "https://news.example/item?id=1" }
      yield* send("/shown", { headers })
      yield* expectVisits("shown", { nonBots: 1, bots: 0 })
      const stats = yield* asAdmin("GET", "/api/v1/links/shown/stats?to=2026-11-21T11:00:00Z&interval=hour")
      expect(jsonOf(stats)).toMatchObject({
        total: 1,
        referrers: [{ value: "news.example", visits: 1 }],
        browsers: [{ value: "Firefox", visits: 1 }],
        countries: [{ value: "unknown", visits: 1 }]
      })
      const preview = yield* send("/shown+", { headers: { accept: "application/json" } })
      expect(jsonOf(preview)).toMatchObject({ visits: 1 })
    })
  )

  it.effect("shows in the link, in lists, and in what a change answers", () =>
    Effect.gen(function* () {
      yield* create(
        { url: "https://example.com/", alias: "listed", tags: ["listed"] },
        { "x-api-key": adminKey }
      )
      yield* create(
        { url: "https://example.com/", alias: "unseen", tags: ["listed"] },
        { "x-api-key": adminKey }
      )
      yield* send("/listed")
      yield* send("/listed", { headers: { "user-agent": "curl/8.8.0" } })
      yield* expectVisits("listed", { nonBots: 1, bots: 1 })
      const visits = { total: 2, nonBots: 1, bots: 1 }
      const none = { total: 0, nonBots: 0, bots: 0 }
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/listed"))).toMatchObject({ visits })
      expect(jsonOf(yield* asAdmin("PATCH", "/api/v1/links/listed", { title: "t" }))).toMatchObject({
        visits
      })
      const list = jsonOf(yield* asAdmin("GET", "/api/v1/links?tag=listed&orderBy=createdAt-desc"))
      const { data } = list as {
        readonly data: ReadonlyArray<{ readonly key: string; readonly visits: unknown }>
      }
      expect(new Map(data.map(({ key, visits }) => [key, visits]))).toEqual(
        new Map([
          ["listed", visits],
          ["unseen", none]
        ])
      )
    })
  )

  it.effect("is redirected while it cannot be counted", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* create({ url: "https://example.com/", alias: "away" })
      yield* setFault("visits", "fails")
      expect((yield* send("/away")).status).toBe(302)
      yield* setFault("visits", "none")
      yield* expectVisits("away", { nonBots: 1, bots: 0 })
    })
  )
})

withService(
  "a visit that is not to be counted",
  {
    optOut: {
      optOutParameter: Option.some("notrack"),
      optOutNetworks: Either.getOrThrow(parseAll("198.51.100.0/24,2001:db8::/32")),
      optOutHeaders: true
    },
    trustedProxies: "127.0.0.0/8"
  },
  (it) => {
    const by = (headers: Readonly<Record<string, string>>) => ({
      headers: { "user-agent": firefox, ...headers }
    })

    it.effect("redirects like any other, and is in no statistics", () =>
      Effect.gen(function* () {
        yield* create({ url: "https://example.com/", alias: "quiet" }, { "x-api-key": adminKey })
        const uncounted: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
          ["/quiet?notrack", {}],
          ["/quiet?a=1&notrack=", {}],
          ["/quiet?%6Eotrack=0", {}],
          ["/quiet", { dnt: "1" }],
          ["/quiet", { dnt: "1" }],
          ["/quiet", { "sec-gpc": "1" }],
          ["/quiet", { "x-forwarded-for": "198.51.100.7" }],
          ["/quiet", { "x-forwarded-for": "2001:db8::7" }]
        ]
        const counted: typeof uncounted = [
          ["/quiet", {}],
          ["/quiet?track=notrack", {}],
          ["/quiet?NOTRACK", {}],
          ["/quiet", { dnt: "0", "sec-gpc": "0" }],
          ["/quiet", { "x-forwarded-for": "198.51.101.7" }]
        ]
        for (const [path, headers] of [...uncounted, ...counted]) {
          const answer = yield* send(path, by(headers))
          expect([answer.status, answer.headers["location"]]).toEqual([302, "https://example.com/"])
        }
        for (const path of ["/nowhere-quiet", "/nowhere-quiet?notrack"]) {
          expect((yield* send(path, by({ dnt: "1" }))).status).toBe(404)
        }
        yield* expectVisits("quiet", { nonBots: counted.length, bots: 0 })
        const { visits } = yield* TestService
        const totals = yield* visits.totals([subjectOfOwner(adminId), subjectOfOrphans(0)])
        expect(totals.map(({ nonBots }) => nonBots)).toEqual([counted.length, 0])
        // This machine, and one behind a proxy.
        const stats = jsonOf(yield* asAdmin("GET", "/api/v1/links/quiet/stats"))
        expect(stats).toMatchObject({ uniqueVisitors: { sumOfDays: 2 } })
      })
    )

    it.effect("still takes one of the visits that its link has", () =>
      Effect.gen(function* () {
        yield* create({ url: "https://example.com/", alias: "quiet-limited", maxVisits: 1 })
        expect((yield* send("/quiet-limited", by({ dnt: "1" }))).status).toBe(302)
        expect((yield* send("/quiet-limited", by({ dnt: "1" }))).status).toBe(410)
        yield* expectVisits("quiet-limited", { nonBots: 0, bots: 0 })
      })
    )
  }
)
