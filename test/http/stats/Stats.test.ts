import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { adminId } from "../../../src/accounts/Access.ts"
import type { StatsBody } from "../../../src/http/contract/StatsSchemas.ts"
import { hour_ms, subjectOfLink, subjectOfOwner } from "../../../src/model/Visit.ts"
import { valuesOf } from "../../storage/visits/VisitStoreLaws.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  adminKey,
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

/** 2026-11-21T10:00Z, the hour in which the service's clock stands. */
const now = startOfTests_ms / hour_ms
const created = startOfTests_ms

/** Makes a link, and visits of it by the hour: some of people with a referrer, one of a bot. */
const visited = (
  alias: string,
  hours: ReadonlyArray<number>,
  subject = subjectOfLink({ key: alias, createdAt: created })
) =>
  Effect.gen(function* () {
    const { visits } = yield* TestService
    yield* create({ url: "https://example.com/", alias }, { "x-api-key": adminKey })
    yield* visits.write({
      writer: subject,
      sequence: 1,
      at: 0,
      hours: hours.map((hour) => ({
        subject,
        hour,
        nonBots: 3,
        bots: 1,
        values: [
          ...valuesOf("referrers", { "news.example": 2, direct: 1 }),
          ...valuesOf("devices", { desktop: 2, mobile: 1, bot: 1 })
        ]
      }))
    })
  })

const statsOf = (path: string) =>
  Effect.map(asAdmin("GET", path), (answer) => {
    expect(answer.status, answer.text).toBe(200)
    return jsonOf(answer) as StatsBody
  })

const link = (key: string, query = "") => `/api/v1/links/${key}/stats${query}`

withService("a link's statistics", {}, (it) => {
  it.effect("are totals, a series without holes, and the most frequent values of each dimension", () =>
    Effect.gen(function* () {
      yield* visited("counted", [now - 3, now - 1])
      const query = "?from=2026-11-21T06:00:00Z&to=2026-11-21T10:30:00Z&interval=hour"
      expect(yield* statsOf(link("counted", query))).toEqual({
        total: 8,
        nonBots: 6,
        bots: 2,
        series: [
          { at: "2026-11-21T06:00:00.000Z", visits: 0 },
          { at: "2026-11-21T07:00:00.000Z", visits: 4 },
          { at: "2026-11-21T08:00:00.000Z", visits: 0 },
          { at: "2026-11-21T09:00:00.000Z", visits: 4 },
          { at: "2026-11-21T10:00:00.000Z", visits: 0 }
        ],
        referrers: [
          { value: "news.example", visits: 4 },
          { value: "direct", visits: 2 },
          { value: "other", visits: 2 }
        ],
        countries: [{ value: "other", visits: 8 }],
        browsers: [{ value: "other", visits: 8 }],
        os: [{ value: "other", visits: 8 }],
        devices: [
          { value: "desktop", visits: 4 },
          { value: "bot", visits: 2 },
          { value: "mobile", visits: 2 }
        ]
      })
    })
  )

  it.effect("are of the last 30 days by the day, or of the last 24 hours, unless told otherwise", () =>
    Effect.gen(function* () {
      yield* visited("recent", [now - 3, now - 24 * 29, now - 24 * 31])
      const days = yield* statsOf(link("recent"))
      expect(days.series).toHaveLength(30)
      expect(days.series[0]).toEqual({ at: "2026-10-23T00:00:00.000Z", visits: 4 })
      expect(days.series.at(-1)).toEqual({ at: "2026-11-21T00:00:00.000Z", visits: 4 })
      expect(days.total).toBe(8)
      const hours = yield* statsOf(link("recent", "?interval=hour"))
      expect(hours.series).toHaveLength(24)
      expect(hours.series.at(-1)!.at).toBe("2026-11-21T09:00:00.000Z")
      expect(hours.total).toBe(4)
    })
  )

  it.effect("take whole hours and days of UTC, whatever the offset", () =>
    Effect.gen(function* () {
      yield* visited("offset", [])
      const { series } = yield* statsOf(
        link("offset", "?from=2026-11-20T01:30:00%2B02:00&to=2026-11-21T00:00:00Z")
      )
      expect(series.map(({ at }) => at)).toEqual(["2026-11-19T00:00:00.000Z", "2026-11-20T00:00:00.000Z"])
    })
  )

  it.effect("leave bots out where that is asked for, as far as they are counted apart", () =>
    Effect.gen(function* () {
      yield* visited("people", [now - 1])
      const { series, ...stats } = yield* statsOf(link("people", "?interval=hour&bots=exclude"))
      expect(series.at(-1)!.visits).toBe(3)
      expect(stats).toEqual({
        total: 3,
        nonBots: 3,
        bots: 1,
        referrers: [
          { value: "news.example", visits: 2 },
          { value: "direct", visits: 1 },
          { value: "other", visits: 1 }
        ],
        countries: [{ value: "other", visits: 4 }],
        browsers: [{ value: "other", visits: 3 }],
        os: [{ value: "other", visits: 3 }],
        devices: [
          { value: "desktop", visits: 2 },
          { value: "mobile", visits: 1 }
        ]
      })
    })
  )

  it.effect("estimate the visitors of each day, and add them up", () =>
    Effect.gen(function* () {
      const { visits } = yield* TestService
      yield* visited("people-by-day", [now - 1])
      const subject = subjectOfLink({ key: "people-by-day", createdAt: created })
      const counts = { subject, nonBots: 2, bots: 0, values: [] }
      const hours = [
        { ...counts, hour: now - 1, visitors: [33, 65] },
        { ...counts, hour: now - 2, visitors: [33, 97] },
        { ...counts, hour: now - 24, visitors: [33] }
      ]
      yield* visits.write({ writer: "people", sequence: 1, at: 0, hours })
      const { uniqueVisitors } = yield* statsOf(link("people-by-day", "?from=2026-11-19T00:00:00Z"))
      const days = [
        { at: "2026-11-19T00:00:00.000Z", visitors: 0 },
        { at: "2026-11-20T00:00:00.000Z", visitors: 1 },
        { at: "2026-11-21T00:00:00.000Z", visitors: 3 }
      ]
      expect(uniqueVisitors).toEqual({ sumOfDays: 4, standardError: 0.033, days })
      // By the hour, of the hours that are asked for alone.
      const query = "?interval=hour&from=2026-11-20T22:00:00Z&to=2026-11-21T09:00:00Z"
      expect((yield* statsOf(link("people-by-day", query))).uniqueVisitors).toMatchObject({
        sumOfDays: 2,
        days: [{ visitors: 0 }, { visitors: 2 }]
      })
      const table = (yield* asAdmin("GET", link("people-by-day", "?format=csv"))).text
      expect(table).toContain("uniqueVisitorsSumOfDays,,4\r\n")
      expect(table).toContain("uniqueVisitors,2026-11-21T00:00:00.000Z,3\r\n")
    })
  )

  it.effect("are a table in CSV as well, in which nothing is a formula", () =>
    Effect.gen(function* () {
      const { visits } = yield* TestService
      yield* visited("table", [])
      const subject = subjectOfLink({ key: "table", createdAt: created })
      const values = [
        ...valuesOf("referrers", { "-1.example": 2, "a,b": 1 }),
        ...valuesOf("browsers", { bot: 1, Firefox: 2 })
      ]
      const hours = [{ subject, hour: now - 1, nonBots: 2, bots: 1, values }]
      yield* visits.write({ writer: "table", sequence: 1, at: 0, hours })
      const tableOf = (more: string) =>
        asAdmin("GET", link("table", `?interval=hour&from=2026-11-21T08:00:00Z&format=csv${more}`))
      const answer = yield* tableOf("")
      expect(answer.status).toBe(200)
      expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8")
      expect(answer.headers["content-disposition"]).toBe("attachment")
      expect(answer.text.split("\r\n")).toEqual([
        "dimension,value,visits",
        "total,,3",
        "nonBots,,2",
        "bots,,1",
        "hour,2026-11-21T08:00:00.000Z,0",
        "hour,2026-11-21T09:00:00.000Z,3",
        "referrers,'-1.example,2",
        'referrers,"a,b",1',
        "countries,other,3",
        "browsers,Firefox,2",
        "browsers,bot,1",
        "os,other,3",
        "devices,other,3",
        ""
      ])
      const people = (yield* tableOf("&bots=exclude")).text
      expect(people).toContain("\r\ntotal,,2\r\n")
      expect(people).not.toContain("browsers,bot")
    })
  )

  it.effect("name twenty values of a dimension, and count the rest together", () =>
    Effect.gen(function* () {
      const { visits } = yield* TestService
      yield* visited("many", [])
      const counts = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`c${n}.example`, 100 - n]))
      const subject = subjectOfLink({ key: "many", createdAt: created })
      const nonBots = Object.values(counts).reduce((sum, visits) => sum + visits, 0)
      const hour = { subject, hour: now, nonBots, bots: 0, values: valuesOf("referrers", counts) }
      yield* visits.write({ writer: "many", sequence: 1, at: 0, hours: [hour] })
      const { referrers, total } = yield* statsOf(link("many", "?to=2026-11-22T00:00:00Z"))
      expect(referrers).toHaveLength(21)
      expect(referrers[0]).toEqual({ value: "c0.example", visits: 100 })
      expect(referrers.at(-1)!.value).toBe("other")
      expect(referrers.reduce((sum, { visits }) => sum + visits, 0)).toBe(total)
    })
  )

  it.effect("are not found where there is no link, or it is deleted", () =>
    Effect.gen(function* () {
      yield* visited("deleted", [now])
      yield* asAdmin("DELETE", "/api/v1/links/deleted")
      for (const key of ["deleted", "never", "n%20o", "a".repeat(65)]) {
        expectProblem(yield* asAdmin("GET", `/api/v1/links/${key}/stats`), "not-found")
      }
    })
  )

  it.effect("need an API key", () =>
    Effect.gen(function* () {
      yield* visited("keyless", [now])
      expectProblem(yield* get(link("keyless")), "unauthorized")
      expectProblem(yield* get("/api/v1/stats"), "unauthorized")
    })
  )

  it.effect("are their owner's, with the scope stats:read, and an administrator's", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://example.com/", alias: "owned" }, { "x-api-key": userKeys.one })
      const path = link("owned")
      expect((yield* withKey(userKeys.one, "GET", path)).status).toBe(200)
      expect((yield* withKey(userKeys.blind, "GET", path)).status).toBe(200)
      expect((yield* asAdmin("GET", path)).status).toBe(200)
      expectProblem(yield* withKey(userKeys.other, "GET", path), "not-found")
      expectProblem(yield* withKey(userKeys.reader, "GET", path), "forbidden")
      expectProblem(yield* withKey(userKeys.reader, "GET", "/api/v1/stats"), "forbidden")
    })
  )

  it.effect("are anybody's where their owner says so, without what tells how the link is used", () =>
    Effect.gen(function* () {
      const { visits } = yield* TestService
      const owner = { "x-api-key": userKeys.one }
      const note = "For us"
      yield* create(
        { url: "https://example.com/", alias: "shown", title: "T", note, publicStats: true },
        owner
      )
      yield* create({ url: "https://example.com/", alias: "hidden", note }, owner)
      const subject = subjectOfLink({ key: "shown", createdAt: created })
      const values = [
        ...valuesOf("referrers", { "news.example": 3 }),
        ...valuesOf("targets", { "secret experiment": 3 }),
        ...valuesOf("utmSources", { letter: 3 }),
        ...valuesOf("utmMediums", { email: 3 }),
        ...valuesOf("utmCampaigns", { spring: 3 }),
        ...valuesOf("cities", { "Springfield, US": 3 })
      ]
      const hours = [{ subject, hour: now - 1, nonBots: 3, bots: 0, values, visitors: [33, 65] }]
      yield* visits.write({ writer: "shown", sequence: 1, at: 0, hours })

      const counts = ["bots", "nonBots", "series", "total", "uniqueVisitors"]
      const names = [...counts, "browsers", "countries", "devices", "os", "referrers"].toSorted()
      const all = jsonOf(yield* withKey(userKeys.one, "GET", link("shown"))) as StatsBody
      const rest = ["cities", "targets", "utmCampaigns", "utmMediums", "utmSources"]
      expect(Object.keys(all).toSorted()).toEqual([...names, ...rest].toSorted())
      for (const answer of [
        yield* get(link("shown")),
        yield* withKey(userKeys.other, "GET", link("shown")),
        yield* withKey(userKeys.reader, "GET", link("shown"))
      ]) {
        expect(answer.status).toBe(200)
        const body = jsonOf(answer) as StatsBody
        expect(Object.keys(body).toSorted()).toEqual(names)
        expect(body.total).toBe(3)
        expect(body.referrers).toEqual(all.referrers)
      }
      const table = (yield* get(link("shown", "?format=csv"))).text
      expect(table).toContain("referrers,news.example,3")
      expect(table).not.toMatch(/secret|letter|email|spring/i)
      expectProblem(yield* get(link("shown", "?interval=week")), "invalid-request", [["interval", /must be/]])

      const others = [
        link("hidden"),
        link("hidden", "?interval=week"),
        link("nowhere"),
        "/api/v1/links/shown"
      ]
      for (const path of others) expectProblem(yield* get(path), "unauthorized")
      expectProblem(yield* withKey("wrong", "GET", link("shown")), "unauthorized")
      yield* withKey(userKeys.one, "PATCH", "/api/v1/links/shown", { publicStats: null })
      expectProblem(yield* get(link("shown")), "unauthorized")
      expectProblem(yield* withKey(userKeys.other, "GET", link("shown")), "not-found")
      yield* withKey(userKeys.one, "PATCH", "/api/v1/links/hidden", { publicStats: true })
      expect((yield* get(link("hidden"))).status).toBe(200)
      yield* withKey(userKeys.one, "DELETE", "/api/v1/links/hidden")
      expectProblem(yield* get(link("hidden")), "unauthorized")
    })
  )

  it.effect("are answered with 503 while the store is away", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* visited("away", [now])
      yield* setFault("visits", "fails")
      expectProblem(yield* asAdmin("GET", link("away")), "unavailable")
      yield* setFault("visits", "none")
      expect((yield* asAdmin("GET", link("away"))).status).toBe(200)
    })
  )
})

withService("a range of statistics", {}, (it) => {
  const moment = "must be an RFC 3339 date-time"
  const bad: Readonly<Record<string, { readonly path: string; readonly message: string }>> = {
    "?from=yesterday": { path: "from", message: moment },
    "?to=2026-11-21": { path: "to", message: moment },
    "?to=2026-02-30T00:00:00Z": { path: "to", message: moment },
    "?from=": { path: "from", message: moment },
    "?from=1969-12-31T00:00:00Z": { path: "from", message: moment },
    "?from=2026-11-20T00:00:00Z&from=2026-11-21T00:00:00Z": { path: "from", message: moment },
    "?interval=week": { path: "interval", message: "must be hour or day" },
    "?bots=none": { path: "bots", message: "must be include or exclude" },
    "?format=xml": { path: "format", message: "must be json or csv" },
    "?interval=hour&interval=day": { path: "interval", message: "must be hour or day" },
    "?from=2026-11-21T00:00:00Z&to=2026-11-21T00:00:00Z": { path: "from", message: "must lie before to" },
    "?from=2027-01-01T00:00:00Z": { path: "from", message: "must lie before to" },
    "?interval=hour&from=2026-10-16T23:59:59Z": { path: "from", message: "by the hour for 35 days" },
    "?from=2023-11-16T00:00:00Z": { path: "from", message: "by the day for 1100 days" },
    "?to=2000-01-01T00:00:00Z": { path: "from", message: "by the day for 1100 days" },
    "?interval=hour&from=2026-11-01T00:00:00Z&to=2028-01-01T00:00:00Z": {
      path: "to",
      message: "within 10000 hours"
    },
    "?to=9999-01-01T00:00:00Z&from=2026-11-01T00:00:00Z": { path: "to", message: "within 10000 days" }
  }
  for (const [query, { message, path }] of Object.entries(bad)) {
    it.effect(`may not be ${query}`, () =>
      Effect.gen(function* () {
        yield* visited("bad", [])
        for (const resource of [link("bad"), "/api/v1/stats"]) {
          const answer = yield* asAdmin("GET", `${resource}${query}`)
          expectProblem(answer, "invalid-request", [[path, new RegExp(message)]])
        }
      })
    )
  }

  const good = {
    "?interval=hour&from=2026-10-17T00:00:00Z": 850,
    "?from=2023-11-17T00:00:00Z": 1_101,
    "?from=2026-11-21T00:00:00Z&to=2026-11-21T00:00:00.001Z": 1,
    "?from=2026-11-01T00:00:00Z&to=2054-01-01T00:00:00Z": 9_923
  }
  for (const [query, points] of Object.entries(good)) {
    it.effect(`may be ${query}, of ${points} points`, () =>
      Effect.gen(function* () {
        yield* visited("good", [])
        expect((yield* statsOf(link("good", query))).series).toHaveLength(points)
      })
    )
  }
})

withService("statistics of all own links", {}, (it) => {
  it.effect("are those of the caller alone", () =>
    Effect.gen(function* () {
      yield* visited("mine", [now - 1], subjectOfOwner(adminId))
      yield* visited("theirs", [now - 1], subjectOfOwner("usr_other"))
      yield* visited("hers", [now - 1, now - 2], subjectOfOwner("usr_one"))
      const stats = yield* statsOf("/api/v1/stats")
      expect(stats).toMatchObject({ total: 4, nonBots: 3, bots: 1 })
      expect(jsonOf(yield* withKey(userKeys.one, "GET", "/api/v1/stats"))).toMatchObject({ total: 8 })
      expect(stats.series).toHaveLength(30)
    })
  )
})

withService("statistics that are kept otherwise", { retention: { hours_days: 8, days_days: 400 } }, (it) => {
  it.effect("say so where a range lies too far back", () =>
    Effect.gen(function* () {
      const within = ["?interval=hour&from=2026-11-13T00:00:00Z", "?from=2025-10-17T00:00:00Z"]
      for (const query of within) yield* statsOf(`/api/v1/stats${query}`)
      const beyond = {
        "?interval=hour&from=2026-11-12T23:00:00Z": /by the hour for 8 days/,
        "?from=2025-10-16T00:00:00Z": /by the day for 400 days/
      }
      for (const [query, message] of Object.entries(beyond)) {
        expectProblem(yield* asAdmin("GET", `/api/v1/stats${query}`), "invalid-request", [["from", message]])
      }
    })
  )
})
