// A real browser: Debian's Chromium, without its windows.

import { Effect, identity } from "effect"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, chromium } from "playwright-core"
import { installPackage } from "../support/services/Apt.ts"
import { Unavailable } from "../support/services/Service.ts"

/** Without windows, tabs and their processes, it takes 0.6 of the CPU time that the whole Chromium takes for the same pages. */
const shell = "chromium-headless-shell"

const others = ["chromium", "chromium-browser", "google-chrome-stable"]

const find = (names: ReadonlyArray<string>): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file))

const found = (names: ReadonlyArray<string>): Effect.Effect<string, Unavailable> =>
  Effect.suspend(() => {
    const file = find(names)
    return file === undefined
      ? new Unavailable({ reason: `none of ${names.join(", ")} is in PATH` })
      : Effect.succeed(file)
  })

const program: Effect.Effect<string, Unavailable> = found([shell]).pipe(
  Effect.orElse(() =>
    Effect.zipRight(installPackage({ name: "Chromium", package: shell }, identity), found([shell]))
  ),
  Effect.catchAll((error) => Effect.mapError(found(others), () => error))
)

/** Starts a Chromium, from this machine or else installed by apt-get. It speaks to nobody but who a test has it speak to. */
export const launch: Effect.Effect<Browser, Unavailable> = Effect.flatMap(program, (executablePath) =>
  Effect.tryPromise({
    try: () =>
      chromium.launch({
        executablePath,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          // The pages of one context share a process, which has compiled their scripts already.
          "--process-per-site",
          // A page lives for seconds, in which optimised code does not pay for its making.
          "--js-flags=--no-opt",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync"
        ]
      }),
    catch: (error) => new Unavailable({ reason: `Chromium does not start: ${String(error)}` })
  })
)
