// Preloaded into programs under measurement (`--import`): notes how long the event loop was held at most, and writes it down when SIGUSR2 asks. See `EventLoop.ts`.

import { renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"

/** How often the loop is looked at, in milliseconds: a hold is known to within this. */
const resolution_ms = 2

if (isMainThread) {
  const file = join(process.env["LOOP_DELAY_FOLDER"]!, String(process.pid))
  const delays = monitorEventLoopDelay({ resolution: resolution_ms })
  let answers = 0
  const answer = (longest_ms: number) => {
    writeFileSync(`${file}.new`, JSON.stringify({ answers: answers++, longest_ms }))
    renameSync(`${file}.new`, file)
  }
  process.on("SIGUSR2", () => {
    // Node counts the wait between two looks as well, and begins with a maximum of 0.
    const longest_ms = Math.max(0, delays.max / 1e6 - resolution_ms)
    delays.reset()
    // It counts from its next look on: who has the answer can rely on that.
    setTimeout(answer, 2 * resolution_ms, longest_ms)
  })
  // A file says that this process can be asked.
  process.on("exit", () => rmSync(file, { force: true }))
  delays.enable()
  setTimeout(answer, 2 * resolution_ms, 0)
}
