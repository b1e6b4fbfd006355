// Where PostgreSQL's programs are on this machine, and how they get there if they are not.

import { Effect } from "effect"
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { installPackage } from "../Apt.ts"
import { type RunAs, run } from "../Command.ts"
import { firstFit, isExecutable } from "../Programs.ts"
import { Unavailable } from "../Service.ts"

/** The oldest major version that Linkmint supports. */
export const oldestMajor = 15

/** The folder of a PostgreSQL's programs, and its version. */
export interface Binaries {
  readonly folder: string
  readonly version: string
}

/** Where to look: a list of folders as in `PATH`, and Debian's folder that has one folder a major version. */
export interface SearchPaths {
  readonly path: string
  readonly library: string
}

/** The places of this machine. */
export const machinePaths = (): SearchPaths => ({
  path: process.env["PATH"] ?? "",
  library: "/usr/lib/postgresql"
})

/** The user to run the server as: ourselves, but never root, because PostgreSQL refuses to run as root. */
export const serverUser: Effect.Effect<RunAs, Unavailable> = Effect.suspend(() => {
  if (process.getuid?.() !== 0) return Effect.succeed({})
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
  const user = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody")
  return user === undefined
    ? new Unavailable({
        reason: "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`"
      })
    : Effect.succeed({ uid: Number(user[2]), gid: Number(user[3]) })
})

// Where `postgres` is a link, its folder need not have the other programs: follow it.
const programFolder = (folder: string): ReadonlyArray<string> => {
  const server = join(folder, "postgres")
  if (!isExecutable(server)) return []
  const real = dirname(realpathSync(server))
  return isExecutable(join(real, "initdb")) ? [real] : []
}

const candidates = Effect.fn("candidates")(function* ({ path, library }: SearchPaths) {
  const inPath = path.split(delimiter).filter((folder) => folder.startsWith("/"))
  const majors = existsSync(library) ? readdirSync(library) : []
  const newestFirst = majors.toSorted((a, b) => Number.parseFloat(b) - Number.parseFloat(a))
  const config = inPath.map((folder) => join(folder, "pg_config")).find(isExecutable)
  const fromConfig =
    config === undefined ? "" : yield* Effect.orElseSucceed(run(config, ["--bindir"]), () => "")
  const all = [...inPath, ...newestFirst.map((major) => join(library, major, "bin")), fromConfig.trim()]
  return new Set(all.filter((folder) => folder !== "").flatMap(programFolder))
})

/**
 * The first PostgreSQL 15 or newer, which `user` can run: in `PATH`, then in Debian's folder (newest first), then
 * where `pg_config` points. Without any, the error says what was found instead.
 */
export const findBinaries = Effect.fn("findBinaries")(function* (
  paths: SearchPaths,
  user: RunAs
): Effect.fn.Return<Binaries, Unavailable> {
  const wanted = {
    product: "PostgreSQL",
    versionArgument: "--version",
    version: /(\d[\w.]*)/,
    isOld: (version: string) => Number.parseInt(version) < oldestMajor,
    none: `no PostgreSQL ${oldestMajor} or newer in PATH, ${paths.library} or by pg_config`
  }
  const servers = Array.from(yield* candidates(paths), (folder) => ({
    program: join(folder, "postgres"),
    shown: folder
  }))
  const { shown: folder, version } = yield* firstFit(wanted, servers, user)
  return { folder, version }
})

// A drop-in that is there only while we install: the package shall make no cluster, so it starts none either.
const noCluster = "/etc/postgresql-common/createcluster.d/linkmint-tests.conf"

/**
 * Installs the distribution's `postgresql` package, on Debian and Ubuntu and as root only, within 10 minutes a step.
 * It leaves no cluster and no server behind, only the programs.
 */
export const installBinaries: Effect.Effect<void, Unavailable> = installPackage(
  { name: "PostgreSQL", package: "postgresql", oldestMajor },
  (install) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        mkdirSync(dirname(noCluster), { recursive: true })
        writeFileSync(noCluster, "create_main_cluster = false\n")
      }),
      () => install,
      () => Effect.sync(() => rmSync(noCluster, { force: true }))
    )
)
