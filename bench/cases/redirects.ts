// Redirects of many links: what the popular ones, and the unpopular ones, cost.

import { Effect } from "effect"
import { join } from "node:path"
import { type Case, ratiosAtLeast } from "../Case.ts"
import * as Draws from "../Draws.ts"
import { type Deployment, type Ground, newDatabase, startProgram } from "../Ground.ts"
import * as Links from "../Links.ts"
import { startReference } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"

/** Links of a deployment: ten times as many as a node has at hand. */
export const manyLinks = ({ quick }: Pick<Ground, "quick">): number => (quick ? 10_000 : 1_000_000)

/** Lines of a file of paths: no load gets to their end in a round where each counts once. */
const linesPerSecond = 40_000

const connections = 32

const unit = "redirects/s"

/** The program, asked for what files of paths say: a new one each time. */
export const redirecting = Effect.fn("redirecting")(function* (
  ground: Ground,
  deployment: Deployment,
  subject: string,
  paths: (seconds: number) => string
) {
  const { pid, port } = yield* startProgram(ground, deployment)
  return {
    subject,
    unit,
    pids: [pid],
    usesPostgres: deployment.kind !== "SQLite",
    run: (seconds) => ground.load.send({ port, connections, seconds, paths: paths(seconds) })
  } satisfies Rounds.Contender
})

/** The program with {@link manyLinks}. */
const contender = Effect.fn("redirects.contender")(function* (
  ground: Ground,
  kind: "PostgreSQL" | "SQLite",
  paths: (seconds: number) => string
) {
  const deployment = yield* ground.deployment(kind, manyLinks(ground))
  return yield* redirecting(ground, deployment, `Linkmint on ${kind}`, paths)
})

/** Paths of another link of `n` for each redirect, in files of that name. */
export const eachOnce = (ground: Ground, name: string, n: number) => {
  const next = Draws.walk(n)
  return (seconds: number) => next(join(ground.folder, name), seconds * linesPerSecond)
}

/** Popularity as it is: a few links have most redirects, and most have few. */
export const zipf: Case = {
  name: "zipf",
  title: "Redirect, Zipf(1.0) over 1 M links, L1 of 100,000",
  run: Effect.fn("zipf")(function* (ground) {
    const n = manyLinks(ground)
    const file = Draws.zipf(join(ground.folder, "zipf"), n, ground.quick ? 20_000 : 500_000)
    const reference = yield* startReference(ground, "fixed302")
    const postgres = yield* contender(ground, "PostgreSQL", () => file)
    const sqlite = yield* contender(ground, "SQLite", () => file)
    const rows = yield* Rounds.measure(
      ground,
      [
        {
          subject: "bare node:http, fixed 302",
          unit,
          pids: [reference.pid],
          usesPostgres: false,
          run: (seconds) => ground.load.send({ ...reference, connections, seconds, paths: file })
        },
        postgres,
        sqlite
      ],
      Rounds.planOf(ground)
    )
    return {
      rows,
      goals: ratiosAtLeast(0.65, rows),
      notes: [`${connections} connections; ${n.toLocaleString("en")} links; one sequence of draws for all.`]
    }
  })
}

/** Every redirect of another link, so that nothing is at hand. */
export const cold: Case = {
  name: "cold",
  title: "Redirect, uniform over 1 M links, cold L1",
  run: Effect.fn("cold")(function* (ground) {
    const n = manyLinks(ground)
    const url = yield* newDatabase(ground)
    yield* Links.execute(url, "CREATE TABLE links (key text PRIMARY KEY, url text NOT NULL)")
    yield* Links.fillReference(url, n)
    const reference = yield* startReference(ground, "select", { DATABASE_URL: url })
    const referencePaths = eachOnce(ground, "cold-reference", n)
    const postgres = yield* contender(ground, "PostgreSQL", eachOnce(ground, "cold-postgres", n))
    const sqlite = yield* contender(ground, "SQLite", eachOnce(ground, "cold-sqlite", n))
    const rows = yield* Rounds.measure(
      ground,
      [
        {
          subject: "bare node:http, one SELECT by pg",
          unit,
          pids: [reference.pid],
          usesPostgres: true,
          run: (seconds) =>
            ground.load.send({ ...reference, connections, seconds, paths: referencePaths(seconds) })
        },
        postgres,
        sqlite
      ],
      Rounds.planOf(ground)
    )
    return {
      rows,
      goals: ratiosAtLeast(1.3, rows),
      notes: [
        `${connections} connections; ${n.toLocaleString("en")} links. Each redirect is of a link that was not asked for since the node had room for it; ` +
          "the reference has a pool of 20, a prepared statement and a table of keys and targets alone."
      ]
    }
  })
}
