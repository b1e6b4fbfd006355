import { Duration, Effect } from "effect"
import { atMost, type Case } from "../Case.ts"
import { type DeploymentKind, type Ground, startProgram } from "../Ground.ts"
import * as ProcessFigures from "../ProcessFigures.ts"
import * as Rounds from "../Rounds.ts"

const kinds: ReadonlyArray<DeploymentKind> = ["PostgreSQL and Redis", "SQLite"]

const idleMax_ms = 10

/** How long a program is left alone before, and how long one round is. */
const timesOf = ({ quick }: Ground) =>
  quick ? { settle_s: 1, rounds: 1, seconds: 2 } : { settle_s: 10, rounds: 3, seconds: 10 }

/** What nodes take that nobody asks anything. Nothing of the benchmark runs in them. */
export const idle: Case = {
  name: "idle",
  title: "An idle node: its CPU time a second",
  run: Effect.fn("idle")(function* (ground) {
    const { rounds, seconds, settle_s } = timesOf(ground)
    const programs = yield* Effect.forEach(kinds, (kind) =>
      Effect.flatMap(ground.deployment(kind, 1_000), (deployment) =>
        startProgram(ground, deployment, { isWatched: false })
      )
    )
    yield* Effect.sleep(`${settle_s} seconds`)
    const turn = Effect.gen(function* () {
      const before = programs.map(({ pids }) => ProcessFigures.cpuOf_us(pids))
      const [took] = yield* Effect.timed(Effect.sleep(`${seconds} seconds`))
      const took_s = Duration.toSeconds(took)
      return programs.map(
        ({ pids }, index) => (ProcessFigures.cpuOf_us(pids) - before[index]!) / 1_000 / took_s
      )
    })
    const turns = yield* Effect.replicateEffect(turn, rounds)
    const rows = kinds.map((kind, index) =>
      Rounds.plainRow({
        subject: `Linkmint on ${kind}`,
        unit: "ms/s",
        rounds: turns.map((turn) => turn[index]!),
        rss_MB: ProcessFigures.rssOf_MB(programs[index]!.pids)
      })
    )
    return {
      rows,
      goals: rows.map((row, index) =>
        atMost(`CPU time of an idle node on ${kinds[index]}`, idleMax_ms, " ms/s", row.median)
      ),
      notes: [
        `All threads of the program, ${settle_s} s after its start, over ${seconds} s at a time. Both programs run side by side.`
      ]
    }
  })
}
