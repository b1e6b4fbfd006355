// What figures depend on beside the program.

import { Effect } from "effect"
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os"
import { inRepository } from "../cluster/Repository.ts"
import { run } from "../test/support/services/Command.ts"

/** Where, and of what, a run was made. */
export interface Machine {
  readonly commit: string
  readonly cpu: string
  readonly cores: number
  readonly memory_GB: number
  readonly kernel: string
  readonly node: string
  readonly postgres: string
  readonly load: string
  /** Processes that wanted a core when the run began, on average of a minute: a quiet machine has less than one. */
  readonly busy: number
}

/** The commit that is checked out; with `+` where files differ from it. */
const commit = Effect.gen(function* () {
  const git = (...args: ReadonlyArray<string>) => run("git", ["-C", inRepository("."), ...args])
  const hash = (yield* git("rev-parse", "--short", "HEAD")).trim()
  const changed = (yield* git("status", "--porcelain", "--untracked-files=no")).trim()
  return changed === "" ? hash : `${hash}+`
}).pipe(Effect.orElseSucceed(() => "unknown"))

/** Reads it now: before anything is measured. */
export const read = (load: string): Effect.Effect<Omit<Machine, "postgres">> =>
  Effect.map(commit, (hash) => ({
    commit: hash,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memory_GB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load,
    busy: Number(loadavg()[0]!.toFixed(2))
  }))
