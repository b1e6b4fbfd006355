import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { expect, it } from "vitest"

const promtool = (...args: ReadonlyArray<string>) => spawnSync("promtool", args, { encoding: "utf8" })
const hasPromtool = promtool("--version").error === undefined
const untold = hasPromtool ? "" : " (not run: no promtool in PATH)"

it.skipIf(!hasPromtool)(`the alerts fire as long as there is a reason${untold}`, () => {
  const { status, stderr, stdout } = promtool("test", "rules", join(import.meta.dirname, "alerts.yml"))
  expect([status, stdout, stderr].join("\n")).toMatch(/^0\n/)
})
