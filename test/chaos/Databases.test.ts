import { describe, expect, it } from "@effect/vitest"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bucketOf } from "../../src/keys/Buckets.ts"
import type { Client } from "../../chaos/Client.ts"
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
  const homes = [0, 1, 2, 3].map((home) => Array.from({ length: 64 }, (_, n) => 4 * n + home))
  const once = { adminKey: "k", chance: () => 0, homes, patience_ms: 0, seeded: 1 }
  const traffic = () => new Traffic(once)
  const moved = { from: 1, to: 0, buckets: 1, rows: 1, seconds: 1, unwritten_ms: 10, killed: null }

  it("is about links of every database, though most that were made first are in one", async () => {
    const all = Array.from({ length: 400 }, (_, n) => `k${n}`)
    const homeOf = (key: string) => bucketOf(key) % 4
    const keys = [
      ...all.filter((key) => homeOf(key) === 1).slice(0, 50),
      ...all.filter((key) => homeOf(key) !== 1)
    ]
    const asked: Array<string> = []
    const client = {
      ask: ({ method, path }: { readonly method: string; readonly path: string }) => {
        if (method === "GET") asked.push(path.slice(1))
        const [status, body] = method === "GET" ? [302, ""] : [201, JSON.stringify({ key: keys.shift() })]
        return Promise.resolve({ status, body, headers: {} })
      }
    } as unknown as Client
    let turn = 0
    const seen = new Traffic({ ...once, chance: () => (turn++ % 97) / 97 })
    for (let times = 0; times < 120; times++) await seen.warmUp(client)
    for (let times = 0; times < 97; times++) await seen.turns.hot(client)
    const changed = Array.from({ length: 20 }, () => seen.acknowledged.takeForChange("u")?.key).filter(
      (key) => key !== undefined
    )
    for (const some of [asked, changed]) {
      expect(new Set(some.map(homeOf))).toEqual(new Set([0, 1, 2, 3]))
      expect(some.filter((key) => homeOf(key) === 1).length).toBeLessThan(some.length / 2)
    }
  })

  it("changes other links in place of those whose change failed", async () => {
    const keys = Array.from({ length: 400 }, (_, n) => `k${n}`)
    const changed: Array<string> = []
    const client = {
      ask: ({ method, path }: { readonly method: string; readonly path: string }) => {
        if (method === "PATCH") changed.push(path)
        const answer =
          method === "PATCH"
            ? { status: 503, body: "" }
            : { status: 201, body: JSON.stringify({ key: keys.pop() }) }
        return Promise.resolve({ ...answer, headers: {} })
      }
    } as unknown as Client
    const seen = traffic()
    for (let times = 0; times < 60; times++) {
      await seen.warmUp(client)
      if (times >= 30) await seen.turns.change(client)
    }
    expect(new Set(changed).size).toBe(30)
  })

  it("asks again for so long as it is told to, but for redirects and what is away", async () => {
    const answers = [0, 503, 504]
    const asked: Array<string> = []
    const failing = {
      ask: ({ method, path }: { readonly method: string; readonly path: string }) => {
        asked.push(method)
        const status = method === "GET" && !path.startsWith("/api") ? 503 : (answers.shift() ?? 201)
        return Promise.resolve({ status, body: JSON.stringify({ key: "k1" }), headers: {} })
      }
    } as unknown as Client
    const seen = new Traffic({ ...once, patience_ms: 60_000 })
    await seen.turns["keyed create"](failing)
    expect(asked.splice(0)).toEqual(["POST", "POST", "POST", "POST"])
    expect(seen.tallyOf("calm", "keyed create")).toMatchObject({ sent: 1, right: 1, again: 3 })
    await seen.turns.cold(failing)
    expect([asked.splice(0), seen.tallyOf("calm", "cold")]).toMatchObject([["GET"], { sent: 1, right: 0 }])
    seen.begin("away", new Set(homes.flat()))
    answers.push(503)
    await seen.turns.repeat(failing)
    expect([asked.splice(0), seen.tallyOf("away", "repeat", "away").sent]).toEqual([["POST"], 1])
    answers.push(503)
    await traffic().turns.create(failing)
    expect(asked).toEqual(["POST"])
  })

  it("knows what was answered right within a phase, and only that", async () => {
    let answer = () => {}
    const client = {
      ask: () =>
        new Promise((resolve) => {
          answer = () => resolve({ status: 201, body: JSON.stringify({ key: `k${++key}` }), headers: {} })
        })
    } as unknown as Client
    let key = 0
    const seen = traffic()
    const early = seen.turns.create(client)
    seen.begin("away", new Set(homes[0]))
    answer()
    await early
    expect(seen.unanswered()).toEqual([...operations])
    const late = seen.turns.create(client)
    answer()
    await late
    expect(seen.unanswered()).toEqual(operations.filter((operation) => operation !== "create"))
    seen.begin("return")
    expect(seen.unanswered()).toEqual([...operations])
  })

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
    Object.assign(seen.tallyOf("away", "list"), { sent: 2, right: 2 })
    Object.assign(seen.tallyOf("away", "cold", "away"), { sent: 2, right: 0 })
    Checks.judgeAway(violate, seen, { back_ms: 100, unanswered: [] }, limits)
    expect(broken).toEqual([])
    Object.assign(seen.tallyOf("away", "list"), { right: 1 })
    Checks.judgeAway(violate, seen, { back_ms: null, unanswered: ["change"] }, limits)
    expect(broken).toEqual(["away", "away", "return"])
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

  it("is told line by line", () => {
    const seen = traffic()
    Object.assign(seen.tallyOf("moves", "hot"), { sent: 8, right: 7 })
    Object.assign(seen.tallyOf("moves", "cold", "node killed"), { sent: 2 })
    Object.assign(seen.tallyOf("away", "create"), { sent: 4, right: 4 })
    Object.assign(seen.tallyOf("away", "cold", "away"), { sent: 9, right: 0 })
    Object.assign(seen.tallyOf("away", "cold"), { sent: 5, right: 4 })
    const contents = (sum: string, misplaced: number): Contents => [
      [{ table: "links", rows: 1, sum, misplaced }]
    ]
    const lines = Checks.judgements(
      {
        traffic: seen,
        moves: [moved, { ...moved, unwritten_ms: 40, killed: "the mover at copy" }],
        before: contents("5", 0),
        after: contents("6", 3),
        written: { links: ["a", "a", "b"].map((key) => ({ key, url: "u" })), guards: [], visits: new Map() },
        visits: { answered: 3, uncertain: 0, counted: 2, lost: 1, doubled: 0, lostMax: 2 },
        back_ms: 100,
        acknowledged: 3,
        resolved: [3, 2]
      },
      limits
    )
    expect(lines.map(({ found }) => found)).toEqual([
      "2",
      "1, 0",
      "7 of 10 (70.000 %)",
      "0 of 0 (–)",
      "40 ms",
      "3, 2",
      "1",
      "1 of 1",
      "3",
      "1, 0",
      "4 of 4 (100.000 %)",
      "4 of 5 (80.000 %)",
      "100 ms"
    ])
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
    expect(parse()).toMatchObject({
      right: { links: 4_000_000, away_s: 60, calm_s: 2, requestsPerSecond: 100, clients: 16, logs: null }
    })
    expect(parse("--rate", "250", "--calm", "30", "--clients", "8")).toMatchObject({
      right: { calm_s: 30, requestsPerSecond: 250, clients: 8 }
    })
    expect(parse("--rate", "fast")).toMatchObject({ left: expect.stringContaining("--rate") })
    expect(parse("--links", "20000", "--away", "9", "--logs", "l")).toMatchObject({
      right: { links: 20_000, away_s: 9, logs: "/there/l" }
    })
    expect(parse("--links", "many")).toMatchObject({ left: expect.stringContaining("--links") })
    expect(parse("--help")).toMatchObject({ right: "help" })
  })
})
