// Runs before each test file. A worker process runs many files one after the other, and loads once what they share.

import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"
import { setImmediate } from "node:timers/promises"
import { afterEach } from "vitest"
import { endWithVitest } from "./EndWithVitest.ts"

endWithVitest()

// `layer` writes `effect` and `scoped` of its suite into the process's one `it`: the next file gets the plain ones again.
Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })

// A file of tests that never wait keeps the event loop to itself: after a minute of that the runner takes its answers for lost, and fails the run.
afterEach(() => setImmediate())
