// A process of its own that asks for one link over one connection, every few milliseconds, and says how long it waited at worst. Another process
// than the one that makes requests: what holds that one up must not count as a wait.

import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import type { Lap, ProbeOptions } from "./Probe.ts"

const { path, pid, pause_ms, port } = JSON.parse(process.argv[2] ?? "{}") as ProbeOptions

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** CPU time that the main thread of the program has taken, in milliseconds, as Linux counts it; NaN where it does not. */
const busyUntilNow_ms = (): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6
  } catch {
    return Number.NaN
  }
}

const fresh = () => ({ count: 0, failures: 0, wait_ms: 0, busy_ms: 0, waits_ms: [] as Array<number> })
let lap = fresh()

/** Waits of a lap that are kept for its median. */
const waitsMax = 10_000

/** The one that asks for a lap hears of it when the question under way has its answer, or else one that is asked at once. */
let asked = false

const tell = () => {
  const { waits_ms, ...figures } = lap
  const sorted = waits_ms.toSorted((a, b) => a - b)
  process.send!({ ...figures, median_ms: sorted[Math.floor(sorted.length / 2)] ?? 0 } satisfies Lap)
  lap = fresh()
  asked = false
}

const probe = (done: () => void) => {
  const began = performance.now()
  const busyBefore = busyUntilNow_ms()
  const finish = (isAnswered: boolean) => {
    const wait_ms = performance.now() - began
    const busy_ms = busyUntilNow_ms() - busyBefore
    lap.count++
    if (!isAnswered) lap.failures++
    if (lap.waits_ms.length < waitsMax) lap.waits_ms.push(wait_ms)
    lap.wait_ms = Math.max(lap.wait_ms, wait_ms)
    if (busy_ms > lap.busy_ms) lap.busy_ms = busy_ms
    done()
  }
  const sent = request({ agent, host: "127.0.0.1", port, path }, (response) => {
    response.resume()
    response.once("close", () => finish(response.statusCode === 302))
  })
  sent.once("error", () => finish(false))
  sent.end()
}

/** Until the next question; undefined while one is under way. */
let pause: NodeJS.Timeout | undefined

const turn = () => {
  pause = undefined
  probe(() => {
    if (asked) tell()
    pause = setTimeout(turn, pause_ms)
  })
}

process.on("message", () => {
  asked = true
  if (pause === undefined) return
  clearTimeout(pause)
  turn()
})
process.on("disconnect", () => process.exit())
turn()
