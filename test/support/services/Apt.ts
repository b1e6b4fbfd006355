// Packages of Debian and Ubuntu.

import { Effect, Schedule } from "effect"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { run } from "./Command.ts"
import { Unavailable } from "./Service.ts"

/** A package, by its people's name and its own, and the oldest major version that is of use: any by default. */
export interface Package {
  readonly name: string
  readonly package: string
  readonly oldestMajor?: number
}

type Installation = Effect.Effect<string, Unavailable>

/** Of all its locks apt waits for that of the packages alone. Those of the lists and of what it has fetched belong to another apt, of another worker for example. */
const isLocked = ({ detail = "" }: Unavailable) => /Could not get lock|Unable to lock/.test(detail)

const aptGet = (...args: ReadonlyArray<string>): Installation =>
  run("apt-get", ["-o", "DPkg::Lock::Timeout=60", "-y", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    timeout: "10 minutes"
  }).pipe(
    Effect.retry({ while: isLocked, schedule: Schedule.spaced("1 second").pipe(Schedule.upTo("3 minutes")) })
  )

/** -1 where none is offered. */
const offeredMajor = (name: string) =>
  Effect.map(run("apt-cache", ["policy", name], { env: { ...process.env, LC_ALL: "C" } }), (offer) =>
    Number.parseInt(/Candidate: (?:\d+:)?(\d+)/.exec(offer)?.[1] ?? "-1")
  )

/**
 * Installs a package, on Debian and Ubuntu and as root only, within 10 minutes a step, and says so on stderr. `around` does what
 * keeps it from starting anything.
 */
export const installPackage = Effect.fn("installPackage")(function* (
  { name, oldestMajor = 0, package: wanted }: Package,
  around: (install: Installation) => Installation
): Effect.fn.Return<void, Unavailable> {
  if (!existsSync("/etc/debian_version"))
    return yield* new Unavailable({ reason: "not Debian or Ubuntu, so not installed" })
  if (process.getuid?.() !== 0) return yield* new Unavailable({ reason: "not root, so not installed" })
  process.stderr.write(`${name} is not here: installing it with \`apt-get install -y ${wanted}\`\n`)

  if ((yield* offeredMajor(wanted)) < 0) yield* aptGet("update")
  const major = yield* offeredMajor(wanted)
  if (major < oldestMajor) {
    const offer = major < 0 ? `no \`${wanted}\`` : `${name} ${major}`
    return yield* new Unavailable({ reason: `apt offers ${offer}, so not installed` })
  }

  const install = aptGet("install", "--no-install-recommends", wanted)
  // Package lists that have aged name files that the mirror no longer has: one fresh try.
  yield* around(Effect.catchAll(install, () => Effect.zipRight(aptGet("update"), install)))
})

// Packages ask it whether they may start their services.
const policy = "/usr/sbin/policy-rc.d"

/** The same for a package with a service of its name, which is neither started nor left to start at the next boot. */
export const installServer = Effect.fn("installServer")(function* (
  wanted: Package
): Effect.fn.Return<void, Unavailable> {
  // Somebody's own policy stays; then the service is stopped below.
  const hasPolicy = existsSync(policy)
  yield* installPackage(wanted, (install) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        if (!hasPolicy) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
      }),
      () => install,
      () =>
        Effect.sync(() => {
          if (!hasPolicy) rmSync(policy, { force: true })
        })
    )
  )
  if (existsSync("/run/systemd/system")) {
    yield* Effect.ignore(run("systemctl", ["disable", "--now", wanted.package]))
  }
})
