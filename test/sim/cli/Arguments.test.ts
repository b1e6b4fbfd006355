import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { parse, usage } from "../../../src/sim/cli/Arguments.ts"
import { checkers } from "../../../src/sim/checkers/all.ts"
import { codeOf, exitCode, told } from "../../../src/sim/report/ExitCode.ts"

const right = (...args: ReadonlyArray<string>) => Either.getOrThrow(parse(args))
const left = (...args: ReadonlyArray<string>) => Either.getOrThrow(Either.flip(parse(args)))

describe("the arguments of npm run sim", () => {
  it("default to a hundred seeds of the preset swarm", () => {
    expect(right()).toMatchObject({ from: 1, seeds: 100, jobs: 2, preset: "swarm", level: "actors" })
    expect(right()).toMatchObject({ isSingle: false, trace: false, shrink: false, options: undefined })
  })

  it("take one seed, and what can be told of it", () => {
    const args = right("--seed", "7", "--shrink", "--tries", "9", "--html", "a.html", "--json", "a.json")
    expect(args).toMatchObject({ from: 7, seeds: 1, jobs: 1, isSingle: true, shrink: true, tries: 9 })
    expect(args).toMatchObject({ html: "a.html", json: "a.json" })
    expect(right("-h")).toBe("help")
  })

  it.each([
    [["--trace"], "--trace needs --seed"],
    [["--shrink"], "--shrink needs --seed"],
    [["--html", "x"], "--html needs --seed"],
    [["--jobs", "0"], '--jobs must be a whole number from 1 to 64, not "0"'],
    [["--seed", "-1"], "--seed"],
    [["--seeds", "1.5"], '--seeds must be a whole number from 1 to 10000000, not "1.5"'],
    [["--tries", "0", "--seed", "1"], "--tries must be"],
    [["--databases", "5"], '--databases must be a whole number from 1 to 4, not "5"'],
    [["--preset", "wild"], '--preset knows calm, lite, swarm, steady, cruel, not "wild"'],
    [["--level", "moon"], '--level knows actors, cluster, not "moon"'],
    [["--sed", "1"], "--sed"],
    [["more"], "more"]
  ])("%j are refused by a sentence that says why", (args, sentence) => {
    expect(left(...args)).toContain(sentence)
  })
})

describe("the exit statuses", () => {
  it("tell each checker's promise, several ones and none apart", () => {
    for (const { name } of checkers) expect(codeOf([name])).toBeGreaterThan(exitCode.several)
    expect(codeOf(["unique binding"])).toBe(11)
    expect(codeOf(["liveness"])).toBe(18)
    expect(codeOf(["something new"])).toBe(exitCode.other)
    expect(codeOf([])).toBe(exitCode.kept)
    expect(codeOf(["durability", "durability"])).toBe(12)
    expect(codeOf(["durability", "freshness"])).toBe(exitCode.several)
  })

  it("are all explained by --help, once each", () => {
    const codes = told.map(([code]) => code)
    expect(new Set(codes).size).toBe(codes.length)
    expect(codes).toEqual(expect.arrayContaining(Object.values(exitCode)))
    for (const [code, meaning] of told) expect(usage).toContain(`${code}  ${meaning}`)
  })
})
