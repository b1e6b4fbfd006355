import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { engraving } from "../../../src/http/pages/Engraving.ts"
import { markup } from "../../../src/http/pages/Html.ts"
import { make } from "../../../src/http/pages/VisitorPages.ts"

/** What a browser reads of escaped text. */
const read = (html: string) =>
  html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

describe("a template", () => {
  it("escapes all text that is put into it, and nothing else", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[<>"'&/=a-z ]*$/))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const { text } = markup`<p title="${one}">${other}</p>`
        const [, title, content, ...rest] = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(text)!
        expect(rest).toEqual([])
        expect([title, content].join("")).not.toMatch(/[<>"']/)
        expect([read(title!), read(content!)]).toEqual([one, other])
      }),
      { numRuns: 1_000 }
    )
  })

  it("takes templates as they are, also several, and numbers, and nothing", () => {
    const bold = markup`<b>${"<"}</b>`
    expect(markup`${bold}${[bold, bold]}${1}${undefined}|`.text).toBe(
      "<b>&#60;</b><b>&#60;</b><b>&#60;</b>1|"
    )
  })

  it("is not deceived by text that only looks like one", () => {
    const forged = { text: "<b>" } as unknown as string
    expect(markup`${forged}`.text).not.toContain("<b>")
  })
})

const previewOf = (fields: object) =>
  make({ files: { stylesheet: "/assets/visitor-abc.css", icon: undefined } }).preview(
    { headers: { accept: "text/html" } },
    {
      key: "key",
      shortUrl: "https://lnk.example/key",
      url: "https://example.com/",
      createdAt: "2026-11-21T10:00:00.000Z",
      visits: 1_234_567,
      ...fields
    }
  ).body

describe("a preview", () => {
  it.each([
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    " https://example.com/",
    "//example.com/",
    "https://",
    ""
  ])("leads nowhere but to the web, whatever was stored: %j", (url) => {
    const page = previewOf({ url })
    expect([...page.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href)).toEqual(["/", "/"])
    expect(page).not.toContain("<script>")
  })

  it("has nothing in it that is not text, whatever was stored", () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`
    const page = previewOf({
      key: hostile,
      shortUrl: hostile,
      url: null,
      createdAt: "2026-11-21T10:00:00.000Z"
    })
    expect(page).not.toMatch(/<script|<img|onerror='/)
  })

  it.each([
    ["https://s/s", "https://<strong>s</strong>/s"],
    ["http://[2001:db8::1]:8080/", "http://<strong>[2001:db8::1]:8080</strong>/"],
    [
      "https://example.com.evil.example/example.com",
      "https://<strong>example.com.evil.example</strong>/example.com"
    ],
    ["https://xn--bcher-kva.example/", "https://<strong>xn--bcher-kva.example</strong>/"]
  ])("shows whose site it leads to: %s", (url, shown) => expect(previewOf({ url })).toContain(`>${shown}<`))

  it("of the longest target is bounded", () => {
    const url = `https://example.com/?${"&".repeat(2_048 - 21)}`
    expect(url.length).toBe(2_048)
    expect(Buffer.byteLength(previewOf({ url }))).toBeLessThanOrEqual(24 * 1_024)
  })

  it("writes numbers as people do", () => expect(previewOf({})).toContain("<dd>1,234,567</dd>"))
})

describe("an engraving", () => {
  const seed = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)

  it("is that of its seed, is short, and has each name once", () => {
    fc.assert(
      fc.property(seed, (seed) => {
        const { text } = engraving(seed)
        expect(engraving(seed).text).toBe(text)
        expect(text.length).toBeLessThanOrEqual(1_900)
        const names = [...text.matchAll(/ id="([^"]*)"/g)].map(([, name]) => name)
        expect(new Set(names).size).toBe(names.length)
        for (const [, name] of text.matchAll(/href="#([^"]*)"/g)) expect(names).toContain(name)
      })
    )
    expect(engraving("abc").text).not.toBe(engraving("abd").text)
  })
})
