import Papa from "papaparse"
import { describe, expect, it } from "vitest"
import { read, readLines } from "../../../src/http/web/import/formats.ts"

const parse = (csv: string, keepsKeys = true) => read(Papa.parse<Array<string>>(csv).data, keepsKeys)
const linksOf = (csv: string, keepsKeys = true) => parse(csv, keepsKeys).rows.map(({ link }) => link)

describe("the import of files", () => {
  it("knows Bitly's, with the custom link before the other", () => {
    const csv = `Link,Custom Link,Long URL,Title,Tags,Date Created
https://bit.ly/3xYzAb1,,https://example.com/a,First,"news, old",2024-01-01
https://bit.ly/3xYzAb2,https://brand.example/launch,https://example.com/b,,,2024-01-02`
    expect(parse(csv).source).toBe("Bitly")
    expect(linksOf(csv)).toEqual([
      { url: "https://example.com/a", alias: "3xYzAb1", title: "First", tags: ["news", "old"] },
      { url: "https://example.com/b", alias: "launch" }
    ])
    expect(linksOf("long_url,link,title,tags\nhttps://example.com/a,https://bit.ly/abc,T,[]")).toEqual([
      { url: "https://example.com/a", alias: "abc", title: "T" }
    ])
  })

  it("knows YOURLS'", () => {
    const csv = `keyword,url,title,timestamp,ip,clicks
docs,https://example.com/docs,"Docs, all",2020-05-05 10:00:00,127.0.0.1,12`
    expect(parse(csv).source).toBe("YOURLS")
    expect(linksOf(csv)).toEqual([{ url: "https://example.com/docs", alias: "docs", title: "Docs, all" }])
  })

  it("knows Shlink's, whose tags stand between bars", () => {
    const csv = `createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits
2025-10-09T05:26:23+00:00,s.example,camp,https://s.example/camp,https://example.com/camp,Camp,one|two,4`
    expect(parse(csv).source).toBe("Shlink")
    expect(linksOf(csv)).toEqual([
      { url: "https://example.com/camp", alias: "camp", title: "Camp", tags: ["one", "two"] }
    ])
    expect(linksOf("createdAt,shortUrl,longUrl\n,https://s.example/x1y,https://example.com/")).toEqual([
      { url: "https://example.com/", alias: "x1y" }
    ])
  })

  it("knows Kutt's, with the end of a link", () => {
    const csv = `address,target,description,expire_in,visit_count
kutty,https://example.com/k,Kutt,2999-01-01T00:00:00Z,3`
    expect(parse(csv).source).toBe("Kutt")
    expect(linksOf(csv)).toEqual([
      { url: "https://example.com/k", alias: "kutty", title: "Kutt", expiresAt: "2999-01-01T00:00:00.000Z" }
    ])
  })

  it("knows our own export, and files without names of columns", () => {
    expect(
      linksOf(
        "key,shortUrl,url,title,tags,hasPassword\nabcdefg,http://x/abcdefg,https://example.com/,T,a|b,false"
      )
    ).toEqual([{ url: "https://example.com/", alias: "abcdefg", title: "T", tags: ["a", "b"] }])
    expect(linksOf("https://example.com/1,first\nhttps://example.com/2")).toEqual([
      { url: "https://example.com/1", alias: "first" },
      { url: "https://example.com/2" }
    ])
  })

  it("leaves keys out where they cannot be aliases or are not wanted", () => {
    const csv = "keyword,url\nab,https://example.com/1\nok-key,https://example.com/2"
    expect(linksOf(csv).map(({ alias }) => alias)).toEqual([undefined, "ok-key"])
    expect(linksOf(csv, false).map(({ alias }) => alias)).toEqual([undefined, undefined])
  })

  it("names the lines that are no links, and why", () => {
    const { rows, skipped } = parse(`keyword,url,expiresAt
one,https://example.com/,
two,ftp://example.com/,
three,,
four,https://example.com/4,2001-01-01T00:00:00Z`)
    expect(rows.map(({ line }) => line)).toEqual([2])
    expect(skipped).toEqual([
      { line: 3, text: "ftp://example.com/", reason: "is no http or https URL" },
      { line: 4, text: "three, , ", reason: "has no URL" },
      { line: 5, text: "https://example.com/4", reason: "has ended already" }
    ])
  })
})

describe("pasted lines", () => {
  it("are a URL each, with an alias behind a space, and without empty ones", () => {
    const { rows, skipped } = readLines(
      "https://example.com/1\n\n example.com/2 second\nmailto:me@example.com\n"
    )
    expect(rows).toEqual([
      { line: 1, link: { url: "https://example.com/1" } },
      { line: 3, link: { url: "https://example.com/2", alias: "second" } }
    ])
    expect(skipped).toEqual([{ line: 4, text: "mailto:me@example.com", reason: "is no http or https URL" }])
  })
})
