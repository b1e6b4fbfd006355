// PostgreSQL as a primary and its standby, under Patroni.

import { Effect, Schedule, type Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import * as Patroni from "../cluster/Patroni.ts"
import { run } from "../test/support/services/Command.ts"
import { keep } from "../test/support/services/Keeper.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import * as Server from "./Server.ts"

/** One of the two. Its server is Patroni; PostgreSQL itself is no child of that. */
export interface Member extends Server.Server {
  readonly port: number
  readonly restPort: number
  /** Sends all of PostgreSQL's processes a signal, and nothing to Patroni. */
  readonly signalPostgres: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Kills its postmaster with -9: the others end when they notice. */
  readonly killPostmaster: Effect.Effect<void>
  /** The folder on a file system of its own, which has room for little; null where it has none. */
  readonly disk: string | null
}

/** Both, and what watches over them. */
export interface Pair {
  readonly mode: Patroni.StandbyMode
  readonly members: ReadonlyArray<Member>
  /** The primary by Patroni's word. */
  readonly leader: Effect.Effect<Member, Unavailable>
  /** Waits until there is a primary with a standby that follows it, in the mode. */
  readonly whole: (mode: Patroni.StandbyMode) => Effect.Effect<void, Unavailable>
  /** Waits until another than `member` is the primary; fails where that takes more than 60 s. */
  readonly replaced: (member: Member) => Effect.Effect<void, Unavailable>
  /** Changes whether commits wait for the standby, and waits until it is so. */
  readonly setMode: (mode: Patroni.StandbyMode) => Effect.Effect<void, Unavailable>
  /** Asks Patroni to let them change their parts, and waits until they have. */
  readonly switchOver: Effect.Effect<Member, Unavailable>
  readonly logs: ReadonlyArray<string>
}

/** PostgreSQL's processes, the postmaster first. */
const processesOf = (folder: string, name: string): ReadonlyArray<number> => {
  try {
    const postmaster = Patroni.postmasterOf(folder, name)
    const file = `/proc/${postmaster}/task/${postmaster}/children`
    const children = existsSync(file) ? readFileSync(file, "utf8").split(" ") : []
    return [postmaster, ...children.map(Number).filter((pid) => pid > 0)]
  } catch {
    return []
  }
}

/** Room for the data of a run of an hour and its log. */
const disk_MB = 1_024

/** Gives a member's data a file system of its own in memory, which goes with the scope, or with this process. Only root can. */
const mountDisk = Effect.fn("Pair.mountDisk")(function* (
  { user }: Patroni.PatroniOptions,
  disk: string
): Effect.fn.Return<string | null, never, Scope.Scope> {
  if (process.getuid?.() !== 0 || user.uid === undefined || user.gid === undefined) return null
  yield* keep({ commands: [], signal: "TERM", cleanup: ["umount", "--lazy", disk] })
  const options = `size=${disk_MB}m,mode=0700,uid=${user.uid},gid=${user.gid}`
  return yield* run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk]).pipe(
    Effect.as(disk),
    Effect.orElseSucceed(() => null)
  )
})

const until = (what: string, check: Effect.Effect<boolean, Unavailable>) =>
  check.pipe(
    Effect.orElseSucceed(() => false),
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (is) => is }),
    Effect.timeoutFail({
      duration: "60 seconds",
      onTimeout: () => new Unavailable({ reason: `${what} did not come to pass within 60 s` })
    }),
    Effect.asVoid
  )

/** Starts etcd, both servers and the HAProxy that leads to the primary; comes when the standby follows. */
export const start = Effect.fn("Pair.start")(function* (
  options: Patroni.PatroniOptions
): Effect.fn.Return<Pair, Unavailable, Scope.Scope> {
  const { folder, mode, port } = options
  const etcd = yield* Patroni.startEtcd(options)
  const members = yield* Effect.forEach(
    Patroni.memberNames,
    (name) =>
      Effect.gen(function* () {
        const disk = yield* mountDisk(options, yield* Patroni.makeDisk(options, name))
        const server = yield* Server.make(Patroni.startMember(options, name))
        const signalPostgres = (signal: NodeJS.Signals) =>
          Effect.sync(() => {
            for (const pid of processesOf(folder, name)) {
              try {
                process.kill(pid, signal)
              } catch {
                // It is gone.
              }
            }
          })
        yield* Effect.addFinalizer(() => signalPostgres("SIGCONT"))
        return {
          ...server,
          port: port(name),
          restPort: port(Patroni.restOf(name)),
          signalPostgres,
          killPostmaster: Effect.sync(() => process.kill(Patroni.postmasterOf(folder, name), "SIGKILL")),
          disk
        } satisfies Member
      }),
    { concurrency: "unbounded" }
  )
  const restPorts = members.map(({ restPort }) => restPort)
  const whole = (mode: Patroni.StandbyMode) => Patroni.awaitWhole(restPorts, mode)
  yield* whole(mode)
  const balancer = yield* Patroni.startBalancer(options)

  /** By each Patroni's own word, since one that stands still or is cut off does not count. */
  const leading = Effect.map(
    Effect.forEach(members, (member) => Patroni.isPrimary(member.restPort), { concurrency: "unbounded" }),
    (are) => members.filter((_, index) => are[index])
  )
  const leader = Effect.flatMap(leading, ([first]) =>
    first === undefined ? new Unavailable({ reason: "There is no primary" }) : Effect.succeed(first)
  )
  const replaced = (member: Member) =>
    until(
      `Another primary than ${member.name}`,
      Effect.map(leading, (all) => all.some(({ name }) => name !== member.name))
    )
  return {
    mode,
    members,
    leader,
    whole,
    replaced,
    setMode: (mode) =>
      Effect.zipRight(
        Effect.firstSuccessOf(restPorts.map((restPort) => Patroni.configure(restPort, mode))),
        whole(mode)
      ),
    switchOver: Effect.gen(function* () {
      const before = yield* leader
      yield* Patroni.switchOver(before.restPort, before.name)
      yield* replaced(before)
      return before
    }),
    logs: [etcd.log, ...members.map(({ log }) => log), balancer.log]
  }
})
