// What the parts of 100 redirects and one create cost PostgreSQL: the CPU time of its server for one look-up of a link, one link, and one visit, in microseconds. The server has to run on this
// machine, and do nothing else. Prints one line of JSON with the medians of some rounds, in which the parts take turns.

import { SqlClient } from "@effect/sql"
import { Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import type { Link } from "../../src/model/Link.ts"
import { dimensions } from "../../src/model/Visit.ts"
import { LinkStore } from "../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../src/storage/links/LinkStoreSql.ts"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import * as DatabaseServers from "../../src/storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../../src/storage/sql/postgres/PostgresClient.ts"
import { VisitStore } from "../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../src/storage/visits/VisitStoreSql.ts"
import { plainRow } from "../../test/support/Plain.ts"
import { cpuOfFamily_us, parentOf } from "../ProcessFigures.ts"
import * as Rounds from "../Rounds.ts"

const rounds = Number(process.argv[2] ?? 7)
const url = Redacted.make(process.env["DATABASE_URL"]!)

/** Links that are there. */
const linksAtFirst = 300_000

/** What a node sends at once under load: look-ups and creates that came together, and a batch of visits with six counts each. */
const batch = { reads: 16, creates: 16, visits: 100 } as const

/** Of each part in a round. */
const perRound = 19_200

const services = Layer.mergeAll(LinkStoreSql.layer, VisitStoreSql.layer).pipe(
  Layer.provideMerge(
    Migrations.layer.pipe(Layer.provideMerge(PostgresClient.layer), Layer.provide(DatabaseServers.layer(url)))
  )
)

const hour = 500_000

/** In no order, as keys are. */
const keyOf = (n: number) => ((n * 2_654_435_761) % 2 ** 32).toString(36).padStart(7, "k")

const linkOf = (n: number): Link => ({
  ...plainRow,
  key: keyOf(n),
  url: `https://example.com/${"x".repeat(74)}${n}`,
  custom: false,
  createdAt: 1_700_000_000_000 + n,
  updatedAt: 1_700_000_000_000 + n
})

const measure = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const links = yield* LinkStore
  const visits = yield* VisitStore
  const [row] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
  const server = parentOf(row!.pid)!
  let created = 0
  let sequence = 0
  const create = (count: number) =>
    Effect.suspend(() => {
      const some = Array.from({ length: count }, () => linkOf(created++))
      return links.insertMany(some)
    })
  const drawn = (round: number, count: number) =>
    Array.from({ length: count }, (_, n) => keyOf((round * 7_919 + n * 104_729) % linksAtFirst))
  const values = dimensions.map((dimension) => ({ dimension, value: "some", visits: 1 }))
  const visit = (keys: ReadonlyArray<string>, at: number) =>
    visits.write({
      writer: "probe",
      sequence: ++sequence,
      at: at * 3_600_000,
      hours: keys.map((key) => ({
        subject: `${key}@1`,
        hour: at,
        nonBots: 1,
        bots: 0,
        values
      }))
    })
  /** CPU time of the server for one of `perRound`. */
  const costOf = <E>(size: number, work: (turn: number) => Effect.Effect<unknown, E>) =>
    Effect.gen(function* () {
      const before = cpuOfFamily_us(server)
      for (let turn = 0; turn < perRound / size; turn++) yield* work(turn)
      return (cpuOfFamily_us(server) - before) / perRound
    })

  yield* Effect.repeatN(create(1_000), linksAtFirst / 1_000 - 1)
  yield* sql`ANALYZE`
  yield* sql`CHECKPOINT`
  const costs = {
    read_us: [] as Array<number>,
    create_us: [] as Array<number>,
    firstVisit_us: [] as Array<number>,
    visit_us: [] as Array<number>
  }
  for (let round = 0; round < rounds; round++) {
    costs.read_us.push(
      yield* costOf(batch.reads, (turn) => links.findMany(drawn(round * 10_000 + turn, batch.reads)))
    )
    costs.create_us.push(yield* costOf(batch.creates, () => create(batch.creates)))
    const keys = (turn: number) => [...new Set(drawn(turn, batch.visits))]
    // The first of its link in that hour is a row, and the next one a change of it.
    costs.firstVisit_us.push(yield* costOf(batch.visits, (turn) => visit(keys(turn), hour + round)))
    costs.visit_us.push(yield* costOf(batch.visits, (turn) => visit(keys(turn), hour + round)))
  }
  return Object.fromEntries(Object.entries(costs).map(([name, all]) => [name, Rounds.median(all)]))
})

const found = await measure.pipe(
  Effect.provide(services),
  Effect.withTracerEnabled(false),
  Logger.withMinimumLogLevel(LogLevel.Warning),
  Effect.runPromise
)
process.stdout.write(`${JSON.stringify(found)}\n`)
