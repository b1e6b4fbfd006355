import { Effect } from "effect"
import { join } from "node:path"
import { atLeast, type Case } from "../Case.ts"
import * as Draws from "../Draws.ts"
import { type Deployment, type Ground, startProgram } from "../Ground.ts"
import * as EventLoop from "../EventLoop.ts"
import * as ProcessFigures from "../ProcessFigures.ts"
import * as Rounds from "../Rounds.ts"
import { bodyFile, createBody } from "./creates.ts"

const connections = 32

/** A round, and its warm-up, in seconds. */
const lookUp = { warmUp_s: 3, seconds: 2 }

/** More than a round gets to the end of. */
const linesPerSecond = 40_000

const sizesOf = ({ quick }: Ground): ReadonlyArray<number> =>
  quick ? [1_000, 10_000] : [100_000, 1_000_000, 10_000_000]

const named = (links: number) => `${links.toLocaleString("en")} links`

/**
 * Look-ups by a program that was just started: one that runs for long has all of the smallest size at hand. It is warmed up by keys that are not there,
 * which are looked for as those that are, and not kept.
 */
const lookingUp = (ground: Ground, deployment: Deployment): Rounds.Contender => {
  const name = named(deployment.links)
  const next = Draws.walk(deployment.links)
  const file = join(ground.folder, `growth-${name}`)
  const load = (port: number, seconds: number, paths: string) =>
    ground.load.send({ port, connections, seconds, paths })
  return {
    subject: `look-up, ${name}`,
    unit: "redirects/s",
    pids: [],
    usesPostgres: true,
    run: Effect.fn("lookingUp")(function* (seconds: number) {
      const { pid, port } = yield* startProgram(ground, deployment)
      yield* load(port, lookUp.warmUp_s, Draws.absent(file, deployment.links, linesPerSecond))
      yield* EventLoop.longestHold(ground, [pid])
      const before = ProcessFigures.cpuOf_us([pid])
      const databaseBefore = yield* ground.postgresCpu_us
      const sample = yield* load(port, seconds, next(file, seconds * linesPerSecond))
      yield* Effect.sleep(Rounds.afterwards)
      const cpu_us = ProcessFigures.cpuOf_us([pid]) - before
      const databaseCpu_us = (yield* ground.postgresCpu_us) - databaseBefore
      const held_ms = yield* EventLoop.longestHold(ground, [pid])
      return { ...sample, cpu_us, databaseCpu_us, held_ms, rss_MB: ProcessFigures.rssOf_MB([pid]) }
    }, Effect.scoped)
  }
}

/** Creates by a program that runs for all rounds. */
export const creating = Effect.fn("creating")(function* (
  ground: Ground,
  deployment: Deployment,
  name = named(deployment.links)
) {
  const { pid, port } = yield* startProgram(ground, deployment)
  const body = bodyFile(ground, "growth.json", createBody)
  const creates = { path: "/api/v1/links", body, each: 1, apiKey: deployment.apiKey }
  return {
    subject: `create, ${name}`,
    unit: "creates/s",
    pids: [pid],
    usesPostgres: true,
    run: (seconds) => ground.load.send({ port, connections, seconds, creates })
  } satisfies Rounds.Contender
})

/** Whether what is stored already slows down what comes. */
export const growth: Case = {
  name: "growth",
  title: "Table growth: look-up and create at 0.1, 1 and 10 M links in PostgreSQL",
  run: Effect.fn("growth")(function* (ground) {
    const deployments = yield* Effect.forEach(sizesOf(ground), (links) =>
      ground.deployment("PostgreSQL", links)
    )
    const rounds = ground.quick ? 1 : 3
    const lookUps = yield* Rounds.measure(
      ground,
      deployments.map((deployment) => lookingUp(ground, deployment)),
      { rounds, seconds: ground.quick ? 1 : lookUp.seconds, warmUp_s: 0 }
    )
    const creates = yield* Rounds.measure(
      ground,
      yield* Effect.forEach(deployments, (deployment) => creating(ground, deployment)),
      ground.quick ? Rounds.planOf(ground) : { rounds, seconds: 3, warmUp_s: 2 }
    )
    const errors = [...lookUps, ...creates].reduce((sum, row) => sum + row.errors, 0)
    return {
      rows: [...lookUps, ...creates],
      goals: [
        atLeast(
          "look-ups at the largest size, of those at the smallest:",
          0.8,
          lookUps.at(-1)!.ratio!,
          errors
        ),
        atLeast("creates at the largest size, of those at the smallest:", 0.9, creates.at(-1)!.ratio!, errors)
      ],
      notes: [
        `${connections} connections. Look-ups are of another link each time, by a program that was just started, so that none is at hand; creates follow on the same databases.`
      ]
    }
  })
}
