import { beforeAll, describe, expect, it } from "vitest"
import type { SimOptions } from "../../../src/sim/cli/Options.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { pageOf } from "../../../src/sim/report/page/Page.ts"
import { run, type RunResult } from "../../../src/sim/Run.ts"
import { type Mix, reportOf } from "../../../src/sim/cli/SeedReport.ts"
import { s_us } from "../../../src/sim/world/Time.ts"

const calm = presets.calm()

/** A short run with everything that is drawn: a stop, pauses, kills, moves, and Redis going away. */
const options: SimOptions = {
  ...calm,
  faulty_s: 12,
  calm_s: 7,
  workload: { ...calm.workload, clients: 3 },
  faults: {
    ...calm.faults,
    kill: { perMinute: 20, least_ms: 500, most_ms: 900 },
    stop: { perMinute: 20, least_ms: 500, most_ms: 900 },
    pause: { perMinute: 20, least_ms: 500, most_ms: 900 },
    clockJump: { perMinute: 20, least_ms: 500, most_ms: 900 },
    redisFailover: { perMinute: 20, least_ms: 500, most_ms: 900 },
    move: { perMinute: 120, least_ms: 2_000, most_ms: 4_000 }
  }
}

const mix: Mix = { preset: "calm", level: "actors", changes: {} }

const pageWith = (result: RunResult) =>
  pageOf(
    result,
    reportOf(result, () => result),
    mix,
    "abc"
  )

/** Elements that have no end tag. */
const empty = new Set(["meta", "br"])

/** The elements that are not closed in their order, and attributes that are not quoted. */
const faultsOf = (page: string): ReadonlyArray<string> => {
  const open: Array<string> = []
  const faults: Array<string> = []
  const text = page
    .replace("<!doctype html>", "")
    .replaceAll(/<(style|script)>.*?<\/\1>/gs, (_, name: string) => `<${name}></${name}>`)
  for (const [tag, isEnd, name, attributes, isClosed] of text.matchAll(/<(\/?)([\w]+)([^<>]*?)(\/?)>/g)) {
    if (!/^(\s+[\w-]+="[^"]*")*\s*$/.test(attributes!)) faults.push(tag)
    if (isClosed !== "" || empty.has(name!)) continue
    if (isEnd === "") open.push(name!)
    else if (open.pop() !== name) faults.push(tag)
  }
  if (/[<>]/.test(text.replaceAll(/<\/?\w+[^<>]*>/g, ""))) faults.push("a bracket outside of tags")
  return [...faults, ...open]
}

describe("the page of a run", () => {
  let result: RunResult
  let page: string
  beforeAll(() => {
    result = run(3, options, { keepTrace: true })
    page = pageWith(result)
  }, 120_000)

  it("changes nothing of the run", () => {
    expect(run(3, options).digest).toBe(result.digest)
  }, 120_000)

  it("has a lane for each node, pool shard, kind of fault and actor", () => {
    const labels = Array.from(
      page.matchAll(/<div class="label" title="[^"]*">([^<]*)<\/div>/g),
      ([, label]) => label
    )
    const faults = Array.from(result.evidence.faults.keys())
    expect(faults.length).toBe(6)
    const nodes = [
      "node-0",
      "node-1",
      "node-2",
      "pool shard 0",
      "pool shard 1",
      "PoolShard/0",
      "UrlMapping/0"
    ]
    const others = ["violations", "conflicts caught", "failures", "answered, failed", "slowest answer"]
    expect(labels).toEqual(expect.arrayContaining([...nodes, ...others, ...faults]))
    expect(page.match(/<svg /g)).toHaveLength(labels.length)
  })

  it.each([
    ["that a node ran", "rect", "up"],
    ["that it drained", "rect", "draining"],
    ["that it was paused", "rect", "paused"],
    ["that it was down", "rect", "down"],
    ["that it was killed", "path", "mark kill"],
    ["that a fault went on", "rect", "fault"],
    ["that a clock jumped", "path", "mark fault"],
    ["that a pool was away", "rect", "away"],
    ["how many keys a pool had", "path", "level"],
    ["who owned an actor", "rect", "node-0"],
    ["that two owned one", "rect", "overlap"],
    ["that a pool shard was claimed", "path", "mark claimed"],
    ["when faults ended", "path", "heal"]
  ])("shows %s", (_, element, look) => {
    expect(page).toContain(`<${element} class="${look}"`)
  })

  it("is well-formed, and loads nothing", () => {
    expect(faultsOf(page)).toEqual([])
    expect(page).not.toMatch(/ (src|href)=|url\(|@import|fetch\(/)
    expect(faultsOf(`${page}<b>`)).toEqual(["b"])
    expect(faultsOf("<p><i></p></i>")).not.toEqual([])
  })

  it("marks violations in every lane, tells of them, and escapes what they say", () => {
    const text = `<script>alert("1")</script> & 'so on'`
    const violations = [{ checker: "durability", at_us: 9 * s_us, text, keys: ["<b>"] }]
    const broken = pageWith({ ...result, violations })
    expect(faultsOf(broken)).toEqual([])
    expect(broken).not.toContain("<script>alert")
    expect(broken).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;so on&#39;")
    expect(broken).toContain("A promise was broken")
    expect(broken.match(/<path class="violation" d="M9000 /g)).toHaveLength(broken.match(/<svg /g)!.length)
    expect(broken).toContain('<path class="mark found" d="M9000 ')
  })
})
