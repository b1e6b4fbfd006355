import { expect, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpuOfFamily_us } from "../../bench/ProcessFigures.ts"

/** Takes 0.3 s of CPU time, says so, and waits. */
const busy = `while (process.cpuUsage().user < 300_000); console.log("done"); process.stdin.resume()`

it("counts the CPU time of children that run and of those that have ended", async () => {
  const start = cpuOfFamily_us(process.pid)
  spawnSync(process.execPath, ["-e", busy], { input: "" })
  const ended = cpuOfFamily_us(process.pid)
  expect(ended - start).toBeGreaterThan(290_000)

  const child = spawn(process.execPath, ["-e", busy])
  await once(child.stdout, "data")
  expect(cpuOfFamily_us(process.pid) - ended).toBeGreaterThan(290_000)
  child.stdin.end()
  await once(child, "exit")
})
