// Buckets moved by the command that operators have, which is killed at the steps that a run names, as are nodes.

import { Effect, Schedule, type Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Launched, launch } from "../../cluster/Launch.ts"
import { inRepository } from "../../cluster/Repository.ts"
import { type Step, steps } from "../../src/storage/links/moves/BucketMoveLog.ts"
import { Unavailable } from "../../test/support/services/Service.ts"
import { inDatabase } from "../Stores.ts"
import type { Topology } from "./Topology.ts"

/** One move. */
export interface Leg {
  readonly to: number
  readonly buckets: ReadonlyArray<number>
  /** Who is killed, once the move is at a step. */
  readonly kill: { readonly who: "mover" | "node"; readonly at: Step } | null
}

/** What became of it. */
export interface Moved {
  readonly from: number
  readonly to: number
  readonly buckets: number
  readonly rows: number
  readonly seconds: number
  /** For how long the buckets were not written; null where the mover was killed. */
  readonly unwritten_ms: number | null
  /** Who was killed, and the step at which the move was then. */
  readonly killed: string | null
}

interface Logged {
  readonly id: string
  readonly step: string
}

const lastMove = (topology: Topology) =>
  inDatabase(topology.databases[0]!, (sql) =>
    Effect.map(
      sql<Logged>`SELECT id, step FROM bucket_moves ORDER BY bucket_moves.id DESC LIMIT 1`,
      ([row]) => row ?? { id: "0", step: "done" }
    )
  )

/** Comes when a move that is not `before` is at a step or beyond it. */
const atStep = (topology: Topology, before: Logged, wanted: Step) =>
  inDatabase(topology.databases[0]!, (sql) =>
    sql<Logged>`SELECT id, step FROM bucket_moves WHERE bucket_moves.id > ${before.id}::bigint`.pipe(
      Effect.repeat({
        until: ([row]) =>
          row !== undefined &&
          (row.step === "done" || steps.indexOf(row.step as Step) >= steps.indexOf(wanted)),
        schedule: Schedule.spaced("2 millis")
      })
    )
  )

let movers = 0

const startMover = (topology: Topology, args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const name = `mover-${++movers}`
    const folder = join(topology.folder, name)
    const pid = join(folder, "pid")
    return launch({
      name,
      folder,
      commands: [[process.execPath, inRepository("dist/admin.js"), "move-buckets", ...args]],
      env: { ...process.env, ...topology.variables },
      signal: "KILL",
      answers: Effect.filterOrFail(
        Effect.sync(() => existsSync(pid) && readFileSync(pid, "utf8") !== ""),
        (isThere) => isThere
      ),
      limit: "60 seconds"
    })
  })

const output = ({ log }: Launched) => readFileSync(log, "utf8")

/** Waits for a mover, which must succeed. */
const finished = (mover: Launched) =>
  Effect.flatMap(mover.ended, (how) =>
    how === "ended with status 0"
      ? Effect.void
      : new Unavailable({ reason: `${mover.name} ${how}`, detail: output(mover).slice(-2_000) })
  )

/** Spreads the buckets over all databases, while nothing is in them. */
export const spread = (topology: Topology): Effect.Effect<void, Unavailable> =>
  Effect.scoped(Effect.flatMap(startMover(topology, ["--even"]), finished))

const told =
  /Moved \d+ buckets? \((\d+) rows?\) from database (\d+) to \d+(?:\.|; they were not written for (\d+) ms\.)/

/** Kills a node and starts it again; is told that the mover is dead, and that it lives. */
export interface Killing {
  readonly node: Effect.Effect<string, Unavailable>
  readonly moverIsDead: (is: boolean) => void
}

/** Moves buckets, kills who is to be killed, and has the move go on. */
export const move = Effect.fn("Moves.move")(function* (
  topology: Topology,
  { buckets, kill, to }: Leg,
  killing: Killing
): Effect.fn.Return<Moved, Unavailable, Scope.Scope> {
  const begun = performance.now()
  const args = ["--to", String(to), "--buckets", buckets.join(",")]
  const before = yield* lastMove(topology)
  let mover = yield* startMover(topology, args)
  let killed: string | null = null
  if (kill !== null) {
    yield* Effect.raceFirst(atStep(topology, before, kill.at), finished(mover))
    if (kill.who === "node") {
      const { step } = yield* lastMove(topology)
      killed = `${yield* killing.node} at ${step}`
    } else {
      yield* Effect.sync(() => process.kill(mover.pid, "SIGKILL"))
      const how = yield* mover.ended
      if (how !== "was killed by SIGKILL") {
        return yield* new Unavailable({ reason: `${mover.name} ${how}, before it could be killed` })
      }
      killing.moverIsDead(true)
      killed = `the mover at ${(yield* lastMove(topology)).step}`
      mover = yield* startMover(topology, args)
    }
  }
  yield* finished(mover)
  killing.moverIsDead(false)
  const [, rows, from, unwritten] = told.exec(output(mover)) ?? []
  if (rows === undefined) {
    return yield* new Unavailable({
      reason: `${mover.name} moved nothing`,
      detail: output(mover).slice(-2_000)
    })
  }
  return {
    from: Number(from),
    to,
    buckets: buckets.length,
    rows: Number(rows),
    seconds: (performance.now() - begun) / 1_000,
    unwritten_ms: unwritten === undefined ? null : Number(unwritten),
    killed
  }
})
