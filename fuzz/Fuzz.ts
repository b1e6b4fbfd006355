// A whole run: the service started several times, with and without limits of rates, each time for some thousands of requests.

import { Clock, Duration, Effect } from "effect"
import * as Progress from "../src/terminal/Progress.ts"
import type { Arguments } from "./Arguments.ts"
import * as Campaign from "./Campaign.ts"
import { limits } from "./Judge.ts"
import * as Program from "./Program.ts"
import type { Life, Report } from "./Report.ts"

/** Requests to one start of the service: so many that memory which leaks shows, and so few that one that is slow to go does not hide it. */
const lifeMax = 10_000

/** The part of the requests that are sent under default limits. */
const limitedPart = 0.2

/** The lives of a run: how many requests each has. */
export const livesOf = ({ limits, requests }: Pick<Arguments, "limits" | "requests">) => {
  const limited = limits === "with" ? requests : limits === "without" ? 0 : Math.floor(requests * limitedPart)
  const cut = (all: number, hasLimits: boolean) => {
    const count = Math.ceil(all / lifeMax)
    return Array.from({ length: count }, () => ({ requests: Math.ceil(all / count), hasLimits }))
  }
  return [...cut(requests - limited, false), ...cut(limited, true)]
}

/** Runs it. */
export const run = Effect.fn("Fuzz.run")(function* (options: Arguments) {
  const { bytesMax, database, hang_ms, memory_MB, minutes, requests, seed, stall_ms } = options
  const began_ms = yield* Clock.currentTimeMillis
  const until_ms = began_ms + Duration.toMillis(Duration.minutes(minutes))
  const progress = yield* Progress.make({ all: requests, unit: "requests" })
  const lives: Array<Life> = []
  let [sent, batches] = [0, 0]
  for (const life of livesOf(options)) {
    if ((yield* Clock.currentTimeMillis) > until_ms) break
    const seen = yield* Effect.scoped(
      Effect.flatMap(Program.start({ memory_MB, database, hasLimits: life.hasLimits }), (target) =>
        Campaign.run(target, {
          seed: seed + batches,
          batchesBefore: batches,
          requests: life.requests,
          until_ms,
          bytesMax,
          limits: { ...limits, hang_ms, stall_ms },
          settleEach: "1 second",
          progress: (done) => progress.update(Math.min(requests, sent + done))
        })
      )
    )
    sent += seen.cases
    batches += seen.batches
    lives.push({ ...seen, hasLimits: life.hasLimits })
  }
  const seconds = ((yield* Clock.currentTimeMillis) - began_ms) / 1_000
  return { seed, seconds, lives } satisfies Report
})
