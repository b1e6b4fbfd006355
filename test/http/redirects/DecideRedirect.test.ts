import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { decideRedirect, isProblem, locationLengthMax } from "../../../src/http/redirects/Redirect.ts"
import type { Link } from "../../../src/model/Link.ts"
import { plainRow } from "../../support/Plain.ts"

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

const decide = (
  row: Partial<Link> | null,
  { isUnlocked = false, method = "GET", targets = anywhere, url = "/k" } = {}
) => decideRedirect(row === null ? null : { ...link, ...row }, { method, url }, now, targets, isUnlocked)

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
    const targets = { faultOf: () => "is blocked" }
    expect(decide({}, { targets } as never)).toMatchObject({ kind: "refuse", problem: { kind: "gone" } })
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
