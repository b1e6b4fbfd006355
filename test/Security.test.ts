import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const document = readFileSync(join(import.meta.dirname, "../docs/security.md"), "utf8")

/** The requirements of levels 1 and 2 of OWASP ASVS 4.0.3: by section their numbers, and ranges of them. */
const sections = `
  1.1:1-7 1.2:1-4 1.4:1,4-5 1.5:1-4 1.6:1-4 1.7:1-2 1.8:1-2 1.9:1-2 1.10:1 1.11:1-2 1.12:2 1.14:1-6
  2.1:1-12 2.2:1-3 2.3:1-3 2.4:1-5 2.5:1-7 2.6:1-3 2.7:1-6 2.8:1-7 2.9:1-3 2.10:1-4
  3.1:1 3.2:1-4 3.3:1-4 3.4:1-5 3.5:1-3 3.7:1
  4.1:1-3,5 4.2:1-2 4.3:1-3
  5.1:1-5 5.2:1-8 5.3:1-10 5.4:1-3 5.5:1-4
  6.1:1-3 6.2:1-6 6.3:1-2 6.4:1-2
  7.1:1-4 7.2:1-2 7.3:1,3-4 7.4:1-3
  8.1:1-4 8.2:1-3 8.3:1-8
  9.1:1-3 9.2:1-4
  10.2:1-2 10.3:1-3
  11.1:1-8
  12.1:1-3 12.2:1 12.3:1-6 12.4:1-2 12.5:1-2 12.6:1
  13.1:1,3-5 13.2:1-3,5-6 13.3:1-2 13.4:1-2
  14.1:1-4 14.2:1-6 14.3:2-3 14.4:1-7 14.5:1-4
`

const rangeOf = (text: string): ReadonlyArray<number> => {
  const [first, last = first] = text.split("-").map(Number) as [number, number?]
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

const requirements = sections
  .trim()
  .split(/\s+/)
  .flatMap((section) => {
    const [name, numbers] = section.split(":") as [string, string]
    return numbers.split(",").flatMap((text) => rangeOf(text).map((number) => `${name}.${number}`))
  })

const [, chapters = ""] = document.split("\n## OWASP ASVS 4.0.3, level 2\n")

const rows = [...chapters.matchAll(/^\| (\d+\.\d+\.\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|$/gm)].map(
  ([, number, asks, state, here, proof]) => ({
    number: number!,
    asks: asks!,
    state: state!,
    here: here!,
    proof: proof!
  })
)

const proven = new Set(["met", "partly"])
const unproven = new Set(["operator", "not met", "n/a"])

describe("the table of OWASP ASVS 4.0.3", () => {
  it("has every requirement of levels 1 and 2 once, in order", () => {
    expect(requirements).toHaveLength(259)
    expect(rows.map(({ number }) => number)).toEqual(requirements)
  })

  it.each(rows)(
    "$number says what holds, and names tests that are there or says why there are none",
    (row) => {
      expect(row.here).toMatch(/\w{2}/)
      const files = [...row.proof.matchAll(/`([^`]+)`/g)].map(([, file]) => file!)
      for (const file of files) expect(existsSync(join(import.meta.dirname, file)), file).toBe(true)
      if (proven.has(row.state)) {
        expect(files.length > 0 || /^no test: \S/.test(row.proof), row.proof).toBe(true)
      } else {
        expect(unproven).toContain(row.state)
      }
    }
  )

  it("counts its rows by state", () => {
    const counted = [...document.matchAll(/^\| (met|partly|operator|not met|n\/a) \| .* \| (\d+) \|$/gm)]
    const counts = Object.fromEntries(counted.map(([, state, count]) => [state!, Number(count)]))
    const actual = Object.fromEntries(
      [...proven, ...unproven].map((state) => [state, rows.filter((row) => row.state === state).length])
    )
    expect(counts).toEqual(actual)
  })
})
