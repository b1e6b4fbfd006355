import { Effect } from "effect"
import { atMost, type Case } from "../Case.ts"
import { runProgram } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"
import { jsonOf } from "./keys.ts"

/** How long a node alone takes to be ready. */
export const start: Case = {
  name: "start",
  title: "Start on SQLite, until `/health/ready` answers 200",
  run: Effect.fn("start")(function* (ground) {
    const output = yield* runProgram("probes/start", 0, { STARTS: String(ground.quick ? 3 : 10) })
    const starts = yield* jsonOf<ReadonlyArray<{ readonly wall_ms: number; readonly cpu_us: number }>>(output)
    const walls = starts.map(({ wall_ms }) => wall_ms).toSorted((a, b) => a - b)
    const p50_ms = Rounds.median(walls)
    const cpu_us = Rounds.median(starts.map((one) => one.cpu_us))
    return {
      rows: [
        Rounds.plainRow({
          subject: "the second start and later ones",
          unit: "ms",
          rounds: walls,
          p50_ms,
          cpu_us
        })
      ],
      goals: [atMost("median", 900, " ms", p50_ms)],
      notes: ["CPU time is that of all threads, for one start. On a machine with other work the time grows."]
    }
  })
}
