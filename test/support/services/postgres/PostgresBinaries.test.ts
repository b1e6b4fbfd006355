import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe } from "vitest"
import { findBinaries } from "./PostgresBinaries.ts"

const program = (path: string, output: string) =>
  writeFileSync(path, `#!/bin/sh\necho '${output}'\n`, { mode: 0o755 })

// A machine on which these versions lie in Debian's folder, and nothing in PATH yet.
const machine = (...versions: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "linkmint-binaries-"))
      const [library, path] = [join(root, "lib"), join(root, "bin")]
      mkdirSync(path)
      for (const version of versions) {
        const folder = join(library, String(Number.parseInt(version)), "bin")
        mkdirSync(folder, { recursive: true })
        program(join(folder, "postgres"), `postgres (PostgreSQL) ${version} (Debian ${version}-1)`)
        program(join(folder, "initdb"), "")
      }
      return { root, library, path }
    }),
    ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
  )

describe("findBinaries", () => {
  it.scoped("takes the newest of several versions", () =>
    Effect.gen(function* () {
      const paths = yield* machine("9.6.24", "15.18", "17.2")
      expect(yield* findBinaries(paths, {})).toEqual({
        folder: join(paths.library, "17/bin"),
        version: "17.2"
      })
    })
  )

  it.scoped("prefers what PATH has, and follows its links to the other programs", () =>
    Effect.gen(function* () {
      const paths = yield* machine("15.18", "17.2")
      symlinkSync(join(paths.library, "15/bin/postgres"), join(paths.path, "postgres"))
      expect(yield* findBinaries(paths, {})).toEqual({
        folder: join(paths.library, "15/bin"),
        version: "15.18"
      })
    })
  )

  it.scoped("finds what only pg_config knows of", () =>
    Effect.gen(function* () {
      const paths = yield* machine("16.1")
      program(join(paths.path, "pg_config"), join(paths.library, "16/bin"))
      const found = yield* findBinaries({ ...paths, library: "/nonexistent" }, {})
      expect(found).toEqual({ folder: join(paths.library, "16/bin"), version: "16.1" })
    })
  )

  it.scoped("says which versions are too old", () =>
    Effect.gen(function* () {
      const paths = yield* machine("14.9")
      const { reason } = yield* Effect.flip(findBinaries(paths, {}))
      expect(reason).toContain(`${join(paths.library, "14/bin")} is PostgreSQL 14.9`)
    })
  )

  it.effect("says where it looked when there is nothing", () =>
    Effect.gen(function* () {
      const { reason } = yield* Effect.flip(findBinaries({ path: "", library: "/nonexistent" }, {}))
      expect(reason).toBe("no PostgreSQL 15 or newer in PATH, /nonexistent or by pg_config")
    })
  )
})
