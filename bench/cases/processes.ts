// What a second process on the same machine adds, with the load generator on it as well.

import { Effect } from "effect"
import { join } from "node:path"
import type { Case } from "../Case.ts"
import * as Draws from "../Draws.ts"
import * as EventLoop from "../EventLoop.ts"
import { type Deployment, type Ground, startProgram } from "../Ground.ts"
import { keyOf } from "../Links.ts"
import type { LoadOptions } from "../load/Load.ts"
import * as ProcessFigures from "../ProcessFigures.ts"
import * as Rounds from "../Rounds.ts"
import { bodyFile, createBody } from "./creates.ts"

const connections = 32

/** More than a round gets to the end of. */
const linesPerSecond = 40_000

/** A kind of request: what warms a program up for it, and what is measured. */
interface Work {
  readonly name: string
  readonly unit: string
  readonly warmUp: (seconds: number) => Partial<LoadOptions>
  readonly load: (seconds: number) => Partial<LoadOptions>
}

const worksOf = (ground: Ground, deployment: Deployment): ReadonlyArray<Work> => {
  const path = () => ({ path: `/${keyOf(1)}` })
  const file = join(ground.folder, "processes")
  const next = Draws.walk(deployment.links)
  const creates = {
    path: "/api/v1/links",
    body: bodyFile(ground, "processes.json", createBody),
    each: 1,
    apiKey: deployment.apiKey
  }
  const create = () => ({ creates })
  return [
    { name: "hot", unit: "redirects/s", warmUp: path, load: path },
    {
      name: "cold",
      unit: "redirects/s",
      // Keys that are not there are looked for as those that are, and not kept.
      warmUp: (seconds) => ({ paths: Draws.absent(file, deployment.links, seconds * linesPerSecond) }),
      load: (seconds) => ({ paths: next(file, seconds * linesPerSecond) })
    },
    { name: "create", unit: "creates/s", warmUp: create, load: create }
  ]
}

/** A program that is started for each round, so that both have the same database, one after the other. */
const contender = (
  ground: Ground,
  deployment: Deployment,
  { load, name, unit, warmUp }: Work,
  processes: number
): Rounds.Contender => ({
  subject: `${name}, ${processes} ${processes === 1 ? "process" : "processes"}`,
  unit,
  pids: [],
  usesPostgres: true,
  run: Effect.fn("processes.run")(function* (seconds: number) {
    const { pids, port } = yield* startProgram(ground, deployment, { processes })
    const send = (seconds: number, what: Partial<LoadOptions>) =>
      ground.load.send({ port, connections, seconds, ...what })
    const warmUp_s = ground.quick ? 1 : 3
    yield* send(warmUp_s, warmUp(warmUp_s))
    yield* EventLoop.longestHold(ground, pids)
    const before = ProcessFigures.cpuOf_us(pids)
    const databaseBefore = yield* ground.postgresCpu_us
    const sample = yield* send(seconds, load(seconds))
    yield* Effect.sleep(Rounds.afterwards)
    return {
      ...sample,
      cpu_us: ProcessFigures.cpuOf_us(pids) - before,
      databaseCpu_us: (yield* ground.postgresCpu_us) - databaseBefore,
      held_ms: yield* EventLoop.longestHold(ground, pids),
      rss_MB: ProcessFigures.rssOf_MB(pids)
    }
  }, Effect.scoped)
})

/** One process beside two of a cluster on the same machine: `PROCESSES`. */
export const processes: Case = {
  name: "processes",
  title: "`PROCESSES=2` beside one process, PostgreSQL and Redis",
  run: Effect.fn("processes")(function* (ground) {
    const deployment = yield* ground.deployment("PostgreSQL and Redis", ground.quick ? 10_000 : 200_000)
    const plan = ground.quick
      ? { rounds: 1, seconds: 1, warmUp_s: 0 }
      : { rounds: 2, seconds: 3, warmUp_s: 0 }
    const rows = yield* Effect.forEach(worksOf(ground, deployment), (work) =>
      Rounds.measure(
        ground,
        [1, 2].map((count) => contender(ground, deployment, work, count)),
        plan
      )
    )
    return {
      rows: rows.flat(),
      goals: [],
      notes: [
        `${connections} connections; ${deployment.links.toLocaleString("en")} links. Ratios are to one process. CPU time is that of all processes, for one request. \`load µs\` is the load generator's, ` +
          "which has no core of its own: on two cores, what it takes is missing to the second process. Each round starts the program again."
      ]
    }
  })
}
