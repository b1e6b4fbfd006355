import { describe, expect, it } from "vitest"
import { utmOf, withUtm } from "../../../src/http/web/utm/utm.ts"

describe("UTM parameters", () => {
  it.each([
    ["https://a.example/", {}],
    ["", {}],
    [
      "https://a.example/?utm_source=news&x=1&utm_medium=e-mail#utm_term=no",
      { source: "news", medium: "e-mail" }
    ],
    ["https://a.example/?utm_source=one&utm_source=two", { source: "one" }],
    [
      "https://a.example/?utm_term=running+shoes&utm_content=50%25",
      { term: "running shoes", content: "50%" }
    ],
    ["https://a.example/?utm_source", { source: "" }],
    ["https://a.example/?utm_source=%E4%ZZ", { source: "%E4%ZZ" }],
    ["https://a.example/?utm_id=7&UTM_SOURCE=shouted", {}]
  ])("of %s are %j", (url, values) => {
    expect(utmOf(url)).toEqual(values)
  })

  it.each([
    ["https://a.example", { source: "news" }, "https://a.example?utm_source=news"],
    [
      "https://a.example/p?b=%2f&a=+#top",
      { source: "a & b" },
      "https://a.example/p?b=%2f&a=+&utm_source=a+%26+b#top"
    ],
    ["https://a.example/?utm_source=old&x=1", { source: "new" }, "https://a.example/?x=1&utm_source=new"],
    [
      "https://a.example/?utm_source=one&utm_source=two",
      { source: "three" },
      "https://a.example/?utm_source=three"
    ],
    ["https://a.example/?utm_source=old", { source: " " }, "https://a.example/"],
    ["https://a.example/?utm_source=a%20b", { source: "a b" }, "https://a.example/?utm_source=a%20b"],
    ["https://a.example/?&&x", {}, "https://a.example/?&&x"],
    ["a.example/?x", { campaign: "\ud800" }, "a.example/?x&utm_campaign=%EF%BF%BD"]
  ])("of %s with %j: %s", (url, values, built) => {
    expect(withUtm(url, values)).toBe(built)
  })

  it("are read as they were written, and leave the rest of the URL alone", () => {
    const values = { source: "ä+ö", medium: "a=b&c#d?e", campaign: "100 %" }
    const built = withUtm("https://a.example/?keep=%7E&empty=#part", values)
    expect(utmOf(built)).toEqual(values)
    expect(withUtm(built, { source: "", medium: "", campaign: "" })).toBe(
      "https://a.example/?keep=%7E&empty=#part"
    )
  })
})
