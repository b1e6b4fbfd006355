import { Effect } from "effect"
import { atLeast, type Case, type Goal, ratiosAtLeast } from "../Case.ts"
import { type Deployment, type Ground, type Kind, startProgram } from "../Ground.ts"
import { keyOf } from "../Links.ts"
import { startReference } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"
import { Unavailable } from "../../test/support/services/Service.ts"

const connections = 32
const path = `/${keyOf(1)}`

const total = (port: number, { apiKey }: Deployment) =>
  Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/links${path}/stats`, {
        headers: { "x-api-key": apiKey }
      })
      return ((await answer.json()) as { readonly total: number }).total
    },
    catch: (error) => new Unavailable({ reason: `no statistics: ${String(error)}` })
  })

/** The program on a database, asked for one link; and what part of its answers was counted as a visit in the end. */
const contender = Effect.fn("hot.contender")(function* (ground: Ground, kind: Kind) {
  const deployment = yield* ground.deployment(kind, 1_000)
  const { pid, port } = yield* startProgram(ground, deployment)
  let answered = 0
  const before = yield* total(port, deployment)
  /** Visits are counted within a second or so of their redirects. */
  const counted = Effect.gen(function* () {
    let part = 0
    for (let turn = 0; part < 1 && turn < 10; turn++) {
      yield* Effect.sleep("500 millis")
      part = ((yield* total(port, deployment)) - before) / Math.max(1, answered)
    }
    return part
  })
  const subject: Rounds.Contender = {
    subject: `Linkmint on ${kind}`,
    unit: "redirects/s",
    pids: [pid],
    usesPostgres: kind === "PostgreSQL",
    run: (seconds) =>
      Effect.tap(ground.load.send({ port, connections, seconds, path }), ({ count }) =>
        Effect.sync(() => (answered += count))
      )
  }
  return { subject, counted }
})

/** Of one link that is at hand, over and over: the program's own cost, with every visit recorded. */
export const hot: Case = {
  name: "hot",
  title: "Redirect, hot link, visits recorded",
  run: Effect.fn("hot")(function* (ground) {
    const reference = yield* startReference(ground, "fixed302")
    const postgres = yield* contender(ground, "PostgreSQL")
    const sqlite = yield* contender(ground, "SQLite")
    const rows = yield* Rounds.measure(
      ground,
      [
        {
          subject: "bare node:http, fixed 302",
          unit: "redirects/s",
          pids: [reference.pid],
          usesPostgres: false,
          run: (seconds) => ground.load.send({ ...reference, connections, seconds, path })
        },
        postgres.subject,
        sqlite.subject
      ],
      Rounds.planOf(ground)
    )
    const parts = [yield* postgres.counted, yield* sqlite.counted] as const
    const visits = (kind: Kind, part: number): Goal =>
      atLeast(`visits counted on ${kind}, of all redirects:`, 0.99, part)
    return {
      rows,
      goals: [...ratiosAtLeast(1.1, rows), visits("PostgreSQL", parts[0]), visits("SQLite", parts[1])],
      notes: [`${connections} connections.`]
    }
  })
}
