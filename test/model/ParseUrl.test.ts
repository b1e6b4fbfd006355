import { describe, expect, it } from "vitest"
import { parseUrl } from "../../src/model/ParseUrl.ts"

describe("parseUrl", () => {
  it("knows URLs from other texts", () => {
    expect(parseUrl("https://a.example/b")?.href).toBe("https://a.example/b")
    expect(parseUrl("a.example")).toBeUndefined()
  })

  it("reads characters of Latin-1, however often it was called", () => {
    const text = "https://bücher.example/"
    const hosts = new Set(Array.from({ length: 100_000 }, () => parseUrl(text)?.hostname))
    expect(hosts).toEqual(new Set(["xn--bcher-kva.example"]))
  })
})
