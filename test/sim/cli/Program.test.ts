import { Schema } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Seeds from "../../../src/sim/cli/Seeds.ts"
import { exitCode } from "../../../src/sim/report/ExitCode.ts"
import { JsonReport } from "../../../src/sim/report/JsonReport.ts"
import { failureOf } from "../Outcome.ts"

const built = (path: string) => new URL(`../../../dist/src/sim/${path}`, import.meta.url)

/** Redis shards that come back with the keys that they handed out last. */
const plant = new URL("plant.mjs", import.meta.url).href

/** A run of a second or so in which that is bound to be found. */
const short = {
  nodes: 2,
  bufferCapacity: 4,
  faulty_s: 12,
  calm_s: 11,
  workload: { clients: 3, created: 0.8 },
  faults: {
    redisRestart: { perMinute: 30, least_ms: 1, most_ms: 100 },
    kill: { perMinute: 2, least_ms: 500, most_ms: 900 }
  }
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program; `imports` are loaded before it. */
const sim = (args: ReadonlyArray<string>, imports: ReadonlyArray<string> = []): Promise<Ended> =>
  new Promise((resolve) => {
    const all = [...imports.flatMap((url) => ["--import", url]), built("main.js").pathname, ...args]
    execFile(process.execPath, all, { maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr })
    )
  })

const broken = (args: ReadonlyArray<string>) =>
  sim(["--seed", "1", "--preset", "calm", "--options", JSON.stringify(short), ...args], [plant])

describe("npm run sim", () => {
  let folder = ""
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "linkmint-sim-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const reportOf = async (file: string) =>
    Schema.decodeUnknownSync(JsonReport, { onExcessProperty: "error" })(
      JSON.parse(await readFile(file, "utf8"))
    )

  it("runs seeds side by side, and writes a report of them", async () => {
    const file = join(folder, "kept.json")
    const options = JSON.stringify({ ...short, faults: {} })
    const args = ["--seeds", "3", "--from", "5", "--preset", "lite", "--options", options, "--json", file]
    const { code, stdout } = await sim(args)
    expect(code).toBe(exitCode.kept)
    expect(stdout).toMatch(/Seeds +3 in [\d.]+ s, [\d.]+ seeds\/s, 0\.02 virtual hours/)
    expect(stdout).toContain("Every promise was kept.")
    const report = await reportOf(file)
    expect(report).toMatchObject({ from: 5, seeds: 3, preset: "lite", exitCode: 0, broken: [] })
    expect(report.commit).toMatch(/^([0-9a-f]{40}(-dirty)?|unknown)$/)
    expect(report.summary.seeds).toBe(3)
    expect(report.summary.virtual_s).toBe(69)
    expect(report.summary.answers["create 201"]).toBeGreaterThan(20)
  }, 120_000)

  it("tells of a broken promise: what ran, what happened around it, and the command that repeats it", async () => {
    const file = join(folder, "broken.json")
    const { code, stderr, stdout } = await broken(["--json", file])
    expect(code).toBeGreaterThanOrEqual(exitCode.several)
    expect(stdout).toContain("Seeds that broke a promise: 1 (")
    const again = `npm run sim -- --seed 1 --preset calm --level actors --options '${JSON.stringify(short)}'`
    expect(stderr).toContain(again)
    expect(stderr).toMatch(/faults +redisRestart pool shard/)
    const report = await reportOf(file)
    expect(report.exitCode).toBe(code)
    expect(report.broken).toHaveLength(1)
    expect(stderr).toContain(` s ! ${report.broken[0]?.violations[0]?.checker}`)
    expect(report.broken[0]).toMatchObject({ seed: 1, replay: again })
    expect(report.broken[0]?.options.faults.redisRestart.perMinute).toBe(30)
    expect(report.broken[0]?.violations[0]?.timeline.length).toBeGreaterThan(5)
  }, 120_000)

  it("shrinks a run, and prints a command that breaks the same promise", async () => {
    const page = join(folder, "smaller.html")
    const { code, stderr, stdout } = await broken(["--shrink", "--tries", "60", "--html", page])
    expect(code).toBeGreaterThanOrEqual(exitCode.several)
    const checker = /as long as this is broken: (.*)/.exec(stderr)?.[1]
    const changes = /--options '(\{.*\})'/.exec(stdout)?.[1]
    expect(changes).toBeDefined()
    const smaller = JSON.parse(changes!) as typeof short
    expect(smaller).toMatchObject({ pools: 1 })
    expect(smaller.faulty_s).toBeLessThan(short.faulty_s)
    expect(Object.keys(smaller.faults)).toEqual(["redisRestart"])
    const again = await sim(["--seed", "1", "--preset", "calm", "--options", changes!], [plant])
    expect(again.code).toBe(code)
    expect(again.stderr).toContain(` s ! ${checker}`)
    const html = await readFile(page, "utf8")
    expect(html).toContain("Simulation, seed 1")
    expect(html).toContain(`<b>${checker}</b>`)
  }, 240_000)

  it("says that nothing is to be shrunk where no promise is broken", async () => {
    const args = ["--seed", "1", "--preset", "calm", "--options", '{"faulty_s":1,"calm_s":1}', "--shrink"]
    const { code, message } = await failureOf(Seeds.command(args))
    expect(code).toBe(exitCode.nothingToShrink)
    expect(message).toContain("Seed 1 breaks no promise")
  }, 120_000)

  it("tells a simulation that crashes from a broken promise, and in which seed it was", async () => {
    const throwing = `import { World } from "${built("world/World.js").href}"
      World.prototype.end = () => { throw new Error("planted") }`
    const url = `data:text/javascript,${encodeURIComponent(throwing)}`
    for (const args of [
      ["--seed", "3"],
      ["--from", "3", "--seeds", "1"]
    ]) {
      const { code, stderr } = await sim(
        [...args, "--preset", "calm", "--options", '{"faulty_s":1,"calm_s":1}'],
        [url]
      )
      expect(code).toBe(exitCode.crashed)
      expect(stderr).toContain("planted")
      expect(stderr).toContain("seed 3")
    }
  }, 120_000)

  it.each([
    [["--options", "{"], "--options is not usable: not JSON"],
    [["--options", "no/such/file"], "--options is not usable: "],
    [["--options", '{"nodes":0,"faults":{"kil":1}}'], "nodes: "]
  ])("refuses %j", async (args, sentence) => {
    const { code, message } = await failureOf(Seeds.command(args))
    expect(code).toBe(exitCode.usage)
    expect(message).toContain(sentence)
    expect(message).toContain("Usage: npm run sim")
  })

  it("says when a report cannot be written", async () => {
    const args = [
      "--seed",
      "1",
      "--preset",
      "calm",
      "--options",
      '{"faulty_s":1,"calm_s":1}',
      "--json",
      join(folder, "no/such")
    ]
    const { code, message } = await failureOf(Seeds.command(args))
    expect(code).toBe(exitCode.notWritten)
    expect(message).toContain("could not be written")
  }, 60_000)
})
