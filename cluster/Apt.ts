// Packages of Debian and Ubuntu.

import { Effect } from "effect"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { run } from "../test/services/Command.ts"
import { Unavailable } from "../test/services/Service.ts"

/** A package, by its people's name, its own, and that of the service in it. */
export interface Package {
  readonly name: string
  readonly package: string
  readonly service: string
}

// Packages ask it whether they may start their services.
const policy = "/usr/sbin/policy-rc.d"

const aptGet = (...args: ReadonlyArray<string>) =>
  run("apt-get", ["-o", "DPkg::Lock::Timeout=60", "-y", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    timeout: "10 minutes"
  })

/**
 * Installs a package, on Debian and Ubuntu and as root only, within 10 minutes a step, and says so on stderr. Its service is
 * neither started nor left to start at the next boot.
 */
export const installPackage = Effect.fn("installPackage")(function* (
  wanted: Package
): Effect.fn.Return<void, Unavailable> {
  const reason = (why: string) =>
    new Unavailable({ reason: `${wanted.name} is not here, and ${why}: install it and try again` })
  if (!existsSync("/etc/debian_version")) return yield* reason("this is neither Debian nor Ubuntu")
  if (process.getuid?.() !== 0) return yield* reason("only root could install it")
  process.stderr.write(
    `${wanted.name} is not here: installing it with \`apt-get install -y ${wanted.package}\`\n`
  )

  const install = aptGet("install", "--no-install-recommends", wanted.package)
  // Somebody's own policy stays; then the service is stopped below.
  const hasPolicy = existsSync(policy)
  yield* Effect.acquireUseRelease(
    Effect.sync(() => {
      if (!hasPolicy) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
    }),
    // Package lists that are missing or have aged: one fresh try.
    () => Effect.catchAll(install, () => Effect.zipRight(aptGet("update"), install)),
    () =>
      Effect.sync(() => {
        if (!hasPolicy) rmSync(policy, { force: true })
      })
  )
  if (existsSync("/run/systemd/system")) {
    yield* Effect.ignore(run("systemctl", ["disable", "--now", wanted.service]))
  }
})
