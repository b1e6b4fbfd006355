import { describe, expect, it } from "vitest"
import { Statistics } from "../../../src/sim/checkers/visits/Statistics.ts"
import { countedOf, type Traits } from "../../../src/sim/clients/Traits.ts"
import type { Exchange, StatisticsWish } from "../../../src/sim/History.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row, userKey as key } from "../actors/Evidence.ts"

const by = "node-0#1"
const bound = { tag: "bound", at_us: s_us, by, link: row } as const
const freed = (at_s: number) => ({ tag: "freed", at_us: at_s * s_us, by, key: "abc", custom: false }) as const
const deleted = (at_s: number) => ({ tag: "deleted", at_us: at_s * s_us, by, key: "abc" }) as const

/** Half a minute before midnight, when the runs of these tests begin. */
const beginning_ms = Date.parse("2025-12-31T23:59:30Z")

const reader: Traits = { agent: "firefox", referrer: "news", campaign: "letter", address: "127.0.0.2" }
const visited = (at_s: number, traits: Traits = reader, some: object = {}) =>
  ({
    tag: "visited",
    at_us: at_s * s_us,
    by,
    key: "abc",
    isSure: true,
    counted: countedOf(traits, undefined),
    ...some
  }) as const
const taken = (at_s: number, visits: number, owned?: ReadonlyArray<readonly [string, number]>) =>
  ({
    tag: "counted",
    at_us: at_s * s_us,
    by,
    visits: [["abc", visits]],
    ...(owned !== undefined && { owned })
  }) as const

/** What is told of one visit by {@link reader} before midnight. */
const body = {
  total: 1,
  nonBots: 1,
  bots: 0,
  series: [
    { at: "2025-12-31T00:00:00.000Z", visits: 1 },
    { at: "2026-01-01T00:00:00.000Z", visits: 0 }
  ],
  referrers: [{ value: "news.example", visits: 1 }],
  countries: [{ value: "unknown", visits: 1 }],
  browsers: [{ value: "Firefox", visits: 1 }],
  os: [{ value: "Linux", visits: 1 }],
  devices: [{ value: "desktop", visits: 1 }],
  utmSources: [{ value: "letter", visits: 1 }],
  utmMediums: [{ value: "email", visits: 1 }],
  utmCampaigns: [{ value: "=spring", visits: 1 }],
  uniqueVisitors: {
    sumOfDays: 1,
    standardError: 0.033,
    days: [
      { at: "2025-12-31T00:00:00.000Z", visitors: 1 },
      { at: "2026-01-01T00:00:00.000Z", visitors: 0 }
    ]
  }
}
const { utmCampaigns: _c, utmMediums: _m, utmSources: _s, ...ofAnybody } = body
const none = {
  ...ofAnybody,
  total: 0,
  nonBots: 0,
  series: body.series.map(({ at }) => ({ at, visits: 0 })),
  referrers: [],
  countries: [],
  browsers: [],
  os: [],
  devices: [],
  uniqueVisitors: undefined
}

const wish: StatisticsWish = {
  as: "administrator",
  interval: "day",
  bots: "include",
  format: "json",
  from: "2025-12-31T00:00:00Z",
  to: "2026-01-02T00:00:00Z"
}
/** The two hours of a run. */
const nearMidnight = { from: "2025-12-31T23:10:00Z", to: "2026-01-01T00:20:00Z" }
const asking = (at_s: number, answer: object | string, some: Partial<Exchange> = {}) =>
  exchange(at_s, {
    kind: "statistics",
    status: 200,
    location: undefined,
    statistics: wish,
    body: typeof answer === "string" ? answer : JSON.stringify(answer),
    ...some
  })

/** No visits in the two hours near midnight, or in the second alone. */
const noneOf = (first: number) => ({
  ...none,
  series: ["2025-12-31T23:00:00.000Z", "2026-01-01T00:00:00.000Z"]
    .slice(first)
    .map((at) => ({ at, visits: 0 }))
})

const publicly = { ...wish, as: "anybody" } as const
const byUser = { statistics: { ...wish, as: "user" }, apiKey: "secret" } as const

const found = (
  exchanges: ReadonlyArray<Exchange>,
  journal: ReadonlyArray<JournalEntry> = [bound, visited(5), taken(6, 1)],
  some: object = {}
) =>
  Statistics.check(
    evidence({ exchanges: [created(1), ...exchanges], journal, beginning_ms, userKeys: [key], ...some })
  ).map(({ text }) => text)

describe("the checker of statistics", () => {
  it("wants no targets in those of all links, which have names of their own", () => {
    const own = [{ ...bound, link: { ...row, owner: "usr_0" } }]
    const all = (told: object) => found([asking(7, told, { ...byUser, key: undefined })], own)
    expect(all(none)).toEqual([])
    expect(all({ ...none, targets: [{ value: "default", visits: 0 }] })).not.toEqual([])
  })

  it("wants what a link brought along from elsewhere apart, as JSON or as a table", () => {
    const importedVisits = { nonBots: 7, bots: 3 }
    const imports = [{ ...bound, link: { ...row, importedVisits } }]
    const told = { ...none, imported: { total: 10, ...importedVisits } }
    expect(found([asking(7, told)], imports)).toEqual([])
    expect(found([asking(7, none)], imports)).not.toEqual([])
    expect(found([asking(7, told)], [bound])).not.toEqual([])
    expect(found([asking(7, { ...told, total: 10 })], imports)).not.toEqual([])
    const days = body.series.map(({ at }) => `day,${at},0`)
    const table = (total: number) =>
      asking(
        7,
        [
          "dimension,value,visits",
          "total,,0",
          "nonBots,,0",
          "bots,,0",
          `imported,,${total}`,
          ...days,
          ""
        ].join("\r\n"),
        { statistics: { ...wish, format: "csv" } }
      )
    expect(found([table(10)], imports)).toEqual([])
    expect(found([table(9)], imports)).not.toEqual([])
  })

  it("finds nothing in those of what happened, as far as it was counted", () => {
    expect(found([asking(7, body)])).toEqual([])
    expect(found([asking(5.5, none)], [bound, visited(5)])).toEqual([])
    expect(
      found([
        asking(
          7,
          {
            ...body,
            series: [
              { at: "2025-12-31T23:00:00.000Z", visits: 1 },
              { at: "2026-01-01T00:00:00.000Z", visits: 0 }
            ]
          },
          { statistics: { ...wish, ...nearMidnight, interval: "hour" } }
        )
      ])
    ).toEqual([])
    const bot = visited(6, { ...reader, agent: "crawler" })
    expect(
      found(
        [
          asking(
            8,
            {
              ...body,
              bots: 1,
              referrers: [{ value: "news.example", visits: 2 }],
              countries: [{ value: "unknown", visits: 2 }],
              utmSources: [{ value: "letter", visits: 2 }],
              utmMediums: [{ value: "email", visits: 2 }],
              utmCampaigns: [{ value: "=spring", visits: 2 }]
            },
            { statistics: { ...wish, bots: "exclude" } }
          )
        ],
        [bound, visited(5), bot]
      )
    ).toEqual([])
  })

  it.each([
    ["a visit that never happened", { ...body, total: 2, nonBots: 2 }],
    ["a visit less than the store had taken", none],
    ["a total that is not that of its parts", { ...body, total: 2 }],
    ["a person as a bot", { ...body, nonBots: 0, bots: 1 }],
    [
      "a visit on the wrong day",
      { ...body, series: body.series.map(({ at, visits }) => ({ at, visits: 1 - visits })) }
    ],
    ["a series without it", { ...body, series: [] }],
    ["another referrer", { ...body, referrers: [{ value: "news", visits: 1 }] }],
    ["another country", { ...body, countries: [{ value: "DE", visits: 1 }] }],
    ["another browser", { ...body, browsers: [{ value: "Safari", visits: 1 }] }],
    ["a dimension without it", { ...body, os: [] }],
    ["another campaign", { ...body, utmCampaigns: [{ value: "spring", visits: 1 }] }],
    ["no source", { ...body, utmSources: undefined }],
    ["no visitor", { ...body, uniqueVisitors: undefined }],
    ["a wrong sum of visitors", { ...body, uniqueVisitors: { ...body.uniqueVisitors, sumOfDays: 2 } }]
  ])("finds %s", (_, answer) => {
    expect(found([asking(7, answer)])).not.toEqual([])
  })

  it("takes a visit near midnight, or one that may not count, for one of either day, and any where clocks jump", () => {
    const nextDay = body.series.map(({ at, visits }) => ({ at, visits: 1 - visits }))
    const days = body.uniqueVisitors.days.map(({ at, visitors }) => ({ at, visitors: 1 - visitors }))
    const next = { ...body, series: nextDay, uniqueVisitors: { ...body.uniqueVisitors, days } }
    for (const answer of [body, next]) {
      expect(found([asking(37, answer)], [bound, visited(31)])).toEqual([])
      expect(found([asking(37, answer)], [bound, visited(28, reader, { isSure: false })])).toEqual([])
      expect(found([asking(7, answer)], undefined, { faults: new Map([["clockJump", 1]]) })).toEqual([])
    }
    expect(found([asking(47, body)], [bound, visited(40)])).not.toEqual([])
    expect(found([asking(47, next)], [bound, visited(40)])).toEqual([])
  })

  it("reads tables, in which no value is a formula", () => {
    const rows = (campaign: string) =>
      [
        "dimension,value,visits",
        "total,,1",
        "nonBots,,1",
        "bots,,0",
        "uniqueVisitorsSumOfDays,,1",
        "day,2025-12-31T00:00:00.000Z,1",
        "day,2026-01-01T00:00:00.000Z,0",
        "uniqueVisitors,2025-12-31T00:00:00.000Z,1",
        "uniqueVisitors,2026-01-01T00:00:00.000Z,0",
        "referrers,news.example,1",
        "countries,unknown,1",
        "browsers,Firefox,1",
        "os,Linux,1",
        "devices,desktop,1",
        "utmSources,letter,1",
        "utmMediums,email,1",
        `utmCampaigns,${campaign},1`,
        ""
      ].join("\r\n")
    const table = { statistics: { ...wish, format: "csv" } } as const
    expect(found([asking(7, rows("'=spring"), table)])).toEqual([])
    expect(found([asking(7, rows("=spring"), table)])).not.toEqual([])
  })

  it("lets users see those of their own links alone, and everybody public ones, without what only managers are told", () => {
    const link = { ...row, extras: { publicStats: true } } as const
    const journal = [{ ...bound, link }, visited(5), taken(6, 1)] as const
    expect(found([asking(7, ofAnybody, { statistics: publicly })], journal)).toEqual([])
    expect(found([asking(7, ofAnybody, byUser)], journal)).toEqual([])
    expect(found([asking(7, body, { statistics: publicly })], journal)).not.toEqual([])
    expect(found([asking(7, ofAnybody, { statistics: publicly })])).toHaveLength(1)
    expect(found([asking(7, body, byUser)])).toHaveLength(1)
    expect(found([asking(7, "", { ...byUser, status: 404 })])).toEqual([])
    expect(found([asking(7, "", { status: 404 })])).toHaveLength(1)
    const own = [{ ...bound, link: { ...row, owner: "usr_0" } }, visited(5), taken(6, 1)] as const
    expect(found([asking(7, body, byUser)], own)).toEqual([])
  })

  it("finds visits of a link that had the key before, and tells the statistics of all of a user's links by those that were theirs", () => {
    const another = { ...bound, at_us: 20 * s_us, link: { ...row, url: "https://example.com/2" } }
    const journal = [bound, visited(5), taken(6, 1), deleted(7), freed(18), another]
    expect(found([asking(25, none)], journal)).toEqual([])
    expect(found([asking(25, body)], journal)).not.toEqual([])
    const deleting = exchange(7, { kind: "delete", status: 204, location: undefined })
    expect(found([deleting, asking(15, body)], journal)).toHaveLength(1)
    const owned = [{ ...bound, link: { ...row, owner: "usr_0" } }, visited(5)] as const
    const all = { ...byUser, key: undefined }
    expect(found([asking(15, body, all)], [...owned, taken(6, 1, [["usr_0", 1]]), deleted(7)])).toEqual([])
    expect(found([asking(15, none, all)], owned)).toEqual([])
    expect(found([asking(15, none, all)], [...owned, taken(6, 1, [["usr_0", 1]])])).not.toEqual([])
    expect(found([asking(15, none, all)], [...owned, taken(6, 1)])).not.toEqual([])
    expect(found([asking(15, body, all)], [bound, visited(5)])).not.toEqual([])
  })

  it("finds visits that are told by the hour though their hours are dropped, and such as are refused though they are kept", () => {
    const options = { ...presets.calm(), visitsSettle_s: 2 }
    const byHour = { statistics: { ...wish, ...nearMidnight, interval: "hour" } } as const
    const since = { statistics: { ...byHour.statistics, from: "2026-01-01T00:00:00Z" } } as const
    const told = (at_s: number, status: number, some: Partial<Exchange> = byHour, brief = true) =>
      found(
        [
          asking(at_s, some.statistics === undefined ? none : noneOf(some === since ? 1 : 0), {
            ...some,
            status
          })
        ],
        [bound],
        brief ? { options } : {}
      )
    expect(told(20, 200)).toEqual([])
    expect(told(40, 200)).toHaveLength(1)
    expect(told(40, 400)).toEqual([])
    expect(told(20, 400)).toHaveLength(1)
    expect(told(40, 200, since)).toEqual([])
    expect(told(40, 400, since)).toHaveLength(1)
    expect(told(40, 200, {})).toEqual([])
    expect(told(40, 400, {})).toHaveLength(1)
    expect(told(40, 400, byHour, false)).toHaveLength(1)
    const kept = { ...options, visitHours_days: 1 }
    const ofDay = (status: number) =>
      found([asking(40, noneOf(0), { ...byHour, status })], [bound], { options: kept })
    expect(ofDay(200)).toEqual([])
    expect(ofDay(400)).toHaveLength(1)
  })

  it("judges those of a part of the run by the visits that may be of it, each with every point", () => {
    const [day, nextDay] = body.series.map(({ at }) => at)
    const of = (from: string, to: string) => ({ statistics: { ...wish, from, to } })
    const first = of("2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z")
    const second = of("2026-01-01T00:00:00Z", "2026-01-01T13:00:00Z")
    const days = (at: string, visitors: number) => ({
      uniqueVisitors: { ...body.uniqueVisitors, sumOfDays: visitors, days: [{ at, visitors }] }
    })
    const only = { ...body, series: [{ at: day, visits: 1 }], ...days(day!, 1) }
    expect(found([asking(7, only, first)])).toEqual([])
    expect(found([asking(7, body, first)])).toHaveLength(2)
    expect(found([asking(7, { ...none, series: [{ at: nextDay, visits: 0 }] }, second)])).toEqual([])
    expect(found([asking(7, { ...only, ...days(day!, 0) }, first)])).toHaveLength(1)
    const wrongly = { ...body, series: [{ at: nextDay, visits: 1 }], ...days(nextDay!, 1) }
    expect(found([asking(7, wrongly, second)])).not.toEqual([])
    expect(found([asking(47, wrongly, second)], [bound, visited(40)])).toEqual([])
    expect(found([asking(47, only, first)], [bound, visited(40)])).not.toEqual([])
  })

  it("wants the visits that one of several databases had, too", () => {
    const options = { ...presets.calm(), databases: 2 }
    expect(found([asking(7, none)], undefined, { options })).not.toEqual([])
  })

  describe("of a domain", () => {
    const strayed = (at_s: number) => ({
      tag: "not led" as const,
      at_us: at_s * s_us,
      by,
      domains: [1],
      kinds: ["missing"] as const,
      isSure: true,
      counted: countedOf(reader, undefined)
    })
    const orphans = (visits: number) =>
      ({
        tag: "counted",
        at_us: 4 * s_us,
        by,
        visits: [],
        orphans: [
          ["missing in domain 1", visits],
          ["all in domain 1", visits]
        ]
      }) as const
    const ofDomain = (answer: object, reason?: "unknown" | "expired") =>
      asking(7, answer, {
        key: undefined,
        statistics: { ...wish, orphans: { domain: 1, ...(reason !== undefined && { reason }) } }
      })
    const judged = (answer: Exchange) => found([answer], [strayed(3), orphans(1)])

    it("have the visitors whom no link has led, for any reason or for theirs", () => {
      expect(judged(ofDomain(body))).toEqual([])
      expect(judged(ofDomain(body, "unknown"))).toEqual([])
      expect(judged(ofDomain(none, "expired"))).toEqual([])
    })

    it("may be without one for a reason that is not known, and no others", () => {
      expect(judged(ofDomain(none, "unknown"))).toEqual([])
      expect(judged(ofDomain(none))).not.toEqual([])
      expect(judged(ofDomain(body, "expired"))).not.toEqual([])
    })
  })
})
