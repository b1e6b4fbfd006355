// Creates, one at a time and a thousand at a time.

import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { atLeast, type Case, ratiosAtLeast } from "../Case.ts"
import { type Ground, type Kind, newDatabase, startProgram } from "../Ground.ts"
import * as Links from "../Links.ts"
import type { LoadOptions, Sample } from "../load/Load.ts"
import { runSample, startReference } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"

/** What one create says; `%d` is another number each time. */
export const createBody = JSON.stringify({ url: "https://www.example.com/articles/of/a/usual/length/%d" })

/** Writes a body for the load, and gives its file. */
export const bodyFile = ({ folder }: Ground, name: string, body: string): string => {
  const file = join(folder, name)
  writeFileSync(file, body)
  return file
}

const table = `CREATE TABLE links (key text PRIMARY KEY, url text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`

interface Kinds {
  readonly unit: string
  /** What is counted of one answer. */
  readonly each: number
  readonly load: Omit<LoadOptions, "port" | "seconds" | "connections" | "creates"> & {
    readonly creates: Omit<NonNullable<LoadOptions["creates"]>, "apiKey">
  }
}

const times =
  (factor: number) =>
  (sample: Sample): Sample => ({ ...sample, count: sample.count * factor })

const contender = Effect.fn("creates.contender")(function* (ground: Ground, kind: Kind, what: Kinds) {
  const deployment = yield* ground.deployment(kind, 1_000)
  const { pid, port } = yield* startProgram(ground, deployment)
  const creates = { ...what.load.creates, apiKey: deployment.apiKey }
  return {
    subject: `Linkmint on ${kind}`,
    unit: what.unit,
    pids: [pid],
    usesPostgres: kind === "PostgreSQL",
    send: (connections: number) => (seconds: number) =>
      Effect.map(ground.load.send({ ...what.load, connections, creates, port, seconds }), times(what.each))
  }
})

const emptyTable = Effect.fn("emptyTable")(function* (ground: Ground) {
  const url = yield* newDatabase(ground)
  yield* Links.execute(url, table)
  return url
})

/** Links made one a request by the JSON API, with a user's API key that is checked. */
export const create: Case = {
  name: "create",
  title: "Create, JSON API, API key checked, durable",
  run: Effect.fn("create")(function* (ground) {
    const body = bodyFile(ground, "create.json", createBody)
    const load = { creates: { path: "/api/v1/links", body, each: 1 } }
    const what = { unit: "creates/s", each: 1, load }
    const reference = yield* startReference(ground, "insert", { DATABASE_URL: yield* emptyTable(ground) })
    const postgres = yield* contender(ground, "PostgreSQL", what)
    const sqlite = yield* contender(ground, "SQLite", what)
    const creates = { ...load.creates, apiKey: "none" }
    const references = {
      subject: "bare node:http, one INSERT by pg",
      unit: what.unit,
      pids: [reference.pid],
      usesPostgres: true,
      send: (connections: number) => (seconds: number) =>
        ground.load.send({ ...load, port: reference.port, connections, creates, seconds })
    }
    const over = (connections: number, plan: Rounds.Plan) =>
      Rounds.measure(
        ground,
        [references, postgres, sqlite].map(({ send, subject, ...others }) => ({
          ...others,
          subject: `${subject}, ${connections} connections`,
          run: send(connections)
        })),
        plan
      )
    const plan = Rounds.planOf(ground)
    const few = yield* over(32, plan)
    const many = yield* over(128, ground.quick ? plan : { ...plan, rounds: 3 })
    return {
      rows: [...few, ...many],
      goals: [
        ...ratiosAtLeast({ PostgreSQL: 1.2, SQLite: 1.3 }, few),
        atLeast("ratio on PostgreSQL at 128 connections", 1.4, many[1]!.ratio!, many[1]!.errors)
      ],
      notes: [
        "fsync is on everywhere. The reference has a pool of 20 and a prepared statement, and checks nothing."
      ]
    }
  })
}

const bulkRows = 1_000

/** Links made a thousand a request. */
export const bulk: Case = {
  name: "bulk",
  title: "Bulk create, 1,000 links a call",
  run: Effect.fn("bulk")(function* (ground) {
    const callers = 4
    const links = Array.from({ length: bulkRows }, (_, index) => ({
      url: `https://www.example.com/articles/of/a/usual/length/%d-${index}`
    }))
    const body = bodyFile(ground, "bulk.json", JSON.stringify({ links }))
    const load = { creates: { path: "/api/v1/links/bulk", body, each: 1 } }
    const what = { unit: "links/s", each: bulkRows, load }
    const url = yield* emptyTable(ground)
    const postgres = yield* contender(ground, "PostgreSQL", what)
    const sqlite = yield* contender(ground, "SQLite", what)
    const rows = yield* Rounds.measure(
      ground,
      [
        {
          subject: "INSERT … unnest by pg alone",
          unit: what.unit,
          pids: [],
          usesPostgres: true,
          run: (seconds) =>
            runSample("references/unnest", seconds, { DATABASE_URL: url, CALLERS: String(callers) })
        },
        ...[postgres, sqlite].map(({ send, ...others }) => ({ ...others, run: send(callers) }))
      ],
      Rounds.planOf(ground)
    )
    return {
      rows,
      goals: ratiosAtLeast(0.4, rows),
      notes: [`${callers} callers. Times are those of whole calls.`]
    }
  })
}
