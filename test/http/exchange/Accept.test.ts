import { FastCheck as fc } from "effect"
import Negotiator from "negotiator"
import { describe, expect, it } from "vitest"
import { formFor } from "../../../src/http/exchange/Accept.ts"
import { themeOf } from "../../../src/http/pages/ThemeCookie.ts"

const types = {
  page: ["text/html", "application/problem+json", "application/json"],
  json: ["application/problem+json", "application/json", "text/html"]
}

describe("the form of an answer", () => {
  it("is what the header prefers, by all rules of its standard", () => {
    const range = fc.constantFrom(
      "text/html",
      "text/*",
      "*/*",
      "application/json",
      "application/*",
      "image/png",
      "a"
    )
    const parameter = fc.constantFrom("", ";q=0", ";q=0.5", ";q=1", ";level=1", "; q=0.9")
    // The standard does not say what a range means that comes twice.
    const accept = fc
      .uniqueArray(fc.tuple(range, parameter), { minLength: 1, maxLength: 4, selector: ([range]) => range })
      .map((parts) => parts.map((part) => part.join("")).join(","))
    fc.assert(
      fc.property(accept, fc.constantFrom("page" as const, "json" as const), (accept, otherwise) => {
        const preferred = new Negotiator({ headers: { accept } }).mediaType(types[otherwise])
        const expected = preferred === undefined ? otherwise : preferred === "text/html" ? "page" : "json"
        expect(formFor({ headers: { accept } }, otherwise), accept).toBe(expected)
      }),
      { numRuns: 5_000 }
    )
  })

  it("is left to the service where there is no header", () => {
    expect([formFor({ headers: {} }, "page"), formFor({ headers: {} }, "json")]).toEqual(["page", "json"])
  })
})

describe("the colours of a page", () => {
  it.each([
    [undefined, "auto"],
    ["", "auto"],
    ["linkmint_theme=dark", "dark"],
    ["a=b; linkmint_theme=light; c=d", "light"],
    ["linkmint_theme=darker", "auto"],
    ["x_linkmint_theme=dark", "auto"],
    ["linkmint_theme=", "auto"]
  ])("of the cookies %j are %s", (cookies, theme) => expect(themeOf(cookies)).toBe(theme))
})
