import { unescape } from "node:querystring"
import { FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import { lengthMax as locationLengthMax } from "../../../src/http/redirects/Location.ts"
import { decideRedirect, isProblem } from "../../../src/http/redirects/Redirect.ts"
import type { Link } from "../../../src/model/Link.ts"
import * as ClientAddress from "../../../src/http/exchange/ClientAddress.ts"
import * as VisitorFacts from "../../../src/http/redirects/rules/VisitorFacts.ts"
import { plainRow } from "../../support/Plain.ts"
import { testHash } from "../../support/TestHash.ts"
import type { Message } from "../../../src/model/Messages.ts"

const now = 1_000
const anywhere = { faultOf: () => undefined }
const link: Link = {
  ...plainRow,
  key: "k",
  url: "https://example.com/",
  custom: false,
  createdAt: 1,
  updatedAt: 1
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly isUnlocked?: boolean
  readonly method?: string
  readonly path?: string
  readonly targets?: { readonly faultOf: (url: string) => Message | undefined }
  readonly url?: string
}

const factsOf = VisitorFacts.makeWith({
  addresses: ClientAddress.make([]),
  countries: { header: undefined, of: () => undefined },
  hash: testHash
})

const decide = (
  row: Partial<Link> | null,
  { headers = {}, isUnlocked = false, method = "GET", path, targets = anywhere, url = "/k" }: Asked = {}
) =>
  decideRedirect(
    row === null ? null : { ...link, ...row },
    { method, url, headers, remoteAddress: Option.none() },
    now,
    { targets, factsOf },
    isUnlocked,
    path
  )

describe("a request for a short URL", () => {
  it.each([
    ["has no link", null, "not-found"],
    ["has a link that begins later", { validSince: now + 1 }, "not-found"],
    ["has a link that has expired", { expiresAt: now }, "gone"],
    ["has a link that was deleted", { deletedAt: now - 1 }, "gone"]
  ] as const)("is refused where the key %s", (_, row, kind) => {
    expect(decide(row)).toMatchObject({ kind: "refuse", problem: { kind } })
    expect(decide(row, { isUnlocked: true })).toMatchObject({ kind: "refuse", problem: { kind } })
  })

  it("is refused where the link leads to what is blocked", () => {
    const targets = { faultOf: (): Message => "leads to a private network (example.com)" }
    expect(decide({}, { targets })).toMatchObject({ kind: "refuse", problem: { kind: "gone" } })
  })

  const expiredUrl = "https://example.com/over"
  it.each([
    ["has expired", { expiresAt: now }, "expired"],
    ["has expired and was swept", { expiresAt: 5, deletedAt: 5 }, "expired"],
    ["is used up", { maxVisits: 1, visitsLeft: 0 }, "usedUp"]
  ] as const)("is sent to the link's own target for it where the link %s", (_, row, reason) => {
    const refused = (targets = anywhere) => decide({ ...row, extras: { expiredUrl } }, { targets })
    expect(decide(row)).toMatchObject({ kind: "refuse", problem: { kind: "gone", reason } })
    expect(decide(row)).not.toHaveProperty("problem.elsewhere")
    expect(refused()).toMatchObject({
      kind: "refuse",
      problem: { kind: "gone", reason, elsewhere: expiredUrl }
    })
    const targets = {
      faultOf: (url: string) => (url === expiredUrl ? "leads to a private network (example.com)" : undefined)
    }
    expect(refused(targets as never)).not.toHaveProperty("problem.elsewhere")
  })

  it("is sent nowhere where the link was deleted, begins later, or leads to what is blocked", () => {
    const extras = { expiredUrl }
    for (const row of [{ deletedAt: 5 }, { deletedAt: 5, expiresAt: 6 }, { validSince: now + 1 }]) {
      expect(decide({ ...row, extras })).not.toHaveProperty("problem.elsewhere")
    }
    const targets = {
      faultOf: (url: string) => (url === expiredUrl ? undefined : "leads to a private network (example.com)")
    }
    expect(decide({ extras }, { targets })).not.toHaveProperty("problem.elsewhere")
  })

  it("asks for the password of a link that has one, until it was given", () => {
    expect(decide({ passwordHash: "x" })).toEqual({ kind: "ask-password" })
    expect(decide({ passwordHash: "x" }, { isUnlocked: true })).toMatchObject({ kind: "redirect" })
  })

  it("is a visit unless it is HEAD, which the link grants first where it has only so many", () => {
    expect(decide({})).toMatchObject({ kind: "redirect", location: link.url, visit: "counted" })
    expect(decide({ maxVisits: 3 })).toMatchObject({ kind: "redirect", visit: "granted" })
    expect(decide({ maxVisits: 3 }, { method: "HEAD" })).toMatchObject({ kind: "redirect", visit: "none" })
  })
})

describe("a link with rules and variants", () => {
  const ruled = "https://ruled.example/"
  const rules = [{ url: ruled, when: { languages: ["de"] } }]
  const variants = [1, 1].map((weight, index) => ({ url: `https://variant${index}.example/`, weight }))
  const german = { "accept-language": "de" }

  it("leads whom a rule holds of, and says by which and by what", () => {
    const decision = { kind: "redirect", location: ruled, target: "rule 1", vary: "accept-language" }
    expect(decide({ extras: { rules } }, { headers: german })).toMatchObject(decision)
    expect(decide({ extras: { rules } })).toMatchObject({
      ...decision,
      location: link.url,
      target: "default"
    })
    expect(decide({ extras: { variants } })).toMatchObject({
      location: expect.stringMatching(/^https:\/\/variant/) as string,
      target: expect.stringMatching(/^variant /) as string,
      vary: undefined
    })
    expect(decide({})).toMatchObject({ target: undefined, vary: undefined })
  })

  it("passes a query on to whichever target, and asks for its password first", () => {
    const more = { extras: { rules }, forwardQuery: true, passwordHash: "x" }
    const request = { headers: german, url: "/k?a=1" }
    expect(decide(more, request)).toEqual({ kind: "ask-password" })
    expect(decide(more, { ...request, isUnlocked: true })).toMatchObject({ location: `${ruled}?a=1` })
  })

  it("is gone for those alone whom it would lead to what is blocked, and for all where its own URL is", () => {
    const blocking = (blocked: string) => ({
      targets: {
        faultOf: (url: string) => (url === blocked ? "leads to a private network (example.com)" : undefined)
      } as typeof anywhere
    })
    const gone = { kind: "refuse", problem: { kind: "gone" } }
    expect(decide({ extras: { rules } }, { ...blocking(ruled), headers: german })).toMatchObject(gone)
    expect(decide({ extras: { rules } }, blocking(ruled))).toMatchObject({ location: link.url })
    expect(decide({ extras: { rules } }, { ...blocking(link.url), headers: german })).toMatchObject(gone)
  })

  it("varies by the agent as well where crawlers are shown a card", () => {
    const card = { title: "A card" }
    const agents = [{ url: ruled, when: { os: ["iOS"] as const } }]
    const varyOf = (extras: NonNullable<Link["extras"]>) => decide({ extras })
    expect(varyOf({ card })).toMatchObject({ vary: "user-agent" })
    expect(varyOf({ card, rules })).toMatchObject({ vary: "user-agent, accept-language" })
    expect(varyOf({ card, rules: agents })).toMatchObject({ vary: "user-agent" })
  })

  it("appends a path to whichever target", () => {
    const extras = { rules, forwardPath: true } as const
    expect(decide({ extras }, { headers: german, path: "a/b" })).toMatchObject({ location: `${ruled}a/b` })
  })

  it("follows a change of its rules, and of its URL alone", () => {
    const extras = { rules }
    const url = "https://changed.example/"
    expect(decide({ extras })).toMatchObject({ location: link.url })
    expect(decide({ extras, url })).toMatchObject({ location: url })
    const changed = { extras: { rules: [{ url, when: { languages: ["de"] } }] } }
    expect(decide(changed, { headers: german })).toMatchObject({ location: url })
  })
})

const locate = (url: string, query: string, forwardQuery = true) => {
  const decision = decide({ url, forwardQuery }, { url: `/k?${query}` })
  if (decision.kind !== "redirect") throw new Error(decision.kind)
  return isProblem(decision.location) ? decision.location.kind : decision.location
}

describe("a link that forwards the query string", () => {
  it.each([
    ["https://example.com/", "a=1", "https://example.com/?a=1"],
    ["https://example.com/a?b=c", "d=e", "https://example.com/a?b=c&d=e"],
    ["https://example.com/a?b=c", "b=d&b=e", "https://example.com/a?b=c&b=d&b=e"],
    ["https://example.com/a#part", "b=c", "https://example.com/a?b=c#part"],
    ["https://example.com/a?b=c#part?x", "d=e", "https://example.com/a?b=c&d=e#part?x"],
    ["https://example.com/?", "a=1", "https://example.com/?a=1"],
    ["https://example.com/?a&", "b", "https://example.com/?a&b"],
    ["https://example.com/", "a=%20%2F&b=+&c", "https://example.com/?a=%20%2F&b=+&c"],
    ["https://example.com/", "a=1?b=2", "https://example.com/?a=1?b=2"],
    ["https://example.com/", "q=a#b", "https://example.com/?q=a%23b"],
    ["https://example.com/", `q="<ä 🍃>\r\n`, "https://example.com/?q=%22%3C%C3%A4%20%F0%9F%8D%83%3E%0D%0A"],
    ["https://example.com/", "", "https://example.com/"]
  ])("leads %s with %s to %s", (url, query, expected) => {
    expect(locate(url, query)).toBe(expected)
  })

  it("leads nowhere where the address would be too long, and not elsewhere", () => {
    const url = "https://example.com/"
    const query = "q".repeat(locationLengthMax - url.length - 1)
    expect(locate(url, query)).toBe(`${url}?${query}`)
    expect(locate(url, `${query}q`)).toBe("uri-too-long")
    expect(locate(url, "ä".repeat(2_000))).toBe("uri-too-long")
  })

  it("keeps the target's host, path and fragment, and all parameters in their order, whatever comes", () => {
    const query = fc.oneof(fc.webQueryParameters(), fc.string({ unit: "binary", maxLength: 100 }))
    const url = fc
      .webUrl({ withQueryParameters: true, withFragments: true })
      .map((text) => new URL(text).href)
    fc.assert(
      fc.property(url, query, (target, forwarded) => {
        const location = locate(target, forwarded)
        expect(location).toMatch(/^[\x21-\x7e]*$/)
        const [before, after] = [new URL(target), new URL(location)]
        for (const part of ["origin", "pathname", "hash"] as const) expect(after[part]).toBe(before[part])
        expect(after.search.startsWith(before.search)).toBe(true)
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("a link that forwards the query string, and has one itself", () => {
  it.each([
    ["target", "a=1&b=2", "b=3&c=4", "a=1&b=2&c=4"],
    ["target", "a=1", "a=2&%61=3&a", "a=1"],
    ["target", "a b=1", "a+b=2&a%20b=3&c", "a b=1&c"],
    ["request", "a=1&b=2&b=3", "b=4&c=5", "a=1&b=4&c=5"],
    ["request", "a=1", "a=2", "a=2"],
    ["request", "%zz=1", "%zz=2", "%zz=2"],
    [undefined, "a=1", "a=2", "a=1&a=2"]
  ] as const)(
    "where the %s takes precedence, has of %s and %s: %s",
    (queryPrecedence, own, query, expected) => {
      const url = `https://example.com/p?${own}#f`
      const extras = queryPrecedence === undefined ? {} : { extras: { queryPrecedence } }
      expect(decide({ url, forwardQuery: true, ...extras }, { url: `/k?${query}` })).toMatchObject({
        location: `https://example.com/p?${expected}#f`
      })
    }
  )
})

describe("a link that forwards the path", () => {
  const follow = (url: string, path: string, more: Partial<Link> = {}) =>
    decide({ url, extras: { forwardPath: true }, ...more }, { path, url: `/k/${path}?q=1` })

  it.each([
    ["https://example.com/", "a/b", "https://example.com/a/b"],
    ["https://example.com/docs", "a", "https://example.com/docs/a"],
    ["https://example.com/docs/", "a/", "https://example.com/docs/a/"],
    ["https://example.com/docs?x=1#f", "a", "https://example.com/docs/a?x=1#f"],
    ["https://example.com/#/f?x", "a", "https://example.com/a#/f?x"],
    ["https://example.com/", "//evil.example//b", "https://example.com/evil.example/b"],
    ["https://example.com/a", "//", "https://example.com/a"],
    ["https://example.com/", "a%2Fb%20c;d=1", "https://example.com/a%2Fb%20c;d=1"],
    ["https://example.com/", "a\\b", "https://example.com/a%5Cb"],
    ["https://example.com/", `ä"<>#{`, "https://example.com/%C3%A4%22%3C%3E%23%7B"],
    ["https://example.com/", "...", "https://example.com/..."],
    ["https://example.com/", ".well-known/..a", "https://example.com/.well-known/..a"]
  ])("leads %s with %s to %s", (url, path, location) => {
    expect(follow(url, path)).toMatchObject({ kind: "redirect", location })
  })

  it("keeps both, the path and the query string", () => {
    const location = "https://example.com/d/a?x&q=1#f"
    expect(follow("https://example.com/d?x#f", "a", { forwardQuery: true })).toMatchObject({ location })
  })

  it("leads nowhere where the address would be too long", () => {
    const path = "p".repeat(locationLengthMax - link.url.length)
    expect(follow(link.url, path)).toMatchObject({ location: `${link.url}${path}` })
    expect(follow(link.url, `${path}p`)).toMatchObject({ location: { kind: "uri-too-long" } })
  })

  const page = { kind: "refuse", problem: { kind: "not-found", page: "no-page" } }

  it.each(
    "..|.|a/../b|../|a/..|%2e%2E|.%2e/a|a%2f..%2fb|..%5Ca|..\\a|a\\..|%252e%252e|a%252f..|..;/a|..;x=1/a|..%3b/a".split(
      "|"
    )
  )("is nowhere at %s", (path) => {
    expect(follow(link.url, path)).toMatchObject(page)
  })

  it("is the only one that does, and one that has ended says so", () => {
    expect(decide(null, { path: "a" })).toMatchObject(page)
    expect(decide({}, { path: "a" })).toMatchObject(page)
    expect(decide({ expiresAt: 1 }, { path: "a" })).toMatchObject(page)
    expect(follow(link.url, "a", { expiresAt: 1 })).toMatchObject({
      kind: "refuse",
      problem: { kind: "gone" }
    })
    expect(follow(link.url, "a", { passwordHash: "x" })).toEqual({ kind: "ask-password" })
  })

  it("stays below its target's path, whatever comes", () => {
    const part = fc.constantFrom(
      ..."/ // \\ . .. %2e %2E %252e %2f %5c %255C ; : @ a %00 %0a ä ? # http: evil.example & = %".split(" ")
    )
    const paths = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(""))
    const bases = fc.constantFrom(
      "https://example.com/",
      "https://example.com/base",
      "https://example.com/base/?q#f"
    )
    fc.assert(
      fc.property(bases, paths, (url, path) => {
        const decision = follow(url, path)
        if (decision.kind === "refuse") return
        if (decision.kind !== "redirect" || isProblem(decision.location)) throw new Error("no location")
        expect(decision.location).toMatch(/^[\x21-\x7e]*$/)
        const [base, led] = [new URL(url), new URL(decision.location)]
        expect([led.origin, led.search, led.hash]).toEqual([base.origin, base.search, base.hash])
        let { pathname } = led
        expect(pathname.startsWith(base.pathname)).toBe(true)
        // As a server may decode it, however often.
        for (let times = 0; times < 4; times++) {
          pathname = unescape(pathname)
          const parts = pathname.slice(base.pathname.length).split(/[/\\]/)
          expect(parts).not.toContain("..")
          expect(parts).not.toContain(".")
        }
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("a link that does not", () => {
  it("leads to its target alone", () => {
    expect(locate("https://example.com/a", "b=c", false)).toBe("https://example.com/a")
  })
})

describe("the query of a request's path", () => {
  it.each([
    ["/key", ""],
    ["/key?", ""],
    ["/key?a=b?c", "a=b?c"]
  ])("of %s is %j", (path, query) => {
    const location = query === "" ? link.url : `${link.url}?${query}`
    expect(decide({ forwardQuery: true }, { url: path })).toMatchObject({ location })
  })
})
