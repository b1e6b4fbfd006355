import { expect, it } from "vitest"
import { s_us } from "../../../src/sim/world/Time.ts"
import { names, Runners, turn } from "./Runners.ts"

/** A start, a kill, a pause, a cut, a restart of the database and a stop, under calls, and failing statements all along; gives the trace's digest. */
const digestOf = (seed: number): string => {
  const runners = new Runners(seed)
  for (const name of names) runners.start(name)
  runners.askFor(6, 6)
  runners.faults = { refused: 0.005, lost: 0.005, ignored: 0.005 }
  runners.process("b").kill()
  runners.askFor(2, 6)
  runners.start("b", 2)
  runners.pause("c", 7 * s_us)
  runners.askFor(9, 6)
  runners.network.cut("a", "database", { oneWay: false, for_us: 3 * s_us })
  runners.network.cut("b", "c", { oneWay: true, for_us: 3 * s_us })
  runners.askFor(4, 6)
  runners.server.stop(s_us)
  runners.stop("a")
  runners.askFor(3, 6)
  runners.world.end()
  expect(runners.answers.length).toBeGreaterThan(80)
  return runners.world.trace.digest()
}

const seeds = Array.from({ length: 5 }, (_, index) => index + 1)

it("a seed gives the same run again after other seeds' runs", async () => {
  const digestsOf = async (seeds: ReadonlyArray<number>) => {
    const digests: Array<string> = []
    for (const seed of seeds) {
      digests.push(digestOf(seed))
      await turn()
    }
    return digests
  }
  const digests = await digestsOf(seeds)
  expect(new Set(digests).size).toBe(seeds.length)
  expect((await digestsOf(seeds.toReversed())).toReversed()).toEqual(digests)
}, 300_000)
