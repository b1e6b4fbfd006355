import { execFile } from "node:child_process"
import { setImmediate } from "node:timers/promises"
import { promisify } from "node:util"
import { afterEach, expect, it } from "vitest"
import { aims } from "../../../src/sim/presets/Aims.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { run } from "../../../src/sim/Run.ts"
import { useOwnLoop } from "../../../src/sim/world/FiberLoop.ts"

/** One for each aim of the swarm. */
const seeds = Array.from({ length: aims.length }, (_, index) => index + 1)

/** Shorter than usual: what differs once differs ever after, and many seeds say more than long ones. Long enough for a node that shuts down when the faults end, with a write that is not answered, to come back. */
const lengths = { faulty_s: 5, calm_s: 9 }

/** The digests of the seeds, run one after the other, none of which breaks a promise. The test runner gets its turn between two. */
const digestsOf = async (seeds: ReadonlyArray<number>): Promise<ReadonlyArray<string>> => {
  const digests: Array<string> = []
  for (const seed of seeds) {
    const { digest, violations } = run(seed, { ...presets.swarm(seed), ...lengths })
    expect(violations, `seed ${seed}`).toEqual([])
    digests.push(digest)
    await setImmediate()
  }
  return digests
}

/** The same in a process of its own, from the built program. */
const digestsElsewhere = async (seeds: ReadonlyArray<number>): Promise<ReadonlyArray<string>> => {
  const built = (file: string) =>
    JSON.stringify(new URL(`../../../dist/src/sim/${file}`, import.meta.url).href)
  const program = `
    import { presets } from ${built("presets/Presets.js")}
    import { run } from ${built("Run.js")}
    for (const seed of ${JSON.stringify(seeds)})
      console.log(run(seed, { ...presets.swarm(seed), ...${JSON.stringify(lengths)} }).digest)`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
  return stdout.trim().split("\n")
}

afterEach(() => useOwnLoop(true))

it("keeps every promise in each seed, and runs it alike each time, whatever ran before, in every process, and as Effect's own loop of fibers does", async () => {
  // Other seeds run before each, and in another process.
  const elsewhere = digestsElsewhere(seeds.toReversed())
  const digests = await digestsOf(seeds)
  expect(new Set(digests).size).toBe(seeds.length)
  // Each of these has run in this process before, by the simulation's loop.
  const again = seeds.slice(0, 8)
  useOwnLoop(false)
  expect(await digestsOf(again)).toEqual(digests.slice(0, 8))
  expect((await elsewhere).toReversed()).toEqual(digests)
}, 600_000)
