import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { locationLengthMax, locationOf, queryOf } from "../../../src/http/redirects/Redirect.ts"

const locate = (url: string, query: string, forwardQuery = true) =>
  Either.match(locationOf({ url, forwardQuery }, query), {
    onLeft: ({ kind }) => kind,
    onRight: (location) => location
  })

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
  ])("of %s is %j", (path, query) => expect(queryOf(path)).toBe(query))
})
