// A machine's clock that is wrong, for one process: by libfaketime, which leaves monotonic time as it is.

import { Effect, type Scope } from "effect"
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { installPackage } from "./Apt.ts"
import { findOrInstall } from "./Programs.ts"
import { Unavailable } from "./Service.ts"

/** A process's clock. */
export interface Clock {
  /** Environment variables of the process. */
  readonly variables: Readonly<Record<string, string>>
  /** Has it be so many seconds ahead of the machine's, from now on. */
  readonly setAhead: (seconds: number) => void
}

const name = "libfaketimeMT.so.1"

/** Debian and Ubuntu keep libraries in a folder of each architecture. */
const findLibrary = Effect.suspend(() => {
  const folders = existsSync("/usr/lib")
    ? readdirSync("/usr/lib").map((folder) => join("/usr/lib", folder))
    : []
  const found = ["/usr/lib", "/usr/local/lib", ...folders]
    .map((folder) => join(folder, "faketime", name))
    .find((file) => existsSync(file))
  return found === undefined
    ? new Unavailable({ reason: `no ${name} below /usr/lib` })
    : Effect.succeed(found)
})

/** Looked for once: tests that run side by side would each install it. */
const library = Effect.runSync(
  Effect.cached(
    findOrInstall(
      findLibrary,
      installPackage({ name: "libfaketime", package: "libfaketime" }, (install) => install)
    )
  )
)

/** A clock that is right until it is set. */
export const wrongClock: Effect.Effect<Clock, Unavailable, Scope.Scope> = Effect.gen(function* () {
  const preloaded = yield* library
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "linkmint-clock-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const file = join(folder, "ahead")
  const setAhead = (seconds: number) => {
    // In one step, since the process reads it each time it looks at its clock.
    writeFileSync(`${file}.new`, `${seconds < 0 ? "" : "+"}${seconds}s\n`)
    renameSync(`${file}.new`, file)
  }
  setAhead(0)
  return {
    variables: {
      LD_PRELOAD: preloaded,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_NO_CACHE: "1",
      NO_FAKE_STAT: "1"
    },
    setAhead
  }
})
