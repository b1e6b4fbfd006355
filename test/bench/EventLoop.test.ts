import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { longestHold, watched } from "../../bench/EventLoop.ts"

/** Holds its event loop for 50 ms when it is told to. */
const holding = `
  process.stdin.on("data", () => {
    const end = performance.now() + 50
    while (performance.now() < end);
    console.log("held")
  })
  console.log("ready")`

it("finds how long a watched program held its event loop, and does not signal others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "linkmint-loops-"))
  const { NODE_OPTIONS, ...others } = watched({ folder })
  const start = async (env: NodeJS.ProcessEnv) => {
    const child = spawn(process.execPath, ["-e", holding], { env })
    await once(child.stdout, "data")
    return child
  }
  const child = await start({ NODE_OPTIONS, ...others })
  const unwatched = await start(others)
  const ask = (...pids: ReadonlyArray<number>) => Effect.runPromise(longestHold({ folder }, pids))
  try {
    await ask(child.pid!)
    // Whenever it was asked before.
    for (let round = 0; round < 20; round++) {
      child.stdin.write("hold")
      await once(child.stdout, "data")
      expect(await ask(unwatched.pid!, child.pid!)).toBeGreaterThan(45)
    }
    expect(await ask(unwatched.pid!)).toBe(null)
    unwatched.stdin.write("hold")
    expect(String(await once(unwatched.stdout, "data"))).toBe("held\n")
  } finally {
    child.kill("SIGKILL")
    unwatched.kill("SIGKILL")
    rmSync(folder, { recursive: true })
  }
})
