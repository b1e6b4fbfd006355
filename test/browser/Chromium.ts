// A real browser: Debian's Chromium.

import { Effect, identity } from "effect"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, chromium } from "playwright-core"
import { installPackage } from "../support/services/Apt.ts"
import { Unavailable } from "../support/services/Service.ts"

const names = ["chromium", "chromium-browser", "google-chrome-stable"]

const find = (): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file))

const program: Effect.Effect<string, Unavailable> = Effect.suspend(() => {
  const found = find()
  if (found !== undefined) return Effect.succeed(found)
  return Effect.flatMap(installPackage({ name: "Chromium", package: "chromium" }, identity), () => {
    const installed = find()
    return installed === undefined
      ? new Unavailable({ reason: "Chromium was installed, and is not in PATH" })
      : Effect.succeed(installed)
  })
})

/** Starts a Chromium, from this machine or else installed by apt-get. It speaks to nobody but who a test has it speak to. */
export const launch: Effect.Effect<Browser, Unavailable> = Effect.flatMap(program, (executablePath) =>
  Effect.tryPromise({
    try: () =>
      chromium.launch({
        executablePath,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync"
        ]
      }),
    catch: (error) => new Unavailable({ reason: `Chromium does not start: ${String(error)}` })
  })
)
