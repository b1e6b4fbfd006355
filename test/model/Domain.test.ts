import { describe, expect, it } from "vitest"
import { parseHost } from "../../src/model/Domain.ts"

describe("parseHost", () => {
  it.each([
    ["go.example.com", "go.example.com"],
    ["GO.Example.COM", "go.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["go", "go"],
    ["a-b.1x", "a-b.1x"]
  ])("reads %s as %s", (text, host) => {
    expect(parseHost(text)).toBe(host)
  })

  it.each([
    "",
    ".",
    "example.com.",
    "example.com:443",
    "https://example.com",
    "example.com/",
    "example.com?a",
    "exam\nple.com",
    "a%2eb",
    "user@example.com",
    "a b.example",
    "-a.example",
    "a_b.example",
    "1.2.3.4",
    "127.1",
    "0x7f000001",
    "[::1]",
    "a..b",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}ab`
  ])("takes %j for no host name", (text) => {
    expect(parseHost(text)).toBeUndefined()
  })
})
