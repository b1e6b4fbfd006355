import { expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, TestClock } from "effect"
import { describe } from "vitest"
import * as NodeReporter from "../../../src/http/ops/NodeReporter.ts"
import type { NodeReport } from "../../../src/model/NodeReport.ts"
import { layerMemory, NodeReports } from "../../../src/storage/nodes/NodeReports.ts"
import { reportOf } from "../../support/Reports.ts"

const address = "localhost:34431"

/** What a node with this address logs in a minute and a half, while another node reports each second for some seconds. */
const logged = (role: NodeReport["role"], told: Partial<NodeReport>, reportsFor_s: number) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    yield* Effect.gen(function* () {
      const { tell } = yield* NodeReports
      const other = (second: number) =>
        tell(reportOf("other", { address, ...told, uptime_ms: 5_000 + 1_000 * second }))
      yield* other(0)
      yield* Effect.forkScoped(NodeReporter.watchAddress({ id: "this", address, role }))
      for (let second = 1; second <= 90; second += 1) {
        yield* tell(reportOf("this", { address, role, uptime_ms: 1_000 * second }))
        if (second <= reportsFor_s) yield* other(second)
        yield* TestClock.adjust("1 second")
      }
    }).pipe(Effect.provide(Layer.merge(layerMemory, Logger.replace(Logger.defaultLogger, logger))))
    return lines
  })

describe("a node", () => {
  it.scoped("warns once a minute while another one runs with its address, and names RUNNER_HOST", () =>
    Effect.gen(function* () {
      const lines = yield* logged("all", {}, 90)
      expect(lines).toHaveLength(2)
      expect(lines[0]).toContain(address)
      expect(lines[0]).toContain("RUNNER_HOST")
    })
  )

  it.scoped("says nothing of its predecessor, whose last reports it finds", () =>
    Effect.gen(function* () {
      expect(yield* logged("all", {}, 0)).toEqual([])
      expect(yield* logged("all", {}, 5)).toEqual([])
      expect(yield* logged("all", { isStopping: true }, 90)).toEqual([])
    })
  )

  it.scoped("says nothing of nodes elsewhere, or where one of the two owns no actors", () =>
    Effect.gen(function* () {
      expect(yield* logged("all", { address: "other:34431" }, 90)).toEqual([])
      expect(yield* logged("all", { role: "http" }, 90)).toEqual([])
      expect(yield* logged("http", {}, 90)).toEqual([])
    })
  )
})
