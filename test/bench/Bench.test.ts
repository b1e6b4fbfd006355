import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { inject } from "vitest"
import { parse } from "../../bench/Arguments.ts"
import { atLeast, atMost, isMet, type Result } from "../../bench/Case.ts"
import { cases } from "../../bench/Cases.ts"
import { keyOf } from "../../bench/Links.ts"
import { inserted, markdown, summary, told } from "../../bench/Report.ts"
import { median, plainRow } from "../../bench/Rounds.ts"
import { run, type Variables } from "../e2e/Program.ts"
import { describePostgres } from "../support/services/postgres/Postgres.ts"

const server = inject("postgres")

/** On the PostgreSQL of the tests, unless it says otherwise. */
const benchWith = (variables: Variables, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const own = { TEST_DATABASE_URL: server._tag === "Running" ? server.url : undefined }
    const program = yield* run(process.execPath, ["dist/bench/main.js", ...args], { ...own, ...variables })
    const { code } = yield* program.ended
    return { code, output: program.output() }
  })

const bench = (...args: ReadonlyArray<string>) => benchWith({}, ...args)

describe("npm run bench", () => {
  it.scopedLive("lists its cases, and refuses one that it does not have", () =>
    Effect.gen(function* () {
      const list = yield* bench("--list")
      expect(list.code).toBe(0)
      for (const { name, title } of cases) expect(list.output).toContain(`${name.padEnd(10)}${title}\n`)
      const unknown = yield* bench("--case", "nothing")
      expect(unknown.code).toBe(2)
      expect(unknown.output).toMatch(/--case must be one of hot, .*, not "nothing"/)
    })
  )

  it.scopedLive(
    "tells of a case that fails, goes on with the others, and ends with status 1",
    () =>
      Effect.gen(function* () {
        const nowhere = { TEST_DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" }
        const { code, output } = yield* benchWith(nowhere, "--quick", "--case", "hot", "--case", "memory")
        expect(code).toBe(1)
        expect(output).toMatch(/^ {2}FAILED: .*the server does not answer/m)
        expect(output).toMatch(/^ {2}a key in the KeyBuffer +\d+(\.\d+)? bytes/m)
        expect(output).toMatch(/of 2 cases met what they must reach; .*failed: hot$/m)
      }),
    240_000
  )
})

describePostgres("npm run bench with PostgreSQL", () => {
  it.scopedLive(
    "measures redirects in its short form, and counts every visit",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* bench("--quick", "--case", "hot")
        expect(output).not.toMatch(/FAILED/)
        expect(code).toBe(0)
        for (const subject of ["bare node:http, fixed 302", "Linkmint on PostgreSQL", "Linkmint on SQLite"]) {
          // At the end of the line: no errors.
          expect(output).toMatch(new RegExp(`^  ${subject} +\\d[\\d,.]* redirects/s.* –$`, "m"))
        }
        expect(output).toMatch(/^ {2}met: visits counted on PostgreSQL, of all redirects: ≥ 0.99; reached/m)
        expect(output).toMatch(/^ {2}met: visits counted on SQLite/m)
      }),
    240_000
  )
})

describe("arguments", () => {
  it("choose cases, and whether results are written", () => {
    const read = (...args: ReadonlyArray<string>) => parse(args, ["a", "b"])
    expect(read()).toMatchObject({ right: { cases: [], quick: false, write: true } })
    expect(read("--case", "b", "--case", "a")).toMatchObject({ right: { cases: ["b", "a"], write: true } })
    expect(read("--quick")).toMatchObject({ right: { quick: true, write: false } })
    expect(read("--no-write")).toMatchObject({ right: { quick: false, write: false } })
    expect(read("--links", "1000000")).toMatchObject({ right: { upgradedLinks: 1_000_000 } })
    for (const links of ["999", "1e6", "100000001"]) {
      expect(read("--links", links)).toMatchObject({ left: expect.stringMatching(/^--links must be/) })
    }
    expect(read("a")).toMatchObject({ left: expect.stringMatching(/Unexpected argument 'a'/) })
  })
})

const row = plainRow({ subject: "it", unit: "things/s", rounds: [1_000, 3_000, 2_000] })

const result = (name: string, parts: Partial<Result>): Result => ({
  name,
  title: `Title of ${name}`,
  seconds: 1,
  failure: null,
  found: { rows: [row], goals: [], notes: ["A note."] },
  ...parts
})

const met = result("good", { found: { rows: [row], goals: [atLeast("ratio", 0.85, 0.85)], notes: [] } })
const missed = result("slow", {
  found: { rows: [row], goals: [atLeast("ratio", 1, 2), atMost("p99", 5, " ms", 5.1)], notes: [] }
})
const failed = result("broken", { found: null, failure: "it cannot start" })

describe("a report", () => {
  it("has the median of the rounds", () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(row.median).toBe(2_000)
  })

  it("says of each case whether it is met", () => {
    expect([met, missed, failed].map(isMet)).toEqual([true, false, false])
    expect(isMet(result("plain", {}))).toBe(true)
    expect(summary([met, missed, failed])).toBe(
      "1 of 3 cases met what they must reach; not met: slow; failed: broken"
    )
    expect(told(met)).toMatch(/^ {2}met: ratio ≥ 0.85; reached 0.85$/m)
    expect(told(missed)).toMatch(/^ {2}NOT MET: p99 ≤ 5 ms; reached 5.10 ms$/m)
    expect(told(failed)).toMatch(/^ {2}FAILED: it cannot start$/m)
  })

  it("takes a figure with errors for not met", () => {
    expect(atLeast("ratio", 1, 2, 1)).toMatchObject({ met: false, reached: "2.00, with 1 errors" })
    expect(atMost("p99", 5, " ms", 1, 1)).toMatchObject({ met: false })
  })

  it("takes the place of the last one in the document, and of nothing else", () => {
    const machine = {
      commit: "abc",
      cpu: "a CPU",
      cores: 2,
      memory_GB: 4,
      kernel: "6",
      node: "v20",
      postgres: "15",
      load: "wrk",
      busy: 0
    }
    const part = markdown({
      at: "2026-01-02T03:04:05Z",
      machine,
      seconds: 60,
      results: [met, missed, failed]
    })
    expect(part).toMatch(/^\| it \| 2,000 things\/s \| 1,000 – 3,000 \|/m)
    expect(part).toMatch(/^- \*\*not met\*\*: p99 ≤ 5 ms; reached 5.10 ms$/m)
    expect(part).toMatch(/^\*\*Failed\*\*: it cannot start$/m)
    const first = inserted("# Benchmarks\n\nBefore.\n", "old")
    const again = inserted(`${first}\nAfter.\n`, part)
    expect(again.startsWith("# Benchmarks\n\nBefore.\n\n<!-- results -->\n\nMeasured on 2026-01-02")).toBe(
      true
    )
    expect(again.endsWith("<!-- /results -->\n\nAfter.\n")).toBe(true)
    expect(again).not.toContain("old")
    expect(inserted(again, part)).toBe(again)
  })
})

describe("links written past the program", () => {
  it("have keys of their own, in their order, of seven characters of Base62", () => {
    const keys = [1, 2, 1_000, 999_999, 10_000_000].map(keyOf)
    for (const key of keys) expect(key).toMatch(/^[0-9A-Za-z]{7}$/)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
