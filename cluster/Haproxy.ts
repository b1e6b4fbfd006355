// HAProxy in front of nodes, with the directives of `haproxy/haproxy.cfg`.

import { Effect, type Scope } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { installServer } from "../test/support/services/Apt.ts"
import { findOrInstall, firstFit, inFolders } from "../test/support/services/Programs.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import { type Launched, launch } from "./Launch.ts"
import { inRepository } from "./Repository.ts"

/** The oldest version that knows every directive of ours. */
const oldestVersion = "2.6"

const isOlder = (version: string): boolean =>
  version.localeCompare(oldestVersion, "en", { numeric: true }) < 0

/** The first HAProxy 2.6 or newer in `PATH`, and in /usr/sbin, which not everybody's has. */
const findProgram = Effect.suspend(() => {
  const path = process.env["PATH"] ?? ""
  const wanted = {
    product: "HAProxy",
    versionArgument: "-v",
    version: /version (\d+\.\d+[\w.]*)/,
    isOld: isOlder,
    none: `no haproxy ${oldestVersion} or newer in PATH`
  }
  const programs = inFolders("haproxy", [...path.split(delimiter), "/usr/sbin"])
  return Effect.map(firstFit(wanted, programs), ({ program }) => program)
})

/** HAProxy's program on this machine; where there is none, it is installed. */
export const haveProgram: Effect.Effect<string, Unavailable> = findOrInstall(
  findProgram,
  installServer({ name: "HAProxy", package: "haproxy" })
)

/** A node as HAProxy reaches it. */
export interface Backend {
  readonly name: string
  /** `host:port`. */
  readonly address: string
}

const serverLine = /^ +server \S+ ([\w-]+):\d+/

/**
 * A configuration like `template`, for other nodes: wherever that has `server` lines, whose hosts are the nodes' names, there is
 * one for each of `nodes`, with what the first of them says.
 */
export const configure = (template: string, nodes: ReadonlyArray<Backend>): string => {
  const lines = template.split("\n")
  const hostOf = (line: string | undefined) => serverLine.exec(line ?? "")?.[1]
  return lines
    .flatMap((line, index) => {
      const host = hostOf(line)
      if (host === undefined) return line
      if (hostOf(lines[index - 1]) !== undefined) return []
      const mentions = new RegExp(`\\b${host}\\b(:\\d+)?`, "g")
      return nodes.map(({ address, name }) =>
        line.replaceAll(mentions, (_, port) => (port === undefined ? name : address))
      )
    })
    .join("\n")
}

/** Where and how to run it. */
export interface HaproxyOptions {
  readonly program: string
  readonly folder: string
  /** At the loopback address. */
  readonly port: number
  readonly nodes: ReadonlyArray<Backend>
}

/** The socket at which the operator can talk to it. */
export const socketIn = (folder: string): string => join(folder, "socket")

/** Starts it, and waits until a node answers through it. */
export const start = Effect.fn("Haproxy.start")(function* (
  options: HaproxyOptions
): Effect.fn.Return<Launched, Unavailable, Scope.Scope> {
  const { folder, nodes, port, program } = options
  const file = join(folder, "haproxy.cfg")
  const template = yield* Effect.sync(() => readFileSync(inRepository("haproxy/haproxy.cfg"), "utf8"))
  return yield* launch({
    name: "haproxy",
    folder,
    prepare: () => writeFileSync(file, configure(template, nodes)),
    // In the foreground, as its keeper is its parent, and in its folder, as the path of a socket may have 96 characters at most.
    commands: [[program, "-db", "-C", folder, "-f", file]],
    env: {
      PATH: process.env["PATH"],
      LISTEN: `127.0.0.1:${port}`,
      STATS_SOCKET: "unix@socket"
    },
    signal: "TERM",
    answers: Effect.tryPromise(() =>
      fetch(`http://127.0.0.1:${port}/health/live`, { signal: AbortSignal.timeout(1_000) })
    ).pipe(Effect.filterOrFail((response) => response.ok)),
    limit: "15 seconds"
  })
})
