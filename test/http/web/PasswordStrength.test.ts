import { describe, expect, it } from "vitest"
import { strengthOf, strengths } from "../../../src/http/web/ui/passwordStrength.ts"

const wordOf = (password: string) => strengths[strengthOf(password, 12)]

describe("the strength of a password", () => {
  it.each([
    ["", "tooShort"],
    ["correct", "tooShort"],
    ["😀".repeat(11), "tooShort"],
    ["aaaaaaaaaaaaaaaaaaaaaaaa", "weak"],
    ["abababababababababababab", "weak"],
    ["abcdefghijklmnopqrstuvwxyz", "weak"],
    ["12345678901234567890", "weak"],
    ["qzmtvkxwpjrb", "fair"],
    ["Tr0ub4dor&3xyq", "good"],
    ["correct horse battery staple", "strong"],
    ["zażółć gęślą jaźń, proszę", "strong"]
  ])("of %j is: %s", (password, word) => {
    expect(wordOf(password)).toBe(word)
  })

  it("never falls with a character that is added", () => {
    const text = "correct horse battery staple"
    const strengths = Array.from(text, (_, index) => strengthOf(text.slice(0, index + 1), 12))
    expect(strengths).toEqual(strengths.toSorted((one, other) => one - other))
  })
})
