// The folder of a cluster, and what it remembers from start to start.

import { Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, isFree } from "../test/support/FreePort.ts"
import { type RunAs, run } from "../test/support/services/Command.ts"
import { type Command, keep } from "../test/support/services/Keeper.ts"
import { releasedOnFailure, Unavailable } from "../test/support/services/Service.ts"

/** What a cluster keeps to itself, in `cluster.json`. */
export interface Memory {
  readonly adminKey: string
  /** The password of `admin@localhost`, once it was set. */
  readonly adminPassword?: string
  readonly keySecret: string
  readonly postgresPassword: string
  /** Whether Sentinels have a say in which Redis is a primary. */
  readonly sentinel: boolean
  /** Whether PostgreSQL has a standby. */
  readonly standby?: boolean
  /** The port of each server, by name. */
  readonly ports: Readonly<Record<string, number>>
}

// Servers are stopped by their own keepers when we are killed: the folder waits for them, 15 s at most.
const removal = (folder: string): Command => [
  "/bin/sh",
  "-c",
  `i=0
while [ $i -lt 150 ]; do
  alive=
  for file in "$0"/*/pid; do
    [ ! -e "$file" ] || ! kill -0 "$(cat "$file")" || alive=1
  done
  [ -n "$alive" ] || break
  i=$((i + 1))
  sleep 0.1
done
rm -rf "$0"`,
  folder
]

/** A new folder in `parent` that `user` can get through; it goes when the scope closes or this process ends. */
const temporaryIn = (parent: string, user: RunAs) =>
  Effect.gen(function* () {
    const folder = yield* Effect.sync(() => mkdtempSync(join(parent, "linkmint-cluster-")))
    yield* keep({ commands: [], signal: "TERM", cleanup: removal(folder) })
    chmodSync(folder, 0o711)
    yield* run("test", ["-x", folder], user)
    return folder
  }).pipe(releasedOnFailure)

const given = (dir: string, user: RunAs) =>
  Effect.try({
    try: () => mkdirSync(dir, { recursive: true, mode: 0o711 }),
    catch: (error) => new Unavailable({ reason: `The folder ${dir} cannot be made: ${String(error)}` })
  }).pipe(
    Effect.zipRight(run("test", ["-x", dir], user)),
    Effect.mapError(({ reason }) =>
      reason.startsWith("The folder")
        ? new Unavailable({ reason })
        : new Unavailable({
            reason: `The folder ${dir} cannot be reached by user ${user.uid}, who runs PostgreSQL: choose another`
          })
    ),
    Effect.as(dir)
  )

/** The folder `dir`, or where that is null a temporary one, that `user` can get through, too. */
export const open = (dir: string | null, user: RunAs): Effect.Effect<string, Unavailable, Scope.Scope> =>
  dir === null
    ? // As root our TMPDIR may be closed to others.
      Effect.orElse(temporaryIn(tmpdir(), user), () => temporaryIn("/tmp", user))
    : given(dir, user)

/** Gives each name a port of its own that nobody listens on, the one it had before where it can. */
const portsFor = Effect.fn("portsFor")(function* (
  names: ReadonlyArray<string>,
  before: Readonly<Record<string, number>>
) {
  const ports: Record<string, number> = { ...before }
  for (const name of names) {
    const had = before[name]
    if (had !== undefined && (yield* isFree(had))) continue
    const taken = new Set(Object.values(ports))
    ports[name] = yield* Effect.repeat(freePort, { until: (port) => !taken.has(port) })
  }
  return ports
})

/** What a folder shall remember. */
export interface Recalling {
  /** Servers, each of which needs a port. */
  readonly names: ReadonlyArray<string>
  readonly sentinel: boolean
  readonly standby: boolean
}

const drawn = ({ sentinel, standby }: Recalling): Memory => ({
  adminKey: process.env["ADMIN_API_KEY"] ?? `lm_${randomBytes(24).toString("base64url")}`,
  keySecret: process.env["KEY_SECRET"] ?? randomBytes(16).toString("hex"),
  postgresPassword: randomBytes(16).toString("hex"),
  sentinel,
  standby,
  ports: {}
})

/**
 * What the folder remembers, with a port for each server. A new folder draws its secrets, or takes the environment's. One of a
 * cluster with Sentinels, or with a standby, cannot go on without them, nor the other way about.
 *
 * What is new is for the caller to `write`, once it is sure that no other cluster is at work in the folder.
 */
export const recall = Effect.fn("recall")(function* (
  folder: string,
  wanted: Recalling
): Effect.fn.Return<
  { readonly memory: Memory; readonly write: (memory: Memory) => Effect.Effect<void> },
  Unavailable
> {
  const { names } = wanted
  const file = join(folder, "cluster.json")
  const before = yield* Effect.try({
    try: () => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Memory) : drawn(wanted)),
    catch: (error) => new Unavailable({ reason: `${file} cannot be understood: ${String(error)}` })
  })
  for (const option of ["sentinel", "standby"] as const) {
    const had = before[option] ?? false
    if (had !== wanted[option]) {
      const how = `${had ? "with" : "without"} --${option}`
      return yield* new Unavailable({
        reason: `The cluster in ${folder} was made ${how}, and goes on only so`
      })
    }
  }
  const memory = { ...before, ports: yield* portsFor(names, before.ports) }
  const write = (memory: Memory) =>
    Effect.sync(() => writeFileSync(file, JSON.stringify(memory, null, 2), { mode: 0o600 }))
  if (!existsSync(file)) yield* write(memory)
  return { memory, write }
})

/** Takes away what an earlier start left of a server that cannot go on from it. */
export const clear = (path: string): void => rmSync(path, { recursive: true, force: true })
