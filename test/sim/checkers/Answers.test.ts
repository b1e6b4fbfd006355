import { describe, expect, it } from "vitest"
import { qualifiedKey } from "../../../src/keys/QualifiedKey.ts"
import type { Link } from "../../../src/model/Link.ts"
import { targetsOf } from "../../../src/sim/deployment/FurtherDomains.ts"
import { Answers } from "../../../src/sim/checkers/redirects/Answers.ts"
import { Leading } from "../../../src/sim/checkers/redirects/Leading.ts"
import { ReadYourWrites } from "../../../src/sim/checkers/redirects/ReadYourWrites.ts"
import type { Exchange, Manner } from "../../../src/sim/History.ts"
import type { Checker } from "../../../src/sim/Evidence.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row } from "../actors/Evidence.ts"

const by = "node-0#1"
const url = "https://example.com/1"
const ended = "https://ended.example.com/1"

const bound = (some: Partial<Link>) => ({ tag: "bound", at_us: s_us, by, link: { ...row, ...some } }) as const

const plainly: Manner = {
  status: 302,
  vary: undefined,
  isIndexed: false,
  cacheControl: "private, max-age=0",
  form: undefined
}

/** A redirect that was answered like this. */
const answered = (at_s: number, manner: Partial<Manner>, some: Partial<Exchange> = {}) =>
  exchange(at_s, { manner: { ...plainly, ...manner }, ...some })

const german = { rules: [{ url: "https://example.com/de", when: { languages: ["de-AT"] } }] }
const early = { rules: [{ url: "https://example.com/early", when: { until: "1970-01-01T00:00:10.000Z" } }] }
const hourly = {
  rules: [
    {
      url: "https://example.com/day",
      when: { hours: { timeZone: "Asia/Tokyo", from: "09:00", until: "10:00" } }
    }
  ]
}
const zoned = (timeZone: string, from: string, until: string) => ({
  rules: [{ url: "https://example.com/day", when: { hours: { timeZone, from, until } } }]
})
const card = { card: { title: "A & B", description: "of letters" } }
const shown = `<!doctype html><meta content="A &#38; B"><meta content="of letters"><a href="${url}">`
const expiring = bound({ expiresAt: 9_000, extras: { expiredUrl: ended } })
const sent = answered(10, { vary: "accept" }, { status: 410, visitor: "desk", location: ended })
const crawled = (manner: Partial<Manner>, body = shown) =>
  answered(
    3,
    { status: 200, vary: "user-agent", form: "page", ...manner },
    { status: 200, visitor: "crawler", location: undefined, body }
  )

describe("The checker of answers", () => {
  const wrong: ReadonlyArray<
    readonly [title: string, checker: Checker, link: ReturnType<typeof bound>, exchange: Exchange]
  > = [
    ["another status than its link's", Answers, bound({ redirectStatus: 301 }), answered(3, {})],
    ["what may be listed though nobody said so", Answers, bound({}), answered(3, { isIndexed: true })],
    ["a link that is not valid yet", Answers, bound({ validSince: 4_000 }), answered(3, {})],
    [
      "a link that is unknown though it is valid",
      ReadYourWrites,
      bound({ validSince: 2_000 }),
      answered(3, { status: 404, form: "json" }, { status: 404, location: undefined })
    ],
    [
      "a rule that holds no more",
      Answers,
      bound({ extras: early }),
      answered(11, {}, { location: "https://example.com/early" })
    ],
    [
      "a rule that does not hold at this hour",
      Answers,
      bound({ extras: hourly }),
      answered(3_700, {}, { location: "https://example.com/day" })
    ],
    [
      "a rule for others",
      Answers,
      bound({ extras: german }),
      answered(3, { vary: "accept-language" }, { visitor: "desk", location: "https://example.com/de" })
    ],
    ["a rule of which caches are not told", Answers, bound({ extras: german }), answered(3, {})],
    [
      "a query string that its link does not forward",
      Leading,
      bound({}),
      answered(3, {}, { query: "a=1", location: `${url}?a=1` })
    ],
    [
      "a parameter that the target's own should have replaced",
      Leading,
      bound({ url: `${url}?b=target#part`, forwardQuery: true, extras: { queryPrecedence: "target" } }),
      answered(3, {}, { query: "b=visitor&c", location: `${url}?b=visitor&c#part` })
    ],
    [
      "a path that leads out of the target's",
      Leading,
      bound({ extras: { forwardPath: true } }),
      answered(3, {}, { path: "../more", location: `${url}/../more` })
    ],
    [
      "a crawler who is not shown the card",
      Answers,
      bound({ extras: card }),
      answered(3, { vary: "user-agent" }, { visitor: "crawler" })
    ],
    [
      "a card without its description",
      Answers,
      bound({ extras: card }),
      crawled({}, shown.replace("letters", ""))
    ],
    ["the card of a link with a password", Answers, bound({ extras: card, passwordHash: "x" }), crawled({})],
    [
      "somebody who is sent elsewhere from a link that has not ended",
      Answers,
      expiring,
      { ...sent, sent_us: 3 * s_us, answered_us: 3 * s_us + 1 }
    ],
    ["a program that is sent elsewhere", Answers, expiring, { ...sent, visitor: undefined }],
    [
      "somebody who is not sent elsewhere",
      Answers,
      expiring,
      answered(10, { status: 410, form: "page" }, { status: 410, visitor: "desk", location: undefined })
    ],
    [
      "a page for a program",
      Answers,
      bound({}),
      answered(3, { status: 404, form: "page" }, { status: 404, location: undefined })
    ]
  ]

  it.each(wrong)("tells %s", (_, checker, entry, exchange) => {
    const asked = [created(1, { url: entry.link.url }), exchange]
    const found = checker.check(evidence({ journal: [entry], exchanges: asked, end_us: 4_000 * s_us }))
    expect(found).toHaveLength(1)
  })

  const right: ReadonlyArray<readonly [title: string, link: ReturnType<typeof bound>, exchange: Exchange]> = [
    [
      "its link's status",
      bound({ redirectStatus: 308, crawlable: true }),
      answered(3, { status: 308, isIndexed: true })
    ],
    [
      "a link that is not valid yet",
      bound({ validSince: 4_000 }),
      answered(3, { status: 404, form: "json" }, { status: 404, location: undefined })
    ],
    ["a link that is valid by now", bound({ validSince: 2_000 }), answered(3, {})],
    [
      "a rule that holds",
      bound({ extras: german }),
      answered(3, { vary: "accept-language" }, { visitor: "German", location: "https://example.com/de" })
    ],
    ["a rule that holds no more", bound({ extras: early }), answered(11, {})],
    [
      "a rule that holds until it is answered",
      bound({ extras: early }),
      { ...answered(9.9, {}, { location: "https://example.com/early" }), answered_us: 11 * s_us }
    ],
    [
      "a rule that holds at this hour",
      bound({ extras: hourly }),
      answered(3, {}, { location: "https://example.com/day" })
    ],
    [
      "a rule that holds in the first minutes of a time zone half an hour apart from others",
      bound({ extras: zoned("Asia/Kolkata", "05:30", "05:40") }),
      answered(3, {}, { location: "https://example.com/day" })
    ],
    [
      "a rule that holds until then in that time zone",
      bound({ extras: zoned("Asia/Kolkata", "05:20", "05:30") }),
      answered(3, {})
    ],
    [
      "what is forwarded",
      bound({
        url: `${url}?b=target#part`,
        forwardQuery: true,
        extras: { forwardPath: true, queryPrecedence: "request" }
      }),
      answered(
        3,
        {},
        {
          visitor: "reader",
          query: "b=visitor",
          path: "more//of-it/",
          location: `${url}/more/of-it/?from=letter&b=visitor#part`
        }
      )
    ],
    [
      "a path that could lead out of the target's",
      bound({ extras: { forwardPath: true } }),
      answered(
        3,
        { status: 404, form: "json" },
        { status: 404, path: "more/%2E%2e/of-it", location: undefined }
      )
    ],
    ["a card", bound({ extras: card }), crawled({})],
    ["somebody who comes too late", expiring, sent]
  ]

  it.each(right)("finds nothing in %s", (_, entry, exchange) => {
    const asked = [created(1, { url: entry.link.url }), exchange]
    const run = evidence({ journal: [entry], exchanges: asked, end_us: 4_000 * s_us })
    for (const { check } of [Answers, Leading, ReadYourWrites]) expect(check(run)).toEqual([])
  })

  it("knows all time zones that it judges rules by", () => {
    const journal = [bound({ extras: zoned("Mars/Base", "00:00", "01:00") })]
    const run = evidence({ exchanges: [created(1), answered(3, {})], journal })
    expect(() => Answers.check(run)).toThrow("Mars/Base")
  })
})

describe("The checker of answers, of people whom no link leads", () => {
  const of = (domain: number, key = "abc") => qualifiedKey({ domain, key })
  const person = { visitor: "desk" } as const
  /** A redirect in a domain that was sent elsewhere, or was answered with a page, and what is wrong with it where the link is so. */
  const found = (
    domain: number,
    status: 404 | 410,
    location: string | null,
    link: Partial<Link> | undefined,
    some: Partial<Exchange> = person
  ) => {
    const key = of(domain)
    const manner: Partial<Manner> =
      location === null ? { status, form: some.visitor === undefined ? "json" : "page" } : { vary: "accept" }
    const asked = answered(10, manner, { status, key, location: location ?? undefined, ...some })
    const made = created(1.5, { key })
    return Answers.check(
      evidence({
        journal: link === undefined ? [] : [bound({ key, ...link })],
        exchanges: link === undefined ? [asked] : [made, asked]
      })
    )
  }
  const first = targetsOf(1)
  const second = targetsOf(2)

  it("sends them where the domain has it from where nothing is, and nobody else", () => {
    expect(found(1, 404, first.unknown, undefined)).toEqual([])
    expect(found(1, 404, null, undefined)).toHaveLength(1)
    expect(found(1, 404, null, undefined, {})).toEqual([])
    expect(found(1, 404, first.unknown, undefined, {})).toHaveLength(1)
    expect(found(2, 404, null, undefined)).toEqual([])
    expect(found(2, 404, first.unknown, undefined)).toHaveLength(1)
    expect(found(0, 404, first.unknown, undefined)).toHaveLength(1)
  })

  it("sends them from a link that is yet to begin", () => {
    const pending = { validSince: 20_000 }
    expect(found(2, 404, second.pending, pending)).toEqual([])
    expect(found(2, 404, null, pending)).toHaveLength(1)
    expect(found(2, 404, second.pending, {})).toHaveLength(1)
    expect(found(1, 404, null, pending)).toEqual([])
    expect(found(1, 404, first.unknown, pending)).toHaveLength(1)
  })

  it("sends them from a link that has expired or is used up, unless that has a target of its own", () => {
    const expired = { expiresAt: 9_000 }
    const usedUp = { maxVisits: 1 }
    expect(found(2, 410, second.expired, expired)).toEqual([])
    expect(found(2, 410, second.usedUp, usedUp)).toEqual([])
    expect(found(2, 410, second.usedUp, expired)).toHaveLength(1)
    expect(found(2, 410, second.expired, usedUp)).toHaveLength(1)
    expect(found(2, 410, null, expired)).toHaveLength(1)
    expect(found(1, 410, null, expired)).toEqual([])
    const own = { ...expired, extras: { expiredUrl: ended } }
    expect(found(2, 410, ended, own)).toEqual([])
    expect(found(2, 410, second.expired, own)).toHaveLength(1)
  })
})
