import { Command } from "@effect/cli"
import { NodeContext } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { Console, Effect, FastCheck as fc } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import type { Report } from "../../bench/Report.ts"
import { costs, costsMeasured, sizes } from "../../src/admin/MeasuredCosts.ts"
import { type Load, plan as planOf } from "../../src/admin/Plan.ts"
import { plan } from "../../src/admin/PlanCommand.ts"

const read = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8")

const run = Command.run(plan, { name: "test", version: "0" })

/** What the command prints. */
const printed = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const { unsafe, ...console } = yield* Effect.console
    const log = (...said: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(said.join(" ")))
    yield* run(["node", "plan", ...args]).pipe(
      Effect.withConsole({ ...console, unsafe, log } as Console.Console)
    )
    return lines.join("\n")
  }).pipe(Effect.provide(NodeContext.layer))

const load: Load = {
  links: 0,
  linksPerSecond: 38.6,
  redirectsPerSecond: 3_860,
  peak: 3,
  years: 5,
  hot: 0.2,
  targetLength: 100,
  databaseCores: 8,
  databaseDisk_bytes: 4e12,
  databaseMemory_bytes: 128e9
}

const valueOf = (name: string, changes: Partial<Load> = {}): number =>
  planOf({ ...load, ...changes }).find((line) => line.name === name)!.value

describe("a plan", () => {
  it("has keys of 7 characters or more, of which at most one in a hundred is a link", () => {
    for (const [links, length] of [
      [0, 7],
      [62 ** 7 / 100, 7],
      [1.01 * (62 ** 7 / 100), 8],
      [4e12, 9]
    ] as const) {
      expect([links, valueOf("key length", { links, linksPerSecond: 0 })]).toEqual([links, length])
    }
  })

  it.effect("has a number in each line, also for no load and for the largest", () =>
    Effect.gen(function* () {
      const none = ["--links-per-second", "0", "--redirects-per-second", "0"]
      const most = [
        "--links-per-second",
        "1e9",
        "--redirects-per-second",
        "1e9",
        "--links",
        "1e15",
        "--years",
        "100"
      ]
      for (const args of [none, [...none, "--years", "0"], most]) {
        const lines = JSON.parse(yield* printed([...args, "--json"])) as ReadonlyArray<{ value: unknown }>
        expect(lines.filter(({ value }) => typeof value !== "number" || value < 0)).toEqual([])
      }
      const almost = yield* printed([
        "--links-per-second",
        "0",
        "--redirects-per-second",
        "0",
        "--links",
        "999600"
      ])
      expect(almost).toMatch(/^links +1 M /m)
    })
  )

  it("counts 100 million links a month as 38 a second, and 6 billion in five years", () => {
    const linksPerSecond = (100e6 * 12) / (365.25 * 86_400)
    expect(linksPerSecond).toBeCloseTo(38.03, 1)
    expect(valueOf("links", { linksPerSecond })).toBeCloseTo(6e9, 0)
  })

  it("finds all hot links cached where they are few, and the rest where all are", () => {
    const of = (links: number) => valueOf("cache hits of a node", { links, linksPerSecond: 0 })
    expect(of(100_000)).toBe(1)
    expect(of(500_000)).toBeCloseTo(0.8)
    expect(of(5_000_000)).toBeCloseTo(0.08)
  })

  it("writes fewer visits than there are redirects where those are of few links", () => {
    const of = (links: number) => valueOf("visits written at the peak", { links, linksPerSecond: 0 })
    expect(of(1e9)).toBeGreaterThan(3 * 3_859)
    // Each of three nodes writes all links that there are, twice a second.
    expect(of(100)).toBeCloseTo(3 * 2 * 100, -1)
  })

  it("counts the rows of hours, days and months as long as each is kept, months as long as their link", () => {
    // Ten links, all of which are visited in each hour.
    const of = (years: number) =>
      valueOf("disk for visits", { links: 10, linksPerSecond: 0, redirectsPerSecond: 1_000, years })
    const hours = 35 * 24
    for (const [years, days] of [
      [1, 365.25],
      [5, 1_100],
      [20, 1_100]
    ] as const) {
      expect(of(years)).toBeCloseTo(10 * sizes.visits_bytes * (hours + days + 12 * years), 0)
    }
    expect(of(21) - of(20)).toBeCloseTo(10 * sizes.visits_bytes * 12, 0)
  })

  it("counts a rank for each link that is visited, where the links are", () => {
    const few = { links: 1e9, linksPerSecond: 0, redirectsPerSecond: 1_000 / (365.25 * 86_400), years: 1 }
    expect(valueOf("disk for ranks", few)).toBeCloseTo(1_000 * sizes.rank_bytes, -2)
    const all = { links: 1e9, linksPerSecond: 0, redirectsPerSecond: 1e5, years: 1 }
    expect(valueOf("disk for ranks", all)).toBeCloseTo(1e9 * sizes.rank_bytes, -3)
    const bothDisks = valueOf("disk for links", all) + valueOf("disk for ranks", all)
    const apart = { ...all, databaseDisk_bytes: 1e9, databaseMemory_bytes: 1e15, databaseCores: 1e9 }
    expect(valueOf("or databases of links", apart)).toBe(Math.ceil(bothDisks / 1e9))
  })

  it("divides what visits need from what links need where they have databases of their own", () => {
    const load = { links: 40e9, linksPerSecond: 75.2, redirectsPerSecond: 4_167, years: 1 }
    const [both, links, visits] = ["databases", "or databases of links", "and databases of visits"].map(
      (name) => valueOf(name, load)
    ) as [number, number, number]
    expect(visits).toBe(Math.ceil(valueOf("disk for visits", load) / 4e12))
    expect(links).toBe(Math.ceil(valueOf("memory for hot links", load) / 128e9))
    expect(both).toBeLessThanOrEqual(links + visits)
  })

  it("never needs less of anything for more of a load", () => {
    const grows = ["linksPerSecond", "redirectsPerSecond", "links", "years", "targetLength", "peak"] as const
    const bounds = {
      linksPerSecond: 1e5,
      redirectsPerSecond: 1e6,
      links: 1e11,
      years: 20,
      targetLength: 2_048,
      peak: 10
    }
    const free = new Set(["guesses for a link", "cache hits of a node"])
    const upTo = (name: (typeof grows)[number]) =>
      fc.double({ min: name === "peak" ? 1 : 0, max: bounds[name], noNaN: true })
    const loads = fc.tuple(...grows.map(upTo)).map((values): Load => ({
      ...load,
      ...Object.fromEntries(grows.map((name, at) => [name, values[at]]))
    }))
    fc.assert(
      fc.property(
        loads,
        fc.constantFrom(...grows),
        fc.double({ min: 1, max: 3, noNaN: true }),
        (less, name, by) => {
          const more = planOf({ ...less, [name]: less[name] * by })
          // To within rounding, which is larger than a share of the value where numbers are the least that there are.
          planOf(less).forEach((line, at) => {
            if (free.has(line.name)) return
            expect(more[at]!.value).toBeGreaterThanOrEqual(line.value * (1 - 1e-9) - 1e-300)
          })
        }
      )
    )
  })

  it("reckons with costs that are those of the benchmark, to within two fifths", () => {
    const within = (what: string, cost: number, measured: number) =>
      expect([what, cost / measured > 0.6 && cost / measured < 1.67, measured]).toEqual([
        what,
        true,
        measured
      ])
    const { results } = JSON.parse(read(costsMeasured)) as Report
    const ofCase = (title: string, what: string) => {
      const one = results.find(({ name }) => name === title)!
      const { cpu_us, databaseCpu_us, median } = one.found!.rows.find(({ subject }) => subject === what)!
      return { own: cpu_us!, database: databaseCpu_us!, median }
    }
    within("hot", costs.cached_us, ofCase("hot", "Linkmint on PostgreSQL").own)
    const cold = ofCase("cold", "Linkmint on PostgreSQL")
    within("cold", costs.read_us, cold.own)
    within("cold in PostgreSQL", costs.readInDatabase_us + costs.newVisitInDatabase_us, cold.database)
    const ofPart = (what: string) => {
      const row = read("docs/decisions.md")
        .split("\n")
        .find((line) => line.startsWith(`| ${what}`))!
      return Number(/ ([\d.]+) µs/.exec(row)![1])
    }
    within("look-up in PostgreSQL", costs.readInDatabase_us, ofPart("look-up of a link that is not cached"))
    within("first visit in PostgreSQL", costs.newVisitInDatabase_us, ofPart("visit, the first of its link"))
    within("visit in PostgreSQL", costs.visitInDatabase_us, ofPart("visit, a further one"))
    const create = ofCase("create", "Linkmint on PostgreSQL, 32 connections")
    within("create", costs.create_us, create.own)
    within("create in PostgreSQL", costs.createInDatabase_us, create.database)
    const link = ofCase("memory", "a link in the RedirectCache, with a target of 100 characters")
    within("memory", costs.cachedLink_bytes, link.median)
  })

  it("reckons with sizes that are those of the documents", () => {
    const table = read("docs/operations.md")
    const bytesOf = (row: string) =>
      Number(new RegExp(`\\| ${row} \\| some ([\\d,]+) bytes`).exec(table)![1]!.replaceAll(",", ""))
    expect([bytesOf("PostgreSQL's disk"), bytesOf("ranks"), bytesOf("visits")]).toEqual([
      sizes.link_bytes,
      sizes.rank_bytes,
      sizes.visits_bytes
    ])
  })

  it.effect("is printed as the documents show it", () =>
    Effect.gen(function* () {
      const sheets = [
        ...read("docs/operations.md").matchAll(/^ {4}npm run admin -- plan (.+)\n\n((?: {4}.+\n)+)/gm)
      ]
      expect(sheets).toHaveLength(3)
      for (const [, args, sheet] of sheets) {
        const table = (yield* printed(args!.split(" "))).split("\n")
        const withoutFormulas = table.map(
          (line) => `    ${line.slice(0, sheet!.indexOf("\n") - 4).trimEnd()}`
        )
        expect(withoutFormulas.join("\n")).toBe(sheet!.trimEnd())
      }
    })
  )

  it.effect("is printed as JSON too", () =>
    Effect.gen(function* () {
      const args = "--links-per-second 38.6 --redirects-per-second 3860 --json"
      expect(JSON.parse(yield* printed(args.split(" ")))).toEqual(planOf(load))
    })
  )

  it.effect("is refused for numbers out of bounds, with the option's name", () =>
    Effect.gen(function* () {
      for (const [option, value] of [
        ["--links-per-second", "-1"],
        ["--hot", "0"],
        ["--peak", "NaN"],
        ["--target-length", "1e9"]
      ] as const) {
        const args = ["--links-per-second", "1", "--redirects-per-second", "1"].filter(
          (_, at, all) => all[at] !== option && all[at - 1] !== option
        )
        const error = yield* Effect.flip(printed([...args, option, value]))
        expect(JSON.stringify(error)).toContain(option)
      }
    })
  )
})
