import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SimOptions } from "../../../src/sim/cli/Options.ts"
import { noFaults } from "../../../src/sim/presets/Faults.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { shrink } from "../../../src/sim/cli/Shrink.ts"

/** A promise that breaks by kills alone, with two nodes, in a run of some length. */
const breaks = ({ calm_s, faults, faulty_s, nodes }: SimOptions) =>
  faults.kill.perMinute >= 1 && faults.kill.most_ms >= 700 && nodes >= 2 && faulty_s >= 7 && calm_s >= 3

describe("shrinking", () => {
  it.live("leaves the shortest run with the fewest faults that still breaks the promise", () =>
    Effect.gen(function* () {
      const { options, tries } = yield* shrink(presets.cruel(), breaks, 1_000)
      expect(options).toEqual({
        ...presets.cruel(),
        nodes: 2,
        pools: 1,
        faulty_s: 7,
        calm_s: 3,
        workload: {
          ...presets.cruel().workload,
          clients: 1,
          bursts: 0,
          withAlias: 0,
          withKey: 0,
          reused: 0,
          bulk: 0,
          withExpiry: 0,
          withMaxVisits: 0,
          withDomain: 0,
          deleted: 0,
          changed: 0
        },
        faults: {
          ...noFaults,
          kill: {
            perMinute: 1.25,
            least_ms: expect.any(Number) as number,
            most_ms: options.faults.kill.least_ms
          }
        }
      })
      expect(options.faults.kill.most_ms).toBeGreaterThanOrEqual(700)
      expect(options.faults.kill.most_ms).toBeLessThan(1_400)
      expect(tries).toBeLessThan(150)
    })
  )

  it.live("takes no more runs than it may, and gives the best until then", () =>
    Effect.gen(function* () {
      let runs = 0
      const counted = (options: SimOptions) => {
        runs++
        return breaks(options)
      }
      const { options, tries } = yield* shrink(presets.cruel(), counted, 10)
      expect([runs, tries]).toEqual([10, 10])
      expect(breaks(options)).toBe(true)
      expect(options.faulty_s).toBe(7)
    })
  )

  it.live("gives back what cannot be simpler", () =>
    Effect.gen(function* () {
      const { options, steps } = yield* shrink(presets.lite(), () => false, 1_000)
      expect([options, steps]).toEqual([presets.lite(), 0])
    })
  )
})
