// How long the program takes to be ready on SQLite, from its start to the first 200 of `/health/ready`, and how much CPU time. It starts `STARTS` times after a first one, which
// creates the database. Prints one line of JSON.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { inRepository } from "../../cluster/Repository.ts"
import { freePort } from "../../test/support/FreePort.ts"
import * as ProcessFigures from "../ProcessFigures.ts"

const starts = Number(process.env["STARTS"])
const folder = mkdtempSync(join(tmpdir(), "linkmint-starts-"))
const port = await Effect.runPromise(freePort)

const isReady = () =>
  new Promise<boolean>((resolve) => {
    request({ host: "127.0.0.1", port, path: "/health/ready", agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
      .on("error", () => resolve(false))
      .end()
  })

const start = async () => {
  const began = performance.now()
  const child = spawn(process.execPath, ["--max-semi-space-size=32", inRepository("dist/main.js")], {
    env: { PATH: process.env["PATH"], PORT: String(port), DATA_DIR: join(folder, "data") },
    stdio: "ignore"
  })
  const ended = once(child, "exit")
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error("the program does not start")
    await setTimeout(5)
  }
  const found = { wall_ms: performance.now() - began, cpu_us: ProcessFigures.cpuOf_us([child.pid!]) }
  child.kill("SIGTERM")
  await ended
  return found
}

try {
  await start()
  const found: Array<Awaited<ReturnType<typeof start>>> = []
  for (let number = 0; number < starts; number++) found.push(await start())
  process.stdout.write(`${JSON.stringify(found)}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
