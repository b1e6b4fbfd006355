// Where PostgreSQL's programs are on this machine, and how they get there if they are not.

import { Effect } from "effect"
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { type RunAs, run } from "./Command.ts"
import { Unavailable } from "./Service.ts"

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

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

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
  const unfit: Array<string> = []
  for (const folder of yield* candidates(paths)) {
    const answer = yield* Effect.either(run(join(folder, "postgres"), ["--version"], user))
    const version = answer._tag === "Right" ? /\d[\w.]*/.exec(answer.right)?.[0] : undefined
    if (version === undefined) unfit.push(`${folder}/postgres does not run`)
    else if (Number.parseInt(version) < oldestMajor) unfit.push(`${folder} is PostgreSQL ${version}`)
    else return { folder, version }
  }
  const places = `no PostgreSQL ${oldestMajor} or newer in PATH, ${paths.library} or by pg_config`
  return yield* new Unavailable({ reason: unfit.length === 0 ? places : `${places} (${unfit.join(", ")})` })
})

// A drop-in that is there only while we install: the package shall make no cluster, so it starts none either.
const noCluster = "/etc/postgresql-common/createcluster.d/linkmint-tests.conf"

const aptGet = (...args: ReadonlyArray<string>) =>
  run("apt-get", ["-o", "DPkg::Lock::Timeout=60", "-y", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    timeout: "10 minutes"
  })

const offeredMajor = Effect.map(
  run("apt-cache", ["policy", "postgresql"], { env: { ...process.env, LC_ALL: "C" } }),
  (policy) => Number.parseInt(/Candidate: (\d+)/.exec(policy)?.[1] ?? "0")
)

/**
 * Installs the distribution's `postgresql` package, on Debian and Ubuntu and as root only, within 10 minutes a step.
 * It leaves no cluster and no server behind, only the programs.
 */
export const installBinaries = Effect.fn("installBinaries")(function* (): Effect.fn.Return<
  void,
  Unavailable
> {
  if (!existsSync("/etc/debian_version"))
    return yield* new Unavailable({ reason: "not Debian or Ubuntu, so not installed" })
  if (process.getuid?.() !== 0) return yield* new Unavailable({ reason: "not root, so not installed" })
  process.stderr.write("PostgreSQL is not here: installing it with `apt-get install -y postgresql`\n")

  if ((yield* offeredMajor) === 0) yield* aptGet("update")
  const major = yield* offeredMajor
  if (major < oldestMajor) {
    const offer = major === 0 ? "no `postgresql`" : `PostgreSQL ${major}`
    return yield* new Unavailable({ reason: `apt offers ${offer}, so not installed` })
  }

  const install = aptGet("install", "--no-install-recommends", "postgresql")
  yield* Effect.acquireUseRelease(
    Effect.sync(() => {
      mkdirSync(dirname(noCluster), { recursive: true })
      writeFileSync(noCluster, "create_main_cluster = false\n")
    }),
    // Package lists that have aged name files that the mirror no longer has: one fresh try.
    () => Effect.catchAll(install, () => Effect.zipRight(aptGet("update"), install)),
    () => Effect.sync(() => rmSync(noCluster, { force: true }))
  )
})
