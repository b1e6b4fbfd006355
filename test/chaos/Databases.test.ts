import { describe, expect, it } from "@effect/vitest"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Arguments from "../../chaos/databases/Arguments.ts"
import * as Checks from "../../chaos/databases/Checks.ts"
import type { Contents } from "../../chaos/databases/Contents.ts"
import { guardOf, operations, Traffic } from "../../chaos/databases/Traffic.ts"

const limits: Checks.Limits = { redirects: 0.999, others: 1, unwritten_ms: 5_000, back_ms: 30_000 }

describe("what is judged of several databases", () => {
  const judging = () => {
    const broken: Array<string> = []
    return { broken, violate: (promise: string) => void broken.push(promise) }
  }
  const traffic = () => new Traffic({ adminKey: "k", chance: () => 0, seeded: 1 })
  const moved = { from: 1, to: 0, buckets: 1, rows: 1, seconds: 1, unwritten_ms: 10, killed: null }

  it("is broken where one redirect of ten thousand too many is wrong, or any create", () => {
    const { broken, violate } = judging()
    const seen = traffic()
    const strict = { ...limits, redirects: 0.9999 }
    Object.assign(seen.tallyOf("moves", "hot"), { sent: 20_000, right: 19_999 })
    Object.assign(seen.tallyOf("moves", "cold", "node killed"), { sent: 1 })
    Checks.judgeMoves(violate, seen, [moved], strict)
    expect(broken).toEqual([])
    Object.assign(seen.tallyOf("moves", "cold", "node killed"), { sent: 2 })
    Checks.judgeMoves(violate, seen, [moved], strict)
    expect(broken).toEqual(["moves"])
    Object.assign(seen.tallyOf("moves", "create"), { sent: 2, right: 1 })
    Checks.judgeMoves(violate, seen, [{ ...moved, unwritten_ms: 5_001 }], limits)
    expect(broken.splice(0)).toEqual(["moves", "moves", "moves"])
  })

  it("is broken where more than the allowed part of other requests is wrong", () => {
    const { broken, violate } = judging()
    const seen = traffic()
    const lenient = { ...limits, others: 0.95 }
    Object.assign(seen.tallyOf("moves", "hot"), { sent: 1_000, right: 1_000 })
    Object.assign(seen.tallyOf("moves", "create"), { sent: 100, right: 95 })
    Checks.judgeMoves(violate, seen, [moved], lenient)
    expect(broken).toEqual([])
    Object.assign(seen.tallyOf("moves", "create"), { right: 94 })
    Checks.judgeMoves(violate, seen, [moved], lenient)
    expect(broken).toEqual(["moves"])
  })

  it("is broken where a request fails that a database which is away has no part in", () => {
    const { broken, violate } = judging()
    const seen = traffic()
    for (const operation of operations) Object.assign(seen.tallyOf("away", operation), { sent: 2, right: 2 })
    Object.assign(seen.tallyOf("away", "cold", "away"), { sent: 2, right: 0 })
    Checks.judgeAway(violate, seen, 100, limits)
    expect(broken).toEqual([])
    Object.assign(seen.tallyOf("away", "list"), { right: 1 })
    Checks.judgeAway(violate, seen, null, limits)
    expect(broken).toEqual(["away", "return"])
  })

  it("is broken where contents differ, or rows are where their bucket is not", () => {
    const { broken, violate } = judging()
    const contents = (rows: number, sum: string, misplaced = 0): Contents => [
      [{ table: "links", rows, sum, misplaced }]
    ]
    Checks.judgeContents(violate, "now", contents(2, "5"), contents(2, "5"), true)
    expect(broken).toEqual([])
    Checks.judgeContents(violate, "now", contents(2, "5"), contents(2, "6"), true)
    Checks.judgeContents(violate, "now", contents(2, "5"), contents(2, "5", 1), false)
    expect(broken).toEqual(["contents", "C1"])
  })

  it("is broken where a key or a guard is there twice, a create made two links, or its guard is lost", () => {
    const { broken, violate } = judging()
    const keyed = [{ requestId: "r", url: "u", key: "a" }]
    const link = (key: string) => ({ key, url: "u" })
    const guard = { name: guardOf("r"), key: "a" }
    const visits = new Map<string, number>()
    Checks.judgeWritten(violate, { keyed }, { links: [link("a")], guards: [guard], visits })
    expect(broken).toEqual([])
    Checks.judgeWritten(violate, { keyed }, { links: [link("a"), link("a")], guards: [guard, guard], visits })
    expect(broken.splice(0)).toEqual(["C1", "C7", "C7"])
    Checks.judgeWritten(violate, { keyed }, { links: [link("a"), link("b")], guards: [guard], visits })
    Checks.judgeWritten(violate, { keyed }, { links: [link("a")], guards: [], visits })
    expect(broken).toEqual(["C7", "C7"])
  })

  it("counts visits that are lost and counted twice by link", () => {
    const { broken, violate } = judging()
    const visits = new Map([
      ["a", { answered: 5, uncertain: 1 }],
      ["b", { answered: 5, uncertain: 0 }]
    ])
    const judged = (a: number, b: number, lostMax: number) =>
      Checks.judgeVisits(
        violate,
        { visits },
        new Map([
          ["a", a],
          ["b", b]
        ]),
        lostMax
      )
    expect(judged(6, 4, 1)).toMatchObject({ counted: 10, lost: 1, doubled: 0 })
    expect(broken).toEqual([])
    expect(judged(7, 4, 1)).toMatchObject({ lost: 1, doubled: 1 })
    judged(5, 4, 0)
    expect(broken).toEqual(["C11", "C11"])
  })

  it("knows by the load balancer's log which redirects it asked for again", () => {
    const log = join(mkdtempSync(join(tmpdir(), "linkmint-")), "log")
    const line = (retries: string, request: string) =>
      `127.0.0.1:33598 [25/Nov/2026:10:32:08.362] http redirects/node-3 0/1102/0/294/1396 302 259 - - ---- 112/112/16/2/${retries} 0/0 {chaos-7498} "${request} HTTP/1.1"`
    writeFileSync(
      log,
      [
        line("+1", "GET /cold-6939"),
        line("0", "GET /once"),
        line("+2", "POST /api/v1/links"),
        line("2", "GET /same"),
        ""
      ].join("\n")
    )
    expect(Checks.repeatsOf({ log })).toEqual([
      { key: "cold-6939", times: 1 },
      { key: "same", times: 2 }
    ])
    const seen = traffic()
    seen.askedAgain("cold-6939", 1)
    expect(seen.visits.get("cold-6939")).toEqual({ answered: 0, uncertain: 1 })
  })

  it("understands its arguments", () => {
    const parse = (...args: ReadonlyArray<string>) => Arguments.parse(args, "/there")
    expect(parse()).toMatchObject({ right: { links: 4_000_000, away_s: 60, logs: null } })
    expect(parse("--links", "20000", "--away", "9", "--logs", "l")).toMatchObject({
      right: { links: 20_000, away_s: 9, logs: "/there/l" }
    })
    expect(parse("--links", "many")).toMatchObject({ left: expect.stringContaining("--links") })
    expect(parse("--help")).toMatchObject({ right: "help" })
  })
})
